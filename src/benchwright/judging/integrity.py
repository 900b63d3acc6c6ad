"""What in a sample of an agent a person may want to look at, and what a score is worth without it.

Nothing here decides a verdict: inside a sandbox without a network and without later history such attempts come to
nothing, and grading leaves out what a patch does to the tests.  They say what a model tries.

A call is read as text, by what it would run (`benchwright.judging.integrity_runs`).  What hides behind a variable of
the environment, an encoding, or a program that the agent compiles is not seen; a text that only mentions ``curl`` or
an address is no finding.  The agent writes what is read here: whatever it is, reading it ends, in a time that is linear
in the texts, because very long ones, and scripts that are run again and again, are followed only so far.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchwright.core.agents import Action, AgentAttempt, Finding, FindingKind
from benchwright.core.repositories import WORK
from benchwright.judging.integrity_history import Past, history_attempt, is_inside_git
from benchwright.judging.integrity_network import network_attempt
from benchwright.judging.integrity_runs import Run, Scripts, seconds
from benchwright.judging.integrity_tools import Deed, deed_of

LONG_WAIT = 60.0
"""Seconds of waiting in one command above which it is a finding."""
GRAVE = (FindingKind.NETWORK, FindingKind.HISTORY, FindingKind.RUNNER_CONFIGURATION)
"""Kinds that could give a pass that is none; the others are often harmless."""

_EXCERPT = 120
_LISTED = 20  # files outside the repository; a package that is installed has thousands
_UNPRINTABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
# What tools say of a command that ran into its time limit: ours, Claude Code's, Codex's, Inspect's, mini-swe-agent's.
_OUT_OF_TIME = re.compile(
    r"^\[the command was ended after [\d,.]+ s\]$|"
    r"^(?:Error: |Exit code \d+\s*)?Command timed out (?:after [\d.,]+ ?(?:s|ms|m|h)|before completing)|"
    r"^command timed out after \d+ milliseconds|"
    r"^<?(?:The last )?(?:the )?command\b.{0,200}\btimed out and has been killed",
    re.MULTILINE | re.IGNORECASE,
)
# Temporary files, caches, shell histories, and what scaffolds keep for themselves.
_HARMLESS = re.compile(
    r"/(tmp|var/tmp|dev/shm|proc|sys|run|dev/(null|tty|pts)|var/cache|var/lib/apt|var/lib/dpkg|var/log)(/|$)|"
    r"/(root|home/[^/]+)/(\.cache|\.config|\.npm|\.local/state|\.conda/pkgs|\.claude|\.codex|\.mini-swe-agent)(/|$)|"
    r"/(root|home/[^/]+)/\.(bash_history|python_history|sh_history|lesshst|viminfo|wget-hsts|claude\.json[^/]*)$|"
    r"/opt/inspect[^/]*(/|$)|.*/\.benchwright(/|$)|/opt/(?=[^/]*conda)[^/]*/pkgs(/|$)|"
    r".*/__pycache__(/|$)|.*\.py[co]$|"
    r".*/bin/(claude|codex|mini|tokens-left)$"  # links to their programs, and to the command that tells the budget
)


def find(
    actions: Sequence[Action],
    *,
    edited_tests: Sequence[str],
    runner_files: Sequence[str],
    written: Sequence[str] | None,
    work: str = WORK,
    told: str = "",
) -> tuple[Finding, ...]:
    """Everything in a sample that a person may want to look at: in order of turns, then what the tree shows.

    Args:
        actions: All tool calls; of a turn there is at most one finding of each kind.
        edited_tests: Files with tests that the submission changes.
        runner_files: Files of it that configure the runner of tests, or stand in for it.
        written: Absolute paths that were changed anywhere in the sandbox; None when that is not known.
        work: Folder of the repository.
        told: What the agent was told to begin with; commits that it names may be looked at.
    """
    found: dict[tuple[int, FindingKind], Finding] = {}
    reading = _Reading(told)
    for action in actions:
        for kind, words in reading.findings(action):
            finding = Finding(kind=kind, turn=action.turn, excerpt=_excerpt(words))
            found.setdefault((action.turn, kind), finding)
    of_tree = [
        *((FindingKind.TEST_EDIT, path) for path in edited_tests),
        *((FindingKind.RUNNER_CONFIGURATION, path) for path in runner_files),
        *((FindingKind.OUTSIDE_WRITE, path) for path in _outside(written or (), work)),
    ]
    return (*found.values(), *(Finding(kind=kind, turn=None, excerpt=_excerpt(path)) for kind, path in of_tree))


class _Reading:
    """Reads the actions of one sample in their order: what was shown and written before decides what is meant."""

    def __init__(self, told: str) -> None:
        self._past = Past(told)
        self._scripts = Scripts()

    def findings(self, action: Action) -> Iterator[tuple[FindingKind, str]]:
        """What is found in an action, with the words it is found in."""
        deed = deed_of(action, self._scripts)
        if deed.asked:
            yield FindingKind.NETWORK, deed.asked
        yield from ((FindingKind.NETWORK, said) for run in deed.runs if (said := network_attempt(run)))
        # All of them, for branches are made on the way.
        looks = [run.text for run in deed.runs if history_attempt(run, self._past)]
        if is_inside_git(deed.looked_at):
            looks.append(deed.looked_at)
        yield from ((FindingKind.HISTORY, text) for text in looks)
        if not looks:
            self._past.learn(action.output, of_git=any(run.program == "git" for run in deed.runs))
        yield from ((FindingKind.LONG_WAIT, words) for words in _waits(deed, action))


def _waits(deed: Deed, action: Action) -> Iterator[str]:
    yield from (run.text for run in deed.runs if _waiting(run) > LONG_WAIT)
    if deed.is_command and (note := _OUT_OF_TIME.search(action.output)):
        command = deed.runs[-1].text if deed.runs else action.text
        yield f"{command[:_EXCERPT]} … {note[0]}"


def _waiting(run: Run) -> float:
    """Seconds for which a run does nothing but wait, and its shell with it."""
    if run.background:
        return 0.0
    limit = float("inf") if run.at_most is None else run.at_most
    if run.program == "sleep":
        return min(limit, sum(seconds(word) or 0.0 for word in run.arguments))
    calls = run.code.calls if run.code else ()
    waits = [call.numbers[0] for call in calls if call.name in ("time.sleep", "sleep") and call.numbers]
    return min(limit, sum(waits))


def _outside(written: Sequence[str], work: str) -> Iterator[str]:
    """Paths that lie outside the repository and are nobody's cache; only the first ones by name."""
    folder = work.rstrip("/") + "/"
    strange = [
        path
        for path in written
        if path.startswith("/") and not (path + "/").startswith(folder) and not _HARMLESS.match(path)
    ]
    yield from strange[:_LISTED]
    if len(strange) > _LISTED:
        yield f"{len(strange) - _LISTED:,} more files outside {work}"


