"""Layers of installed packages: what all instances of one repository and version have in common, or of several.

They go into the interpreter's own ``site-packages`` below ``/opt/env``.  Beside it, ``/opt/wheelhouse`` holds the
wheels that building the project asks for, so that it can be installed again without a network, as the official
evaluation does before each run of the tests.
"""

import datetime
import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.environments.repositories.layers import Draft, Layer, LayerKey, LayerKind, LayerStore, Made
from benchwright.environments.repositories.pythons import ENV
from benchwright.environments.repositories.sealing import FIXED_TIME
from benchwright.environments.repositories.spec import RepositorySpec
from benchwright.environments.repositories.workbench import BASE_ENVIRON, UV, Session, StepFailedError, Workbench

PYTHON = f"{ENV}/bin/python"
WHEELHOUSE = "/opt/wheelhouse"

SYSTEM_LOCALES = ("C.UTF-8", "en_US.UTF-8")
"""What the root file system has anyway."""

PROCEDURE = 1
"""Raised when the steps below make something else of the same specification."""

BY_PIP = "These were installed by pip, which considers releases of any day: {group}."

PACKAGE_FIELDS = (
    *("python", "base_packages", "packages", "requirement_files", "environment_files", "conda_names"),
    *("constraints", "build_requires_extra"),
)
"""Fields of a specification that decide what is in its layer."""

FINISH = f"""
rm -f {ENV}/.lock
for place in /opt /testbed; do
  if [ -d "$place" ]; then
    find "$place" -xdev ! -type d -newermt @{FIXED_TIME + 1} -print0 | xargs -0r touch -h -d @{FIXED_TIME} --
  fi
done
# Some packages hold files of another Python that do not compile; they are never imported.
PYTHONHASHSEED=0 {PYTHON} -m compileall -q {ENV}/lib > /dev/null 2>&1 || true
"""
"""Byte code remembers the time of its source, which is set to the one that the finished layer has."""

