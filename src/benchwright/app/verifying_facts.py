"""Whether what a bundle says of its problems is so: their facts, and what their stubs give.

Breakdowns, contamination windows and laziness rest on it, and a store shows it beside other people's runs.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from benchwright.app.problem_facts import facts_of_function, facts_of_repository
from benchwright.app.verification import Check, Finding, Unpacked, short
from benchwright.benchmarks.stubs import given_names
from benchwright.core.problems import FunctionProblem
from benchwright.core.repositories import RepositoryProblem
from benchwright.core.results import ProblemFacts
from benchwright.store.folder import JOBS, PLANS, PROBLEMS

OF_FUNCTIONS, OF_REPOSITORIES = ("domains", "libraries"), ("difficulty", "created")
"""Facts that nothing in a bundle shows but the rows, which may not be at hand; there are no others of such problems."""


def check_facts(given: Unpacked, expected: Mapping[str, ProblemFacts], unshown: Sequence[str]) -> Iterator[Finding]:
    """What is known of each problem is what its row says, or where that is not at hand, what the bundle shows.

    Args:
        given: The bundle.  Gradings of old versions wrote no facts down, and nothing is wrong with that.
        expected: What it shows of each problem elsewhere.
        unshown: Facts that it shows nowhere else.

    Raises `UsageError` for facts that cannot be read.
    """
    found = given.folder.problem_facts()
    lines = (given.folder.content(PROBLEMS) or b"").splitlines()
    if not lines:
        return
    if len(lines) != len(found) or found.keys() != expected.keys():
        yield _wrong(f"{PROBLEMS} is not of the {len(expected)} problems, once each.")
    rows = {} if given.at_hand is None else given.at_hand.by_id
    for problem_id in sorted(found.keys() & expected.keys()):
        facts, row, shown = found[problem_id], rows.get(problem_id), expected[problem_id]
        if dataclasses.replace(facts, **{name: getattr(shown, name) for name in unshown}) != shown:
            yield _wrong(f"{PROBLEMS} says other things of {short(problem_id)} than the rest of the bundle.")
        elif row is not None and row.digest == facts.digest and facts != _facts_of(row):
            yield _wrong(f"{PROBLEMS} says other things of {short(problem_id)} than {given.rows_name}.")


def _facts_of(row: FunctionProblem | RepositoryProblem) -> ProblemFacts:
    return facts_of_function(row) if isinstance(row, FunctionProblem) else facts_of_repository(row)


def _wrong(text: str) -> Finding:
    return Finding(check=Check.DATA, text=text)


def check_given_names(given: Unpacked) -> Iterator[Finding]:
    """The names that stubs give, which decide what is lazy, are those that the stubs bind.

    Stubs are part of the jobs that records are traced to, and compared with the rows where those are at hand.
    """
    said, benchmark = given.given_names, str(given.manifest["benchmark"])
    if said is None:
        if given.jobs:  # whatever wrote the one down wrote the other down
            yield _wrong(f"{PLANS} does not say which names the stubs give.")
        else:
            given.tally.open.append(f"which names the stubs give: there is no {JOBS}")
        return
    for problem_id, names in said.items():
        known = given.jobs.get(problem_id)
        if known is not None and names != given_names(known.problem(benchmark)):
            yield _wrong(f"The names that {PLANS} says the stub of {short(problem_id)} gives are not those in {JOBS}.")
