"""``bw grade``."""

import os
from pathlib import Path
from typing import Any

import click

from benchwright.app import catalogue
from benchwright.app.bundled_answers import of_bundle, with_answers
from benchwright.app.grading import BOTH_SCORES, DEFAULT_FLOOR_SECONDS, GradeOptions, GradeReport, grade
from benchwright.app.workspace import Workspace
from benchwright.cli.options import (
    dataset_options,
    given_options,
    inspect_needed,
    isolation_option,
    json_option,
    progress_bar,
    refuse_given,
    repository_options,
    run_options,
    split_ids,
    workers_option,
    workers_or_default,
)
from benchwright.cli.patches import PATCHES_ONLY, SELECTING, grade_patch_file, patch_options, selection_of
from benchwright.cli.storing import finish, recording_options, store_to_record_in
from benchwright.core.execution import Isolation
from benchwright.core.runs import Score

_FUNCTIONS_ONLY = {
    "variant": "--variant",
    "environment": "--env",
    "score": "--calibrated, --uncalibrated, --both or --all-scores",
    "extract": "--extract",
    "official_limits": "--official-limits",
    "floor_seconds": "--floor-seconds",
    "isolation": "--isolation",
}
_FIELDS = {"dataset": "data", "data_version": "version", "score": "scores"}
"""Options that are called otherwise in `GradeOptions`."""
_SCORES = {
    "both": BOTH_SCORES,
    "all": (Score.AS_WRITTEN, *BOTH_SCORES),
    "calibrated": (Score.CALIBRATED,),
    "uncalibrated": (Score.EXTRACTED,),
}


@click.command("grade")
@click.argument("benchmark")
@click.argument("samples", type=click.Path(path_type=Path))
@click.option("--variant", default=None, help="Prompt variant the samples answer: complete or instruct.")
@dataset_options
@run_options
@click.option("--calibrated", "score", flag_value="calibrated", help="Only with the prompt's stub in front.")
@click.option("--uncalibrated", "score", flag_value="uncalibrated", help="Only as extracted.")
@click.option("--both", "score", flag_value="both", default="both", help="Both scores (default).")
@click.option("--all-scores", "score", flag_value="all", help="Both, and the reply as it was written.")
@click.option("--extract", is_flag=True, help="Read the answers out of raw_solution, by benchwright's own rules.")
@click.option("--official-limits", is_flag=True, help="240 s for every sample, as the official harness allows.")
@click.option(
    "--floor-seconds",
    type=click.FloatRange(min=1),
    default=DEFAULT_FLOOR_SECONDS,
    show_default=True,
    help="Smallest CPU limit of a problem; the limit is six times what its reference took here.",
)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for rows and official files.")
@click.option("--model", default=None, help="Name of the model; default: as the file says.")
@repository_options
@patch_options
@workers_option
@isolation_option
@recording_options
@json_option
def command(
    benchmark: str,
    samples: Path,
    variant: str | None,
    subset: str | None,
    dataset: Path | None,
    data_version: str | None,
    environment: str | None,
    ids: str | None,
    score: str,
    extract: bool,
    official_limits: bool,
    floor_seconds: float,
    out: Path | None,
    model: str | None,
    workers: int | None,
    isolation: str,
    store: Path | None,
    no_store: bool,
    as_json: bool,
    **for_patches: Any,
) -> None:
    """Grade a file (or folder) of SAMPLES of a BENCHMARK: verdicts, Pass@k with intervals, official files.

    SAMPLES is in the official format: for functions JSON lines with task_id and solution (or completion),
    optionally compressed, or the .eval log of a run; for repositories predictions with instance_id and
    model_patch, or a folder of patches.  It may also be a result bundle (.bw.zip): its answers are executed
    again here, asked and scored as they were; that is recorded only where --store says.  Finished work is kept:
    the same command goes on where it was interrupted.
    """
    workspace = Workspace.from_environment(os.environ)
    checking = store is None and not no_store and of_bundle(samples)
    root = store_to_record_in(workspace, store, no_store=no_store or checking)
    if catalogue.is_repositories(benchmark):
        refuse_given(_FUNCTIONS_ONLY, benchmark)
        data = catalogue.Data(benchmark=benchmark, subset=subset, version=data_version, path=dataset)
        grade_patch_file(
            samples,
            selection_of(data, ids, **{name: for_patches.pop(name) for name in SELECTING}),
            out=out,
            model=model,
            workers=workers,
            store=root,
            as_json=as_json,
            **for_patches,
        )
        _say_not_recorded(samples, said=checking and not as_json)
        return
    refuse_given(PATCHES_ONLY, benchmark)
    options = GradeOptions(
        benchmark=benchmark,
        samples=samples,
        workers=workers_or_default(workers),
        variant=variant,
        subset=subset,
        version=data_version,
        data=dataset,
        environment=environment,
        scores=_SCORES[score],
        out=out,
        ids=split_ids(ids),
        official_limits=official_limits,
        floor_seconds=floor_seconds,
        isolation=Isolation(isolation),
        model=model,
        extract=extract,
    )
    given = {_FIELDS.get(name, name) for name in given_options()}
    with inspect_needed(), progress_bar("grading") as update, with_answers(options, given) as options:
        report = grade(options, workspace, lambda p: update(p.done, p.total))
    finish(report.folder, root, lambda: to_plain(report), lambda: _show(report), as_json=as_json)
    _say_not_recorded(samples, said=checking and not as_json)


def _say_not_recorded(bundle: Path, *, said: bool) -> None:
    if said:
        click.echo(
            f"not recorded in the store, where it would stand as a second run of the same answers: `bw store import "
            f"{bundle.name}` takes the bundle's own result in, and --store records this one"
        )


def _show(report: GradeReport) -> None:
    from benchwright.cli.tables import console, show_grading

    show_grading(console(), report)


def to_plain(report: GradeReport) -> dict[str, object]:
    """The report as the object of ``--json``."""
    plain = {key: value for key, value in report.manifest.items() if key != "schema"}
    return {**plain, "results": str(report.rows_path)}
