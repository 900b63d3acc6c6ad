"""The site's folder: made beside its place and moved there when it is complete; what is no site is never removed."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError

MARKER = ".benchwright-site"
"""In every site: the names at its top that the build wrote.  Others, such as ``.git`` or ``CNAME``, outlive a build."""


@contextmanager
def fresh_folder(place: Path) -> Iterator[Path]:
    """An empty folder that takes the given place when the block ends well, and is removed otherwise.

    What others put at the top of the site that stood there is carried over.  Raises `UsageError` at once when the
    place holds something that is no site, and `MachineError` when the disk refuses.
    """
    place = place.absolute()
    refuse_what_is_no_site(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    except OSError as error:
        raise MachineError(f"The site cannot be written beside {place} ({error.strerror or error}).") from error
    try:
        yield made
        names = sorted({path.name for path in made.iterdir()} | {MARKER})
        (made / MARKER).write_text(json.dumps({"names": names}) + "\n", encoding="utf-8")
        made.chmod(0o755)  # made by mkdtemp for its owner alone, but a web server of another user is to read it
        _swap(made, place)
    except OSError as error:
        raise MachineError(f"The site cannot be written to {place} ({error.strerror or error}).") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)  # gone already when all went well


def site_in(place: Path) -> Path:
    """The folder, if there is a built site in it; raises `UsageError` otherwise."""
    if not (place / MARKER).is_file():
        raise UsageError(f"There is no built site in {place}; make one with: bw site build --out {place}")
    return place


def refuse_what_is_no_site(place: Path) -> None:
    """Raises `UsageError` when a site may not be written to the place."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise UsageError(f"{place} is not a folder; give --out the name of a new folder or of a built site.")
    if place.is_dir() and any(place.iterdir()) and not (place / MARKER).is_file():
        raise UsageError(
            f"{place} holds files but no site built by benchwright, so it is left alone; give --out the name of a new "
            f"or empty folder."
        )


def _swap(made: Path, place: Path) -> None:
    if not place.exists():
        made.rename(place)
        return
    others = {path.name for path in place.iterdir()} - _written(place)
    hidden = sorted(name for name in others if (made / name).exists())
    if hidden:
        raise UsageError(
            f"{place} has a {hidden[0]} that no build wrote, and this one has a file of that name; move yours away, or "
            f"give another --out."
        )
    aside = Path(tempfile.mkdtemp(prefix=f".{place.name}.old.", dir=place.parent))
    place.rename(aside / place.name)
    try:
        made.rename(place)
    except OSError:
        (aside / place.name).rename(place)
        aside.rmdir()
        raise
    for name in others:
        (aside / place.name / name).rename(place / name)
    shutil.rmtree(aside)


def _written(place: Path) -> set[str]:
    """Names of the build that stands there; of an empty folder none."""
    if not (place / MARKER).is_file():
        return set()
    try:
        return {str(name) for name in json.loads((place / MARKER).read_text(encoding="utf-8"))["names"]}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{place / MARKER} cannot be read, so it is not known what the site's files are; choose another --out."
        ) from error
