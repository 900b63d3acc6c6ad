"""Runs by what a user calls them, where the name of a model means all of its runs."""

from collections.abc import Sequence

from benchwright.app.stored_results import choose
from benchwright.core.results import StoredRun
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
        of_model = [store.with_manifest(run) for run in store.runs(model=name, benchmark=benchmark)]
        for run in of_model or choose([name], store):
            found.setdefault(run.entry, run)
    return list(found.values())
