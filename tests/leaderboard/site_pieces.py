"""A small site made by hand: own results, several samples, an import with verdicts, an import with numbers alone."""

import random
from collections.abc import Callable, Sequence

from leaderboard_pieces import scored

from benchwright.core.benchmark_facts import BenchmarkFacts, HumanReference, TaskErrors
from benchwright.core.results import ModelFacts, Origin, ProblemFacts, ReportedScore, ScoredRun, Source, Tally
from benchwright.core.runs import Estimate, Score
from benchwright.leaderboard.site.model import SiteAnswer, SiteData, SiteProblem, SiteTest
from benchwright.leaderboard.tables import Flag, LeaderboardRow, LeftOut, Table
from benchwright.stats.ratings import Rating

HOSTILE = (
    "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"
    "\"'>&amp;<svg onload=window.pwned=1>{{7*7}}${7*7}\u2028\u2029--><!--"
)
"""Text that would run something, or break a script, wherever it is not escaped."""
SOURCE = Source(kind="official", title="Their leaderboard", url="https://example.org/board", note="As they say.")

Text = Callable[[str], str]


def plain(text: str) -> str:
    """The text itself."""
    return text


def hostile(text: str) -> str:
    """The text with everything in front that could do harm."""
    return HOSTILE + text


def greedy(seed: int, models: int, problems: int) -> list[dict[str, Tally]]:
    """One sample for each problem: later models solve less; some faults, some problems not asked."""
    rng = random.Random(seed)
    made = []
    for model in range(models):
        tallies = {}
        for number in range(problems):
            chance = rng.random()
            if chance < 0.03:
                tallies[f"Task/{number}"] = Tally(scored=0, passed=0, faults=1)
            elif chance > 0.02 * model:
                passed = int(rng.random() < 0.9 - 0.12 * model - 0.01 * number)
                tallies[f"Task/{number}"] = Tally(scored=1, passed=passed)
        made.append(tallies)
    return made


def repeated(seed: int, models: int, problems: int) -> list[dict[str, Tally]]:
    """Several samples for each problem, not always the same number."""
    rng = random.Random(seed)
    return [
        {
            f"Task/{number}": Tally(scored=count, passed=rng.randint(0, count), faults=5 - count)
            for number in range(problems)
            for count in [rng.choice([4, 5, 5, 5])]
        }
        for _ in range(models)
    ]


def table(
    title: str, runs: Sequence[ScoredRun], *, text: Text, reason: str = "", rated: bool = True, metric: str
) -> Table:
    """A table of runs, the best first."""
    rows = sorted(
        (row_of(run, number, text, metric) for number, run in enumerate(runs)), key=_worst_first, reverse=True
    )
    problems = sorted({problem for run in runs for problem in run.tallies})
    ranked = [_rated(row, place, len(rows)) if rated else row for place, row in enumerate(rows)]
    first = runs[0].run
    return Table(
        title=text(title),
        benchmark=first.benchmark,
        versions=(text(first.version),),
        subset=first.subset,
        variant=first.variant,
        score=runs[0].score,
        metric=metric,
        reason=text(reason) if reason else "",
        problems=tuple(problems),
        rows=tuple(ranked),
        method=text("Bradley–Terry ratings, 500 rounds."),
        anchor=text("The mean is 1000."),
        notes=(text("A note."),),
    )


def _worst_first(row: LeaderboardRow) -> float:
    assert row.estimate is not None
    return row.estimate.value


def _rated(row: LeaderboardRow, place: int, of: int) -> LeaderboardRow:
    import dataclasses

    rating = 1200.0 - 37 * place
    rated = Rating(
        model=row.label,
        rating=rating,
        median=rating,
        low=rating - 41,
        high=rating + 39,
        rank=place + 1,
        rank_low=max(1, place),
        rank_high=min(of, place + 2),
        played=row.problems,
        group=0,
        held=False,
    )
    return dataclasses.replace(row, rated=rated)


def row_of(run: ScoredRun, number: int, text: Text, metric: str) -> LeaderboardRow:
    """A row with something in every field."""
    shares = [tally.share for tally in run.tallies.values() if tally.share is not None]
    value = sum(shares) / len(shares)
    faults = sum(tally.faults for tally in run.tallies.values())
    own = run.run.origin is Origin.OWN
    return LeaderboardRow(
        entry=run.run.entry,
        entries=(run.run.entry,),
        model=run.run.model,
        label=run.run.model,
        scaffold=text("loop") if number % 2 else text("mini"),
        origin=run.run.origin,
        source=run.run.source,
        version=run.run.version,
        variant=run.run.variant,
        estimate=Estimate(
            metric=metric,
            value=value,
            low=max(0.0, value - 0.07),
            high=min(1.0, value + 0.06),
            method=text("wilson"),
            n=len(shares),
            samples=1,
        ),
        solved=sum(share > 0 for share in shares),
        problems=len(run.tallies),
        faults=faults,
        missing=number,
        worst=value - 0.02 if faults else None,
        best=value + 0.02 if faults else None,
        cost=0.5 * 3**number if own else None,
        finished=f"2026-11-{10 + number}T12:00:00",
        flags=(Flag(name="faults", text=text("Some samples are faults.")),) if number % 2 else (),
        facts=ModelFacts(
            link="javascript:window.pwned=1" if text is hostile else "https://example.org/model",
            released=f"2026-0{1 + number % 9}-15",
            cutoff="2025-06-01",
            parameters=float(7 * (number + 1)) if number != 3 else None,
            active_parameters=3.0 if number == 1 else None,
            open_weights=number % 2 == 0,
            open_data=text("Full"),
        ),
    )


