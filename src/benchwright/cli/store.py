"""``bw store``."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchwright.app.workspace import Workspace
from benchwright.cli.foreign import Foreign, foreign_options
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option, progress_bar
from benchwright.cli.storing import store_option
from benchwright.core.errors import UsageError

if TYPE_CHECKING:
    from benchwright.app.store_exchange import StoreImport

_SHOWN = 20


@click.group("store")
def command() -> None:
    """Export, import, verify and clean the store of results."""


@command.command("export")
@click.argument("place")
@click.argument("runs", nargs=-1)
@click.option(
    "--sign", type=click.Path(path_type=Path), default=None, help="Of a bundle: SSH or minisign key to sign with."
)
@click.option("--force", is_flag=True, help="Of a bundle: replace another one of that name.")
@click.option("--with-logs", is_flag=True, help="Of a bundle: transcripts too, where the results folder has them.")
@store_option
@json_option
def export(
    place: str,
    runs: tuple[str, ...],
    sign: Path | None,
    force: bool,
    with_logs: bool,
    store: Path | None,
    as_json: bool,
) -> None:
    """Copy RUNS (all, if none is named) to a PLACE: a folder, or an address such as s3://bucket/results.

    What is there already is skipped, and nothing of half an upload can be seen.  Damaged runs are left out and named;
    the command then ends with 1.  A PLACE that ends in .bw.zip becomes a result bundle of one RUN, with everything
    behind its verdicts; a bundle that is there is not replaced by another one without --force.  RUNS are ids, or
    models' names; for a bundle a results folder too.
    """
    from benchwright.app.store_exchange import BUNDLE_SUFFIX, export_bundle, export_store

    if place.endswith(BUNDLE_SUFFIX):
        report = export_bundle(Path(place), runs, _workspace(), store, sign_with=sign, with_logs=with_logs, force=force)
        if as_json:
            print_json(report.to_plain())
            return
        there = "" if report.written else " (it was there already)"
        click.echo(
            f"{place}{there}: {report.files} files, {report.rows} rows, {report.records} records, "
            f"{report.bytes:,} bytes"
        )
        if report.key:
            click.echo(f"signed by the {report.signature} key {report.key}")
        _some("note", report.notes)
        return
    if sign is not None or with_logs or force:
        raise UsageError(f"--sign, --with-logs and --force are for bundles, whose names end in {BUNDLE_SUFFIX}.")
    with progress_bar("exporting") as update:
        done = export_store(place, runs, _workspace(), store, update)
    if as_json:
        print_json(done.to_plain())
    else:
        click.echo(f"{_runs(len(done.entries))} exported to {place}, {_there_already(done.there_before)}.")
        _some("left out", done.problems)
    if done.problems:
        raise SystemExit(1)


@command.command("import")
@click.argument("place")
@foreign_options
@click.option(
    "--take-over",
    is_flag=True,
    help="Of an export or a results folder: its runs may count in place of those that this store has recorded.",
)
@store_option
@json_option
def import_(place: str, foreign: Foreign, take_over: bool, store: Path | None, as_json: bool) -> None:
    """Take the runs of a PLACE into the store.

    PLACE is what `bw store export` wrote (a folder or an address), a result bundle (.bw.zip), a results folder, or
    results that others measured: verdict files, public leaderboards, SWE-bench submissions and reports, Inspect logs.
    What is in the store already is skipped, and of a run that this store has recorded itself its own entry goes on to
    count.  What is damaged in an export is left out and named; the command then
    ends with 1.
    """
    from benchwright.app.store_exchange import import_place

    with progress_bar("importing") as update:
        done = import_place(
            place,
            _workspace(),
            store,
            update,
            options=foreign.options if foreign.named else None,
            kind=foreign.kind,
            dry_run=foreign.dry_run,
            take_over=take_over,
        )
    if as_json:
        print_json(done.to_plain())
    else:
        _show_import(done)
    if done.damaged:
        raise SystemExit(1)


def _show_import(done: "StoreImport") -> None:
    if done.foreign is not None and not done.foreign.stored:
        click.echo(f"{done.kind}: {_runs(len(done.runs))} would be imported.")
    else:
        click.echo(f"{done.kind}: {_runs(done.new)} imported, {_there_already(done.there_before)}.")
    _some("note", done.notes)
    _some("left out", done.left_out)


@command.command("verify")
@store_option
@json_option
def verify(store: Path | None, as_json: bool) -> None:
    """Check the digests of everything in the store, and name all damage.  Ends with 1 when there is any."""
    from benchwright.app.store_care import verify_store

    found = verify_store(_workspace(), store)
    if as_json:
        print_json(found.to_plain())
    else:
        for text in found.damage:
            click.echo(text)
        count = len(found.damage)
        words = "all is well" if found.sound else f"{count} thing{'' if count == 1 else 's'} damaged"
        click.echo(f"{_runs(found.runs)} in {found.place}: {words}.")
    if not found.sound:
        raise SystemExit(1)


@command.command("gc")
@click.option("--superseded", is_flag=True, help="Drop entries, too, that another one of the same run replaces.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@store_option
@json_option
def gc(superseded: bool, dry_run: bool, store: Path | None, as_json: bool) -> None:
    """Remove what writers that were killed have left behind, and contents that no run needs."""
    from benchwright.app.store_care import clean_store

    done = clean_store(_workspace(), store, superseded=superseded, dry_run=dry_run)
    if as_json:
        print_json(done.to_plain())
        return
    verb = "would be removed" if dry_run else "removed"
    click.echo(
        f"{verb}: half-written entries {done.stages}, superseded ones {done.superseded}, files that no run needs "
        f"{done.blobs}; {done.freed_bytes / 2**20:.1f} MiB."
    )
    if done.kept_blobs:
        click.echo(done.kept_blobs)


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _there_already(count: int) -> str:
    return f"{count} {'was' if count == 1 else 'were'} there already"


def _some(what: str, texts: Sequence[str]) -> None:
    for text in texts[:_SHOWN]:
        click.echo(f"{what}: {text}")
    if len(texts) > _SHOWN:
        click.echo(f"… and {len(texts) - _SHOWN} more; --json lists them.")


def _workspace() -> Workspace:
    return Workspace.from_environment(os.environ)
