"""Runs by what a user calls them, where the name of a model means all of its runs."""

import json
from collections.abc import Sequence
from dataclasses import replace

from benchwright.app.stored_results import choose
from benchwright.core.results import StoredRun
from benchwright.store.folder import MANIFEST
from benchwright.store.results import ResultStore


def every_run(names: Sequence[str], store: ResultStore, benchmark: str | None = None) -> list[StoredRun]:
    """The runs that names mean, each once, in the names' order: as `choose`, but a model means all of its runs.

    Args:
        names: Results folders, beginnings of ids, models.
        store: Where names are looked up.
        benchmark: Of a model, only its runs on this one.

    Raises `UsageError` for a name that means nothing.
    """
    found: dict[str, StoredRun] = {}
    for name in names:
        of_model = [with_manifest(run, store) for run in store.runs(model=name, benchmark=benchmark)]
        for run in of_model or choose([name], store):
            found.setdefault(run.entry, run)
    return list(found.values())


def with_manifest(run: StoredRun, store: ResultStore) -> StoredRun:
    """A run of the store's index with its manifest, if it has one."""
    if run.manifest or MANIFEST not in run.files:
        return run
    return replace(run, manifest=json.loads(store.read_file(run.entry, MANIFEST)))
