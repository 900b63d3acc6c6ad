"""``bw rank``."""

import os
from pathlib import Path

import click

from benchwright.app.ranking import Attempted, Imports, RankRequest, Ties, rank
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option
from benchwright.cli.ranking_tables import show_ranking
from benchwright.cli.rating_options import rating_options
from benchwright.cli.storing import store_option
from benchwright.cli.tables import console
from benchwright.core.runs import Score


@click.command("rank")
@click.argument("benchmark")
@click.option(
    "--run", "runs", multiple=True, metavar="RUN", help="Results folder, entry of the store, or model; several."
)
@click.option(
    "--resolved",
    type=click.Path(path_type=Path),
    default=None,
    help="List of what submissions resolved: {instance: [submissions]}, JSON, gzip or not.",
)
@click.option(
    "--attempted",
    type=click.Choice([one.value for one in Attempted]),
    default=Attempted.ALL.value,
    show_default=True,
    help="With --resolved: what submissions that were apparently made for another split are taken to have tried.",
)
@click.option(
    "--verdicts",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Official verdict file, or a folder with such files; several.",
)
@click.option(
    "--subset", default=None, help="Subset; default: the benchmark's first, of named results whatever they are of."
)
@click.option(
    "--variant", default=None, help="Variant of the prompts; default: the benchmark's first, such as complete."
)
@click.option(
    "--score",
    type=click.Choice([score.value for score in Score]),
    default=None,
    help="Score to rank by; default: the last of each run, which is calibrated or patch as a rule.",
)
@click.option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=None,
    help="File with the benchmark's rows, which says what its problems are.",
)
@rating_options
@click.option(
    "--anchor",
    default=None,
    metavar="MODEL[=RATING]",
    help="Model that is at 1000, or at RATING; default: the mean is.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    help="Seed of the bootstrap; the same one gives the same intervals.",
)
@click.option(
    "--tasks",
    type=click.Choice(["all", "common"]),
    default=None,
    help="Keep runs apart that lack tasks, or compare all runs on the tasks that they have in common; default: all for "
    "the store, common for results that were named.",
)
@click.option("--all-tables", is_flag=True, help="Show the runs, too, that may not stand in the main table.")
@store_option
@json_option
def command(
    benchmark: str,
    runs: tuple[str, ...],
    resolved: Path | None,
    attempted: str,
    verdicts: tuple[Path, ...],
    subset: str | None,
    variant: str | None,
    score: str | None,
    dataset: Path | None,
    model_facts: Path | None,
    ties: str,
    rounds: int,
    anchor: str | None,
    seed: int | None,
    no_rating: bool,
    imports: str,
    tasks: str | None,
    all_tables: bool,
    store: Path | None,
    as_json: bool,
) -> None:
    """Rate and rank all models of a benchmark.

    Ranks the results in the store, or those that are named with --run, --resolved and --verdicts.  Results that may
    not be compared stand in tables of their own, each with the reason.
    """
    request = RankRequest(
        benchmark=benchmark,
        subset=subset,
        variant=variant,
        score=None if score is None else Score(score),
        runs=runs,
        resolved=resolved,
        attempted=Attempted(attempted),
        verdicts=verdicts,
        dataset=dataset,
        model_facts=model_facts,
        store=store,
        imports=Imports(imports),
        common=None if tasks is None else tasks == "common",
        ties=Ties(ties),
        rounds=rounds,
        anchor=anchor,
        rating=not no_rating,
        every_table=all_tables or as_json,
        **({} if seed is None else {"seed": seed}),
    )
    ranking = rank(request, Workspace.from_environment(os.environ))
    if as_json:
        print_json(ranking.to_plain())
    else:
        show_ranking(console(), ranking, every_table=all_tables)
