"""Runs by what a user calls them, where the name of a model means all of its runs."""

import json
from collections.abc import Sequence
from dataclasses import replace

from benchwright.app.stored_results import choose
from benchwright.app.workspace import Workspace
from benchwright.core.results import StoredRun
from benchwright.store.folder import MANIFEST
from benchwright.store.results import ResultStore


def every_run(names: Sequence[str], workspace: Workspace, store: ResultStore) -> list[StoredRun]:
    """The runs that names mean, each once, in the names' order: as `choose`, but a model may have several.

    Raises `UsageError` for a name that means nothing.
    """
    found: dict[str, StoredRun] = {}
    for name in names:
        of_model = store.runs(model=name)
        for run in (
            [with_manifest(run, store) for run in of_model] if len(of_model) > 1 else choose([name], workspace, store)
        ):
            found.setdefault(run.entry, run)
    return list(found.values())


def with_manifest(run: StoredRun, store: ResultStore) -> StoredRun:
    """A run of the store's index with its manifest, if it has one."""
    if run.manifest or MANIFEST not in run.files:
        return run
    return replace(run, manifest=json.loads(store.read_file(run.entry, MANIFEST)))
