"""The data behind the pages of problems: one small file each, read when its page is opened."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.core.ordering import natural
from benchwright.core.runs import Score
from benchwright.leaderboard.breakdowns import IN_THEIR_ORDER, groups_by_kind, level
from benchwright.leaderboard.site.boards import table_id
from benchwright.leaderboard.site.model import AnswerChoice, Answers, SiteAnswer, SiteOptions, SiteProblem
from benchwright.leaderboard.site.outcomes import Outcomes
from benchwright.leaderboard.site.payload import packed, short_digest
from benchwright.leaderboard.tables import Table
from benchwright.stats.breakdown import SMALL

_MESSAGE = 2_000  # characters; tracebacks are cut to their end by the graders already
_TESTS = 40  # results listed of one answer; hidden test suites of repositories run to thousands
_STATEMENT = 60_000  # characters; the longest statement of SWE-bench Verified has 24,000


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkProblems:
    """All problems of a benchmark that any page can speak of."""

    benchmark: str
    ids: tuple[str, ...]
    known: Mapping[str, SiteProblem]

    @property
    def digest(self) -> str:
        """What files call the benchmark."""
        return short_digest(self.benchmark)

    def to_plain(self) -> dict[str, Any]:
        """Ids, and what problems have in common, for breakdowns and for finding a problem's file."""
        groups = groups_by_kind(self.ids, {name: each.facts for name, each in self.known.items()})
        return {
            "benchmark": self.benchmark,
            "digest": self.digest,
            "ids": list(self.ids),
            "groups": {
                kind.capitalize(): _grouped(of, kind in IN_THEIR_ORDER) for kind, of in groups.items() if any(of)
            },
            "small": SMALL,
        }


def _grouped(of: Sequence[tuple[str, ...]], ordered: bool) -> dict[str, Any]:
    names = sorted({name for each in of for name in each}, key=level if ordered else None)
    places = {name: place for place, name in enumerate(names)}
    return {"names": names, "ordered": ordered, "of": [[places[name] for name in dict.fromkeys(each)] for each in of]}


def problems_of(
    tables: Sequence[Table],
    outcomes: Mapping[str, Outcomes],
    known: Mapping[str, Mapping[str, SiteProblem]],
) -> list[BenchmarkProblems]:
    """The problems of every benchmark in the tables, benchmarks in the order of the tables."""
    ids: dict[str, set[str]] = {}
    for table in tables:
        found = outcomes.get(table_id(table))
        asked = set(table.problems) | (set(found.problems) if found else set())
        ids.setdefault(table.benchmark, set(known.get(table.benchmark, ()))).update(asked)
    return [
        BenchmarkProblems(benchmark=name, ids=tuple(sorted(each, key=natural)), known=known.get(name, {}))
        for name, each in ids.items()
    ]


@dataclass(slots=True, kw_only=True)
class TaskPages:
    """Makes the files of problems; counts what answers take, so that a site stays servable."""

    tables: Sequence[Table]
    outcomes: Mapping[str, Outcomes]
    answers: Answers | None
    options: SiteOptions
    taken: int = field(default=0, init=False)
    """Bytes of answers so far."""
    left_out: int = field(default=0, init=False)
    """Answers that had no room any more."""

    def pages(self, problems: BenchmarkProblems) -> Iterator[tuple[str, dict[str, Any]]]:
        """Name and content of every file."""
        mine = [table for table in self.tables if table.benchmark == problems.benchmark]
        views = [_View(table, self.outcomes[table_id(table)]) for table in mine if table_id(table) in self.outcomes]
        for number, problem in enumerate(problems.ids):
            known = problems.known.get(problem)
            content: dict[str, Any] = {
                "benchmark": problems.benchmark,
                "id": problem,
                "prompts": [_prompt(title, text) for title, text in known.prompts.items()] if known else [],
                "facts": _facts(known),
                "tables": [view.column(problem) for view in views if problem in view.places],
                "answers": [one for view in views for one in self._answers(view, problem)],
            }
            yield f"task-{problems.digest}-{number}", content

    def _answers(self, view: "_View", problem: str) -> Iterator[dict[str, Any]]:
        choice, table = self.options.answers, view.table
        if self.answers is None or choice is AnswerChoice.NONE or problem not in view.places or table.score is None:
            return
        if choice is AnswerChoice.DIFFERING and not view.differs[view.places[problem]]:
            return
        for place in view.outcomes.rows:
            row = table.rows[place]
            for entry in row.entries or (row.entry,):
                samples = [self._sample(one) for one in self._of(entry, table.score, problem)]
                if samples:
                    yield {"table": table_id(table), "row": place, "entry": entry, "samples": samples}

    def _of(self, entry: str, score: Score, problem: str) -> tuple[SiteAnswer, ...]:
        assert self.answers is not None
        return self.answers(entry, score, problem)

    def _sample(self, answer: SiteAnswer) -> dict[str, Any]:
        text, size = _beginning(answer.text, self.options.answer_bytes)
        if self.taken + size > self.options.all_answer_bytes:
            self.left_out += 1
            text, why = "", "The answers of this site reached their limit; this one is left out."
        else:
            self.taken += size
            cut = len(answer.text) - len(text)
            why = f"Cut here; {cut:,} more characters are not shown." if cut else ""
        plain = {
            "text": text,
            "note": why,
            "outcome": answer.outcome,
            "reason": answer.reason,
            "detail": answer.detail[:_MESSAGE],
            "planned": answer.planned,
            "passed": answer.passed,
            "tests": [[test.name[:300], test.passed, test.message[:_MESSAGE]] for test in answer.tests[:_TESTS]],
            "more_tests": max(0, len(answer.tests) - _TESTS),
            "transcript": answer.transcript,
        }
        return {name: value for name, value in plain.items() if value not in ("", 0, [])}


def _prompt(title: str, text: str) -> dict[str, Any]:
    return {"title": title, "text": text[:_STATEMENT], "cut": len(text) > _STATEMENT}


def _beginning(text: str, most: int) -> tuple[str, int]:
    """As many whole characters of a text as have room in so many bytes, and how many bytes these take."""
    # Lone surrogates, which answers may hold, are written as escapes: six bytes each.
    if len(data := text.encode("utf-8", "backslashreplace")) <= most:
        return text, len(data)
    sizes = itertools.accumulate(len(one.encode("utf-8", "backslashreplace")) for one in text)
    fitting = list(itertools.takewhile(lambda size: size <= most, sizes))
    return text[: len(fitting)], fitting[-1] if fitting else 0


class _View:
    """A table with its outcomes, made ready for going through its problems."""

    def __init__(self, table: Table, outcomes: Outcomes) -> None:
        self.table = table
        self.outcomes = outcomes
        self.places = {problem: place for place, problem in enumerate(outcomes.problems)}
        self.differs = outcomes.differing()

    def column(self, problem: str) -> dict[str, Any]:
        codes = self.outcomes.codes[:, self.places[problem]]
        palette = [list(counts) for counts in self.outcomes.palette]
        return {
            "id": table_id(self.table),
            "rows": None if len(self.outcomes.rows) == len(self.table.rows) else list(self.outcomes.rows),
            "palette": palette,
            **packed(codes, len(palette)),
        }


def _facts(problem: SiteProblem | None) -> dict[str, Any]:
    if problem is None:
        return {}
    facts = problem.facts.to_plain()
    return {
        name: facts[name] for name in ("domains", "libraries", "repository", "difficulty", "created") if facts[name]
    }
