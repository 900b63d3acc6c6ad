"""Verdict files of BigCodeBench's official harness, found in folders and read together."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchwright.app.importing_base import Imported, ImportOptions
from benchwright.app.importing_bigcodebench import import_verdicts
from benchwright.benchmarks.bigcodebench.loading import BENCHMARK_NAME
from benchwright.benchmarks.bigcodebench.official_verdicts import read_naming
from benchwright.core.errors import UsageError

_ENDINGS = ("eval_results.json", "verdicts.json", "eval_results.json.gz", "verdicts.json.gz")
"""How names of verdict files end, which are looked for in folders."""
_MOST_ENTRIES = 50_000
"""Files and folders that are looked at below one folder, which takes a second or two.  The verdicts of two hundred
models with all that their harness wrote are a few thousand; a folder with more was named by mistake."""


def import_verdict_files(paths: Sequence[Path], options: ImportOptions) -> Imported:
    """One run of each verdict file that is named, or lies below a folder that is.

    Files whose names say another subset or variant than is asked for are passed over, and counted in a note, as are
    folders that cannot be read.

    Raises:
        UsageError: There is no such file, one cannot be used, or a folder holds far more than verdicts.
    """
    found = [verdict_files(path) for path in paths]
    files = [file for one in found for file in one.files]
    wanted = [
        file
        for file, naming in ((file, read_naming(file)) for file in files)
        if options.subset in (None, naming.subset or options.subset)
        and options.variant in (None, naming.variant or options.variant)
    ]
    if not wanted:
        asked = ", ".join(word for word in (options.subset, options.variant) if word)
        raise UsageError(
            f"None of the {len(files)} verdict files is of {BENCHMARK_NAME} ({asked}); choose with --subset and "
            f"--variant."
        )
    read = [import_verdicts(file, options) for file in wanted]
    passed_over, unreadable = len(files) - len(wanted), sum(one.unreadable for one in found)
    notes = [
        *([f"{passed_over} verdict files of other subsets or variants are not looked at."] if passed_over else []),
        *([f"{unreadable} folders could not be read, and are not looked at."] if unreadable else []),
    ]
    return Imported(
        runs=tuple(run for one in read for run in one.runs),
        notes=tuple(dict.fromkeys([*(note for one in read for note in one.notes), *notes])),
        left_out=tuple(dict.fromkeys(text for one in read for text in one.left_out)),
    )


class VerdictFiles(NamedTuple):
    """What looking for verdict files found."""

    files: Sequence[Path]
    unreadable: int
    """Folders that could not be read."""


def verdict_files(path: Path) -> VerdictFiles:
    """The verdict files below a folder, whatever else happens there meanwhile; or the one that was named.

    Raises `UsageError` when there is none, or the folder holds far more than verdicts.
    """
    if not path.is_dir():
        return VerdictFiles([path], 0)
    unreadable: list[OSError] = []
    found, entries = [], 0
    for folder, folders, files in os.walk(path, onerror=unreadable.append):
        entries += len(folders) + len(files)
        if entries > _MOST_ENTRIES:
            raise UsageError(
                f"{path} holds more than {_MOST_ENTRIES:,} files and folders; name the folder with the verdict files, "
                f"or the files."
            )
        found += [Path(folder) / name for name in files if name.endswith(_ENDINGS)]
    if not found:
        raise UsageError(f"{path} holds no verdict files; expected names like *{' or *'.join(_ENDINGS[:2])}.")
    gone = [error for error in unreadable if isinstance(error, FileNotFoundError)]
    return VerdictFiles(sorted(found), len(unreadable) - len(gone))
