"""Which exclusion lists hold for a grading: those of public reports, and the user's own from control runs."""

import datetime
from collections.abc import Sequence
from pathlib import Path

from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import RepositorySet
from benchwright.benchmarks.swebench.exclusions import (
    Excluded,
    ExclusionEntry,
    ExclusionList,
    Kind,
    Selection,
    apply,
    read_list,
    shipped_list,
    shipped_names,
    write_list,
)
from benchwright.core.digest import digest_of
from benchwright.core.repositories import RepositoryControls

NONE = "none"
"""What to name instead of a list to have none."""


def chosen_lists(names: tuple[str, ...] | None, benchmark: str, workspace: Workspace) -> list[ExclusionList]:
    """The lists of these names or files; without any, all shipped ones and the user's own.

    Raises `UsageError` for a name that is neither a list nor a file.
    """
    if names is None:
        lists = [shipped_list(name) for name in shipped_names()]
        own = own_path(benchmark, workspace)
        return [*lists, read_list(own)] if own.exists() else lists
    if names == (NONE,):
        return []
    return [read_list(Path(name)) if Path(name).is_file() else shipped_list(name) for name in names]


def applied(names: tuple[str, ...] | None, problems: RepositorySet, workspace: Workspace) -> Selection:
    """The problems with the chosen lists applied to them."""
    return apply(problems, chosen_lists(names, problems.benchmark, workspace))


def reasons(excluded: Excluded) -> list[str]:
    """Why a problem is left out, one sentence for every list that names it."""
    return [f"{ground.list}: {ground.entry.reason}" for ground in excluded.grounds]


def own_path(benchmark: str, workspace: Workspace) -> Path:
    """Where the user's own list of a benchmark is."""
    return workspace.home / "exclusions" / f"{benchmark}-here.toml"


def update_own_list(
    benchmark: str, flaws: Sequence[tuple[RepositoryControls, str]], workspace: Workspace
) -> Path | None:
    """Put what control runs said of instances onto the user's own list, or take them off it again.

    Args:
        benchmark: Whose list.
        flaws: Control runs, each with what is wrong with the instance here; an empty text when nothing is.
        workspace: Where the list is.

    Instances that were not controlled now stay as they are.  Returns the list's path, or None when it is empty.
    """
    path = own_path(benchmark, workspace)
    entries = {entry.id: entry for entry in (read_list(path).entries if path.exists() else ())}
    for controls, why in flaws:
        entries.pop(controls.problem_id, None)
        if why:
            entries[controls.problem_id] = _entry(controls, why)
    if not entries and not path.exists():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    own = ExclusionList(
        name=f"{benchmark}-here",
        about="Instances that do not run reliably on this machine, by its own control runs.",
        entries=tuple(entries[problem] for problem in sorted(entries)),
    )
    write_list(path, own)
    return path if entries else None


def _entry(controls: RepositoryControls, why: str) -> ExclusionEntry:
    return ExclusionEntry(
        id=controls.problem_id,
        kind=Kind.EXCLUDE,
        reason=why,
        evidence=(f"control runs {digest_of(controls.to_plain())[:16]} ({controls.sandbox})",),
        reported=datetime.datetime.now(datetime.UTC).date(),
        reported_by="control runs on this machine",
    )