INVENTORY = """
import glob, json, os, re, sys
def fields(path):
    found = {}
    try:
        with open(path, "rb") as file:
            for line in file.read().decode("utf-8", "replace").splitlines():
                if not line.strip():
                    break
                name, _, value = line.partition(":")
                found.setdefault(name.strip(), value.strip())
    except (IOError, OSError):
        pass
    return found
def described(path):
    for name in ("METADATA", "PKG-INFO"):
        if os.path.isfile(os.path.join(path, name)):
            return fields(os.path.join(path, name))
    return fields(path) if os.path.isfile(path) else {}
def origin(path):
    try:
        with open(os.path.join(path, "direct_url.json")) as file:
            return json.load(file).get("url", "")
    except (IOError, OSError, ValueError):
        return ""
found = []
for folder in [path for path in sys.path if path.endswith("-packages")]:
    for pattern in ("*.dist-info", "*.egg-info", "*.egg/EGG-INFO"):
        for path in sorted(glob.glob(os.path.join(folder, pattern))):
            about = described(path)
            found.append([about.get("Name", ""), about.get("Version", ""), origin(path)])
own = []
for pattern in ("/testbed/*.egg-info", "/testbed/*/*.egg-info"):
    for path in sorted(glob.glob(pattern)):
        about = described(path)
        own.append([about.get("Name", ""), about.get("Version", "")])
wheels = sorted(os.path.basename(path) for path in glob.glob("/opt/wheelhouse/*"))
print(json.dumps({"installed": found, "own": own, "wheels": wheels}))
"""
"""Run by the environment's own Python, whichever version that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What is installed in a sandbox."""

    installed: tuple[tuple[str, str, str], ...]
    """Name, version and, of what was installed from an address or a folder, that."""
    own: tuple[tuple[str, str], ...]
    """Name and version that the checkout says it has."""
    wheels: tuple[str, ...]
    """File names in the wheelhouse."""

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Name and version of all that is installed, sorted."""
        return tuple(sorted({(name, version) for name, version, _ in self.installed if name}))


def system_key(spec: RepositorySpec, rootfs: Layer) -> LayerKey | None:
    """Key of the layer of Debian packages, or None when the specification asks for none that are not there anyway."""
    wanted = sorted({*_missing_packages(spec, rootfs), *extra_locales(spec)})
    if not wanted:
        return None
    inputs = {"wanted": wanted, "rootfs": rootfs.manifest.content.digest, "procedure": PROCEDURE}
    return LayerKey(kind=LayerKind.SYSTEM, name="-".join(wanted)[:60], digest=digest_of(inputs))


def _missing_packages(spec: RepositorySpec, rootfs: Layer) -> tuple[str, ...]:
    there = {name for name, _ in rootfs.manifest.made.versions}
    return tuple(name for name in spec.system_packages if name not in there)


def extra_locales(spec: RepositorySpec) -> tuple[str, ...]:
    """Locales that are asked for and not there anyway."""
    return tuple(name for name in spec.locales if name not in SYSTEM_LOCALES)


def system_layer(bench: Workbench, store: LayerStore, spec: RepositorySpec, rootfs: Layer) -> Layer | None:
    """The layer of Debian packages, made if it is not there.  Raises `MachineError` when apt fails."""
    key = system_key(spec, rootfs)
    if key is None:
        return None

    def make(draft: Draft) -> Made:
        with bench.session([rootfs.path], draft.scratch, network=True, environ=BASE_ENVIRON) as session:
            if missing := _missing_packages(spec, rootfs):
                _apt_install(session, missing)
            for locale in extra_locales(spec):
                charmap = locale.partition(".")[2] or "UTF-8"
                session.run(f"echo {shlex.quote(f'{locale} {charmap}')} >> /etc/locale.gen", what="add a locale")
            if extra_locales(spec):
                session.run("locale-gen", what="make the locales")
            versions = session.run("dpkg-query -W -f '${Package} ${Version}\\n'", what="list the packages")
        before = set(rootfs.manifest.made.versions)
        session.kept.rename(draft.folder)
        listed = (tuple(line.split(" ")) for line in versions.splitlines() if " " in line)
        return Made(
            commands=tuple(session.commands),
            versions=tuple((name, version) for name, version in listed if (name, version) not in before),
        )

    return store.put(key, make, lower=[rootfs])


def _apt_install(session: Session, packages: Iterable[str]) -> None:
    # apt's own user for downloads cannot read what root inside, nobody outside, has written for it.
    options = "-o APT::Sandbox::User=root -o Dpkg::Options::=--force-confold -y -qq"
    # Java's set-up fails where the folders of manual pages, which the root file system leaves out, are not there.
    session.run("mkdir -p /usr/share/man/man{1..8}", what="make the folders of manual pages")
    session.run(f"apt-get {options} update", what="read Debian's lists of packages")
    session.run(f"apt-get {options} install {shlex.join(packages)}", what="install Debian packages")
    session.run("apt-get clean", what="remove the downloads")


def environment_key(spec: RepositorySpec, commit: str, below: Sequence[Layer]) -> LayerKey:
    """Key of the layer of packages; versions of a repository whose packages are the same have one layer.

    Args:
        spec: What to install.
        commit: The environment commit; it counts only when the specification reads a file of it.
        below: The layers it stands on, the lowest first.
    """
    reads = bool(spec.requirement_files or spec.environment_files)
    until = spec.packages_until
    inputs: dict[str, Any] = {
        "spec": _plain(spec, PACKAGE_FIELDS + (("build_constraints",) if spec.build_constraints else ())),
        "until": until.isoformat() if until else "",
        "repo": spec.repo,
        "commit": commit if reads else "",
        "below": [layer.manifest.content.digest for layer in below],
        "procedure": PROCEDURE,
    }
    return LayerKey(kind=LayerKind.ENVIRONMENT, name=spec.repo.replace("/", "__"), digest=digest_of(inputs))


def environment_layer(
    bench: Workbench,
    store: LayerStore,
    spec: RepositorySpec,
    *,
    commit: str,
    requirements: Sequence[str],
    below: Sequence[Layer],
) -> Layer:
    """The layer of packages, made if it is not there.

    Args:
        bench: Where it is built.
        store: Where it is put.
        spec: What to install.
        commit: The environment commit.
        requirements: Those that the repository itself lists there.
        below: Root file system, packages of the distribution if any, interpreter.

    Raises `MachineError` when a step fails, with its command and last lines.
    """
    python = next(layer for layer in below if layer.key.kind is LayerKind.PYTHON).key.name

    def make(draft: Draft) -> Made:
        environ = {**BASE_ENVIRON, **uv_variables(spec)}
        with bench.session([layer.path for layer in below], draft.scratch, network=True, environ=environ) as session:
            put_constraints(session, spec)
            groups = [group for group in (spec.base_packages, tuple(requirements), *spec.packages) if group]
            by_pip = [group for group in groups if not _install_group(session, group, spec)]
            fill_wheelhouse(session, spec.build_requires_extra)
            found = take_inventory(session)
            session.run(FINISH, what="compile the packages")
        session.kept.rename(draft.folder)
        return Made(
            commands=tuple(session.commands),
            versions=found.versions,
            deviations=(*spec.deviations, *(BY_PIP.format(group=", ".join(group)) for group in by_pip)),
            facts={"python": python, "wheelhouse": list(found.wheels), "requirements": list(requirements)},
        )

    return store.put(environment_key(spec, commit, below), make, lower=below)


def _install_group(session: Session, group: Sequence[str], spec: RepositorySpec) -> bool:
    """Install some requirements together; whether uv could do it.

    Old source distributions without a ``pyproject.toml`` may build with the setuptools of their day alone.  pip takes
    the one that is installed then, as in the official environments, and uv always the newest.
    """
    session.put("/tmp/group.txt", "".join(f"{line}\n" for line in group))
    what = f"install the packages of {spec.repo} {spec.version}"
    try:
        session.run(f"{UV} pip install --python {PYTHON} -r /tmp/group.txt", what=what)
    except StepFailedError as error:
        if not error.is_build:
            raise
        constraint = "--constraint /tmp/constraints.txt " if spec.constraints else ""
        session.run(f"{PYTHON} -m pip install --quiet {constraint}-r /tmp/group.txt", what=what)
        return False
    return True


def uv_variables(spec: RepositorySpec) -> dict[str, str]:
    """Variables that make uv choose as the specification says."""
    variables = {"UV_CONSTRAINT": "/tmp/constraints.txt"} if spec.constraints else {}
    if spec.build_constraints:
        variables["UV_BUILD_CONSTRAINT"] = "/tmp/build-constraints.txt"
    if spec.packages_until is not None:
        after = spec.packages_until + datetime.timedelta(days=1)
        variables["UV_EXCLUDE_NEWER"] = f"{after.isoformat()}T00:00:00Z"
    return variables


def put_constraints(session: Session, spec: RepositorySpec) -> None:
    """Write the files that `uv_variables` names."""
    for name, lines in (("constraints", spec.constraints), ("build-constraints", spec.build_constraints)):
        if lines:
            session.put(f"/tmp/{name}.txt", "".join(f"{line}\n" for line in lines))


def fill_wheelhouse(session: Session, requirements: Iterable[str]) -> None:
    """Put wheels for these requirements, each with what it needs itself, into the wheelhouse.

    Each is resolved by itself, since two builds of one project may ask for different versions of a package.
    """
    there = session.run(f"mkdir -p {WHEELHOUSE} && ls {WHEELHOUSE}", what="look at the wheels").split()
    pins: dict[str, None] = {}
    for requirement in requirements:
        session.put("/tmp/build-requirement.txt", f"{requirement}\n")
        listed = session.run(
            f"{UV} pip compile --quiet --no-header --no-annotate --python {PYTHON} /tmp/build-requirement.txt",
            what=f"find what {requirement} needs",
        )
        pins.update(dict.fromkeys(re.findall(r"^([A-Za-z0-9][\w.-]*==\S+)", listed, re.MULTILINE)))
    for batch in _without_conflicts(pin for pin in pins if not _is_there(pin, there)):
        session.run(
            f"{PYTHON} -m pip wheel --quiet --no-deps --wheel-dir {WHEELHOUSE} {shlex.join(batch)}",
            what="fetch the wheels that building needs",
        )


def _is_there(pin: str, wheels: Iterable[str]) -> bool:
    name, _, version = pin.partition("==")
    present = {(normal_name(parts[0]), parts[1]) for parts in (wheel.split("-") for wheel in wheels) if parts[1:]}
    return (normal_name(name), version) in present


def _without_conflicts(pins: Iterable[str]) -> list[list[str]]:
    """Batches in which each name comes once: pip refuses two versions of one package in one command."""
    batches: list[dict[str, str]] = []
    for pin in pins:
        name = normal_name(pin.partition("==")[0])
        batch = next((batch for batch in batches if name not in batch), None)
        if batch is None:
            batches.append({name: pin})
        else:
            batch[name] = pin
    return [list(batch.values()) for batch in batches]


def build_requirements(pyproject: str | None, *, name: str) -> tuple[str, ...]:
    """What a ``pyproject.toml`` asks for to build the project; nothing when there is none.

    Args:
        pyproject: Its text.
        name: What to call it in messages.

    Raises `UsageError` when it is not valid.
    """
    if pyproject is None:
        return ()
    try:
        table: Mapping[str, Any] = tomllib.loads(pyproject)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The pyproject.toml of {name} is not valid: {error}.") from error
    return tuple(str(line) for line in table.get("build-system", {}).get("requires", ()))


def take_inventory(session: Session) -> Inventory:
    """Ask the environment's Python what is installed."""
    session.put("/tmp/inventory.py", INVENTORY)
    output = session.run(f"{PYTHON} /tmp/inventory.py", what="list what is installed")
    session.workspace.remove("/tmp/inventory.py")
    facts = json.loads(output.strip().splitlines()[-1])
    return Inventory(
        installed=tuple((name, version, url) for name, version, url in facts["installed"]),
        own=tuple((name, version) for name, version in facts["own"]),
        wheels=tuple(facts["wheels"]),
    )


def normal_name(name: str) -> str:
    """A distribution's name in the one spelling that all are equal to (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _plain(spec: RepositorySpec, names: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(spec, name) for name in names}
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