def site(text: Text = plain) -> SiteData:
    """The whole of it; ``text`` is put over every text that may come from anybody."""
    own = [scored(text(f"model {'abcdef'[n]}"), tallies) for n, tallies in enumerate(greedy(1, 6, 40))]
    several = [
        scored(text(f"model {'abc'[n]}"), tallies, variant="instruct", samples=5)
        for n, tallies in enumerate(repeated(2, 3, 30))
    ]
    theirs = Source(kind="official", title=text(SOURCE.title), url=_url(text), note=text(SOURCE.note))
    patches = [
        scored(
            text(f"agent {n}"),
            {f"org__{problem.replace('/', '-')}": tally for problem, tally in tallies.items()},
            Score.PATCH,
            benchmark="swebench-verified",
            subset="all",
            variant="patch",
            origin=Origin.IMPORTED,
            source=theirs,
        )
        for n, tallies in enumerate(greedy(3, 4, 25))
    ]
    tables = (
        table("BigCodeBench, hard, complete", own, text=text, metric="pass@1[calibrated]"),
        table(
            "BigCodeBench, hard, instruct",
            several,
            text=text,
            reason="Several samples for each problem.",
            metric="pass@1[calibrated]",
        ),
        table("SWE-bench Verified, all, patch", patches, text=text, metric="pass@1[patch]"),
        reported(text, theirs),
    )
    return SiteData(
        title=text("Our leaderboards"),
        tables=tables,
        runs=(*own, *several, *patches),
        problems={"bigcodebench": problems(text), "swebench-verified": repository_problems(text)},
        answers=answers(text),
        left_out=(LeftOut(entry="0" * 64, model=text("model x"), reason=text("Its rows are damaged.")),),
        benchmarks={
            "bigcodebench": BenchmarkFacts(
                human=HumanReference(value=0.97, text=text("People solve 97 %."), source="arXiv:2406.15877")
            ),
            "swebench-verified": BenchmarkFacts(
                task_errors=TaskErrors(
                    low=0.05,
                    high=0.1,
                    text=text("5 to 10 % are wrong themselves."),
                    source="https://example.org/errors",
                )
            ),
        },
        generated="2026-11-30T12:00:00",
        version="0.1.0",
    )


def _url(text: Text) -> str:
    return "javascript:window.pwned=1" if text is hostile else SOURCE.url


def reported(text: Text, source: Source) -> Table:
    """A table of numbers alone."""
    rows = tuple(
        LeaderboardRow(
            entry=f"{n:064x}",
            entries=(f"{n:064x}",),
            model=text(f"listed {n}"),
            label=text(f"listed {n}"),
            origin=Origin.IMPORTED,
            source=source,
            variant="complete",
            reported=(
                ReportedScore(metric="pass@1", value=0.7 - 0.05 * n),
                ReportedScore(metric=text("elo"), value=0.5),
            ),
            facts=ModelFacts(released=f"2026-0{1 + n}-01", parameters=7.0 * (n + 1), open_weights=True),
        )
        for n in range(5)
    )
    return Table(
        title=text("BigCodeBench, full, complete, as Their leaderboard has it"),
        benchmark="bigcodebench",
        versions=(),
        subset="full",
        variant="complete",
        metric="pass@1",
        reason=text("Numbers alone."),
        rows=rows,
    )


def problems(text: Text) -> dict[str, SiteProblem]:
    """Statements and facts of the problems of functions."""
    return {
        f"Task/{number}": SiteProblem(
            facts=ProblemFacts(
                id=f"Task/{number}",
                domains=(text("Network"),) if number % 10 else (text("Time"), text("System")),
                libraries=(text("numpy"),),
            ),
            prompts={
                "Complete prompt": text(f"def task_{number}():"),
                "Instruct prompt": text(f"Write the function of task {number}."),
            },
        )
        for number in range(40)
    }


def repository_problems(text: Text) -> dict[str, SiteProblem]:
    """Issues and facts of the problems of repositories."""
    times = ("1-4 hours", "<15 min fix", ">4 hours", "15 min - 1 hour")
    return {
        f"org__Task-{number}": SiteProblem(
            facts=ProblemFacts(id=f"org__Task-{number}", difficulty=times[number % 4]),
            prompts={"Statement": text("It is broken.")},
        )
        for number in range(25)
    }


def answers(text: Text) -> Callable[[str, Score, str], tuple[SiteAnswer, ...]]:
    """Every run answered every problem with some text."""

    def answer(entry: str, score: Score, problem: str) -> tuple[SiteAnswer, ...]:
        if score is Score.PATCH:
            return ()
        return (
            SiteAnswer(
                text=text(f"def task_func():\n    return {problem!r}\n"),
                outcome="failed",
                reason=text("assertion"),
                detail=text("test_a: AssertionError: 3 != 4"),
                planned=2,
                passed=1,
                tests=(
                    SiteTest(name=text("test_a"), passed=False, message=text("Traceback: 3 != 4")),
                    SiteTest(name=text("test_b"), passed=True),
                ),
                transcript="javascript:window.pwned=1" if text is hostile else "https://example.org/log",
            ),
        )

    return answer