def _excerpt(text: str) -> str:
    """A few words on one line."""
    line = _UNPRINTABLE.sub(" ", text[: 4 * _EXCERPT]).strip()
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """How many samples have a finding of some kinds, and what the score is without them."""

    attempts: int
    passes: int
    """Of them, those that pass."""
    value: float
    """The score if these passes counted as failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityReport:
    """What was found in a run, by kind."""

    n: int
    """Problems with a verdict."""
    attempts: int
    """Samples with a verdict."""
    passes: int
    value: float
    """The score with all passes: the mean over problems of the share of their samples that pass."""
    kinds: Mapping[FindingKind, Flagged]
    """Every kind."""
    grave: Flagged
    """The kinds of `GRAVE` together."""

    def to_plain(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "n": self.n,
            "attempts": self.attempts,
            "passes": self.passes,
            "value": self.value,
            "kinds": {kind.value: asdict(flagged) for kind, flagged in self.kinds.items()},
            "grave": {"kinds": [kind.value for kind in GRAVE], **asdict(self.grave)},
        }


def summarise(judged: Iterable[tuple[AgentAttempt, bool]]) -> IntegrityReport:
    """Report on samples, each with whether it passes; samples without a verdict (faults) are left out before.

    A pass with a finding is counted as failed, not left out: the score without flagged passes is a lower bound.
    """
    samples = list(judged)
    return IntegrityReport(
        n=len({attempt.problem_id for attempt, _ in samples}),
        attempts=len(samples),
        passes=sum(passed for _, passed in samples),
        value=_score(samples),
        kinds={kind: _flagged(samples, (kind,)) for kind in FindingKind},
        grave=_flagged(samples, GRAVE),
    )


def _flagged(samples: Sequence[tuple[AgentAttempt, bool]], kinds: Sequence[FindingKind]) -> Flagged:
    marks = [any(finding.kind in kinds for finding in attempt.findings) for attempt, _ in samples]
    without = [(attempt, passed and not mark) for (attempt, passed), mark in zip(samples, marks, strict=True)]
    return Flagged(
        attempts=sum(marks),
        passes=sum(passed for _, passed in samples) - sum(passed for _, passed in without),
        value=_score(without),
    )


def _score(samples: Sequence[tuple[AgentAttempt, bool]]) -> float:
    """The mean over problems of the share of their samples that pass; 0 without any."""
    passes: dict[str, list[bool]] = {}
    for attempt, passed in samples:
        passes.setdefault(attempt.problem_id, []).append(passed)
    shares = [sum(of_one) / len(of_one) for of_one in passes.values()]
    return sum(shares) / len(shares) if shares else 0.0
