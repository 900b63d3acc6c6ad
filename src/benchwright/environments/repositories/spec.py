"""What a repository's tests need, per version: Python, packages, system packages, commands, as TOML files.

A file describes one repository.  Keys of ``[defaults]`` hold for all its versions; each ``[[block]]`` names versions
and overrides keys for them.  Blocks are applied in the order of the file, so a version may be named by several:
lists and texts replace what was there, tables are merged key by key, and ``extend`` adds to lists.

.. code-block:: toml

    schema = 1
    repo = "acme/rockets"
    source = "written for our own repository"

    [defaults]
    python = "3.11"                      # "3" is any Python 3
    packages = [["pytest==8.3.2"]]       # groups, installed one after the other
    install = "python -m pip install -e ."
    editable = true
    test = "pytest -rA"                  # the test files of the patch are appended
    runner = "pytest"

    [[block]]
    versions = ["1"]

    [[block]]
    versions = ["2"]
    python = "3.12"
    extend.packages = [["hypothesis"]]

Every key is explained by the field of the same name of `RepositorySpec`, and in
``docs/reference/repository-specs.md``.  The files of SWE-bench's twelve repositories come with the package; a folder of
the user's own adds repositories and versions, or replaces single ones.
"""

import dataclasses
import datetime
import difflib
import enum
import fnmatch
import functools
import posixpath
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError

SPEC_SCHEMA = 1
"""Version of the meaning of a specification; raise it when a key comes to mean something else."""

COMMON_FILE = "common.toml"
"""The shipped file whose ``[defaults]`` lie below those of every other shipped file; it describes no repository."""

LOG_PARSERS = ("pytest", "pytest-options", "pytest-v2", "django", "seaborn", "sympy", "matplotlib")
"""Names of log parsers: SWE-bench's ``parse_log_…`` functions, repositories that share one under the shared name."""

NOT_TESTS = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""Endings of files in a test patch that are data, not tests (SWE-bench v2.1.0 ``constants.NON_TEST_EXTS``)."""

_PATCHED_FILE = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)
_LEFT_OUT = ("-e .", "#", ".[test")
_CONDA_SPEC = re.compile(r"(?:[\w-]+::)?(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[\w, -]+\])?\s*(?P<version>[^\s].*)?$")
_YAML_ITEM = re.compile(r"(?P<indent> *)- +(?P<value>\S.*)$")


class Runner(enum.StrEnum):
    """Which test runner the test command starts."""

    PYTEST = "pytest"
    TOX_PYTEST = "tox-pytest"
    """pytest, started by tox in the environment that is there (``tox --current-env``)."""
    DJANGO = "django"
    """unittest in its verbose form: Django's ``runtests.py`` or ``python -m unittest -v``."""
    SYMPY = "sympy"
    """SymPy's own ``bin/test``."""


class Directives(enum.StrEnum):
    """How the files of a test patch are named to the runner."""

    FILES = "files"
    """As paths from the repository's root."""
    LABELS = "labels"
    """As dotted module names, without ``label_root`` and ``.py``."""


_PARSER_OF = {
    Runner.PYTEST: "pytest",
    Runner.TOX_PYTEST: "pytest-v2",
    Runner.DJANGO: "django",
    Runner.SYMPY: "sympy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySpec:
    """One version of one repository: how its environment is built and its tests are run."""

    repo: str
    """``owner/name``."""
    version: str
    """As the rows of a benchmark spell it."""
    source: str
    """Where the facts come from."""
    python: str
    """``3.9``; an exact ``3.9.18``; or ``3`` for any."""
    test: str
    """Shell command that runs the tests; the directives are appended."""
    runner: Runner
    log_parser: str
    """One of `LOG_PARSERS`; when not given, the runner's."""
    base_packages: tuple[str, ...] = ("pip", "setuptools", "wheel")
    """Requirements that every environment starts with."""
    packages: tuple[tuple[str, ...], ...] = ()
    """Groups of requirements, each installed by itself, in this order: a later group may move what an earlier chose."""
    requirement_files: tuple[str, ...] = ()
    """Where the repository may have its requirement file at the environment commit; the first that is there counts, and
    is installed before `packages`."""
    environment_files: tuple[str, ...] = ()
    """The same for conda's ``environment.yml``."""
    conda_names: Mapping[str, str] = field(default_factory=dict)
    """What a package of an ``environment.yml`` is called on PyPI, by its name in lower case; an empty text leaves it
    out."""
    constraints: tuple[str, ...] = ()
    """Limits on versions that hold for every group, whoever asks for the package."""
    build_constraints: tuple[str, ...] = ()
    """Limits on the versions that building a package from source uses."""
    build_requires_extra: tuple[str, ...] = ()
    """Requirements that building the project asks for at some commit, beside those of its ``pyproject.toml`` at the
    environment commit.  Each is to be had for itself: two may name one package with different versions."""
    packages_until: datetime.date | None = None
    """Releases published after this day are not considered; None considers all."""
    system_packages: tuple[str, ...] = ()
    """Debian packages."""
    locales: tuple[str, ...] = ()
    """Locales that the system must have, such as ``en_US.UTF-8``."""
    pre_install: tuple[str, ...] = ()
    """Shell commands that edit the checkout before it is installed."""
    install: str = ""
    """Shell command that installs the checkout; empty when nothing is to be installed."""
    editable: bool = False
    """Whether the installation refers to the checkout, so that edits of Python files need no second one."""
    requirement: str = "."
    """What of the project has its dependencies installed beforehand, such as ``.[test]``; empty for none."""
    reinstall: tuple[str, ...] = ("setup.py", "setup.cfg", "pyproject.toml")
    """Patterns of paths whose change makes another installation necessary; one without ``/`` fits names in any
    folder."""
    reinstall_command: str = ""
    """When it differs from `install`."""
    directives: Directives = Directives.FILES
    label_root: str = ""
    """Folder that is cut off the front of labels, such as ``tests``."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the test command."""
    project_modules: tuple[str, ...] = ()
    """Top-level modules that the repository itself provides; having them in the checkout shadows nothing."""
    deviations: tuple[str, ...] = ()
    """How the environment differs from the official one, in words."""

    @property
    def digest(self) -> str:
        """SHA-256 over everything that decides what is built and run: all fields but `source` and `deviations`."""
        values = dataclasses.asdict(self)
        del values["source"], values["deviations"]
        until = self.packages_until
        return digest_of({**values, "packages_until": until.isoformat() if until else None, "schema": SPEC_SCHEMA})


Specs = Mapping[tuple[str, str], RepositorySpec]
"""Specifications by repository and version."""


def load_specs(extra: Path | None = None) -> Specs:
    """The shipped specifications, with those of the folder ``extra`` added or put in their place.

    Raises `UsageError` when the folder is not there or one of its TOML files is not as it should be.
    """
    if extra is None:
        return _shipped()
    if not extra.is_dir():
        raise UsageError(f"The folder of repository specifications {extra} does not exist.")
    specs = dict(_shipped())
    found: dict[tuple[str, str], Path] = {}
    for path in sorted(extra.glob("*.toml")):
        for spec in parse_specs(_read(path), file=str(path)):
            key = (spec.repo, spec.version)
            if key in found:
                raise UsageError(
                    f"{found[key]} and {path} both specify version {spec.version!r} of {spec.repo}; remove one of them."
                )
            found[key] = path
            specs[key] = spec
    return specs


def spec_for(repo: str, version: str, specs: Specs | None = None) -> RepositorySpec:
    """The specification of one version of one repository, among the shipped ones when none are given.

    Raises `UsageError` that says how to add one when there is none.
    """
    specs = load_specs() if specs is None else specs
    if (repo, version) in specs:
        return specs[repo, version]
    versions = ", ".join(sorted((known for name, known in specs if name == repo), key=_version_key))
    near = ", ".join(difflib.get_close_matches(repo, sorted({name for name, _ in specs}), n=3))
    known = f" (there are: {versions})" if versions else f" (did you mean {near}?)" if near else ""
    raise UsageError(
        f"There is no environment specification for version {version!r} of {repo}{known}; to add it, put a TOML file "
        "that describes it into your folder of repository specifications, see docs/reference/repository-specs.md."
    )


def parse_specs(toml: str, *, file: str, defaults: Mapping[str, Any] | None = None) -> tuple[RepositorySpec, ...]:
    """Every version that the text of one file specifies, in the order in which the file names them.

    Args:
        toml: The text.
        file: What to call it in messages.
        defaults: Keys that lie below the file's own ``[defaults]``.

    Raises `UsageError` that names the file and the key when something is missing, unknown or of the wrong kind.
    """
    table = _toml(toml, file)
    _check_keys(table, {"schema", "repo", "source", "defaults", "block"}, f"{file}: at its top")
    if table.get("schema") != SPEC_SCHEMA:
        raise UsageError(f"{file}: schema must be {SPEC_SCHEMA}, but is {table.get('schema')!r}.")
    repo = _text(table.get("repo"), f"{file}: repo")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise UsageError(f"{file}: repo must be of the form owner/name, but is {repo!r}.")
    source = _text(table.get("source"), f"{file}: source")
    own = _table(table.get("defaults", {}), f"{file}: defaults")
    blocks = _blocks(table.get("block"), file)
    below = _merged(defaults or {}, own, f"{file}: defaults")
    layers = _layers(blocks, below, file)
    return tuple(_spec(repo, version, source, keys, file) for version, keys in layers.items())


def requirements_from(spec: RepositorySpec, files: Mapping[str, str]) -> tuple[str, ...]:
    """Requirements that the repository itself lists, as pip reads them; none when the specification names no file.

    As SWE-bench v2.1.0 does (``utils.get_requirements`` and ``get_environment_yml``), included files come first and
    lines that install the checkout itself are left out.  Of an ``environment.yml`` the ``dependencies`` count, without
    Python, under their names on PyPI.

    Args:
        spec: Names the files.
        files: Text by path from the repository's root, at the environment commit.  Any mapping will do, also one that
            reads a file when it is asked for it.

    Raises `UsageError` when none of the files is there, an included one is not, or a line is of no known form.
    """
    if spec.requirement_files:
        path = _first(spec.requirement_files, files, spec)
        return tuple(dict.fromkeys(_pip_lines(path, files, (path,))))
    if spec.environment_files:
        path = _first(spec.environment_files, files, spec)
        return tuple(dict.fromkeys(_conda_requirements(spec, path, files[path])))
    return ()


def test_directives(spec: RepositorySpec, test_patch: str) -> tuple[str, ...]:
    """What the runner is told to run: the files that a test patch touches, without data files.

    As SWE-bench v2.1.0's ``utils.get_test_directives``, except that only the patch's own header lines count, not lines
    of the files' contents that look like one.
    """
    paths = [path for path in _PATCHED_FILE.findall(test_patch) if not path.endswith(NOT_TESTS)]
    if spec.directives is Directives.FILES:
        return tuple(paths)
    root = f"{spec.label_root}/" if spec.label_root else ""
    return tuple(path.removesuffix(".py").removeprefix(root).replace("/", ".") for path in paths)


def test_command(spec: RepositorySpec, directives: Iterable[str]) -> str:
    """The shell command that runs the given tests."""
    return " ".join((spec.test, *map(shlex.quote, directives)))


def needs_reinstall(spec: RepositorySpec, changed: Iterable[str]) -> bool:
    """Whether a change of these paths is seen by the tests only after another installation."""
    if not spec.install:
        return False
    return not spec.editable or any(_fits(path, pattern) for path in changed for pattern in spec.reinstall)


@functools.cache
def _shipped() -> Specs:
    folder = resources.files(__package__).joinpath("specs")
    common = _toml(folder.joinpath(COMMON_FILE).read_text(encoding="utf-8"), COMMON_FILE)["defaults"]
    specs: dict[tuple[str, str], RepositorySpec] = {}
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".toml") and file.name != COMMON_FILE:
            text = file.read_text(encoding="utf-8")
            for spec in parse_specs(text, file=file.name, defaults=common):
                specs[spec.repo, spec.version] = spec
    return specs


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The repository specification {path} cannot be read: {error}.") from error


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is not valid TOML: {error}.") from error


# Layers of keys.


def _blocks(value: Any, file: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        raise UsageError(f"{file}: at least one [[block]] with versions is expected.")
    return value


def _layers(blocks: list[dict[str, Any]], below: dict[str, Any], file: str) -> dict[str, dict[str, Any]]:
    layers: dict[str, dict[str, Any]] = {}
    for number, block in enumerate(blocks, start=1):
        where = f"{file}: block {number}"
        keys = dict(block)
        versions = _texts(keys.pop("versions", None), f"{where}: versions")
        if not versions:
            raise UsageError(f"{where}: versions must name at least one version.")
        for version in versions:
            layers[version] = _merged(layers.get(version, below), keys, where)
    return layers


def _merged(below: Mapping[str, Any], above: Mapping[str, Any], where: str) -> dict[str, Any]:
    keys = dict(above)
    extend = _table(keys.pop("extend", {}), f"{where}: extend")
    _check_keys(keys, set(_READERS), where)
    _check_keys(extend, _LISTS, f"{where}: extend")
    merged = dict(below)
    for name, value in keys.items():
        checked = _READERS[name](value, f"{where}: {name}")
        merged[name] = {**merged.get(name, {}), **checked} if isinstance(checked, dict) else checked
    for name, value in extend.items():
        present = tuple(merged.get(name, _DEFAULTS[name]))
        merged[name] = (*present, *_READERS[name](value, f"{where}: extend.{name}"))
    return merged


def _spec(repo: str, version: str, source: str, keys: Mapping[str, Any], file: str) -> RepositorySpec:
    missing = [name for name in ("python", "test", "runner") if name not in keys]
    if missing:
        raise UsageError(f"{file}: version {version!r} has no {' and no '.join(missing)}; give it in [defaults].")
    values = {"log_parser": _PARSER_OF[keys["runner"]], **keys}
    return RepositorySpec(repo=repo, version=version, source=source, **values)


# Values of keys.


def _check_keys(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for name in table:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}."
            raise UsageError(f"{where}: there is no key {name!r}; {hint}")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or "\n" in value:
        raise UsageError(f"{where} must be a text of one line, but is {value!r}.")
    return value


def _maybe_text(value: Any, where: str) -> str:
    return "" if value == "" else _text(value, where)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{where} must be a list of texts, but is {value!r}.")
    return tuple(_text(one, f"{where}: entry {number}") for number, one in enumerate(value, start=1))


def _groups(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        raise UsageError(f"{where} must be a list of groups, each a list of requirements, but is {value!r}.")
    return tuple(_texts(one, f"{where}: group {number}") for number, one in enumerate(value, start=1))


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table, but is {value!r}.")
    return value


def _names(value: Any, where: str) -> dict[str, str]:
    return {name: _maybe_text(text, f"{where}.{name}") for name, text in _table(value, where).items()}


def _yes_or_no(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{where} must be true or false, but is {value!r}.")
    return value


def _date(value: Any, where: str) -> datetime.date:
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise UsageError(f"{where} must be a date without quotes, such as 2024-08-15, but is {value!r}.")
    return value


def _python(value: Any, where: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"3(\.\d+){0,2}", value):
        raise UsageError(f'{where} must be a Python version such as "3.9" (with quotes), but is {value!r}.')
    return value


def _one_of(known: Iterable[str], make: Callable[[str], str] = str) -> Callable[[Any, str], str]:
    names = tuple(known)

    def read(value: Any, where: str) -> str:
        if value not in names:
            raise UsageError(f"{where} must be one of {', '.join(names)}, but is {value!r}.")
        return make(value)

    return read


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "python": _python,
    "test": _text,
    "runner": _one_of(Runner, Runner),
    "log_parser": _one_of(LOG_PARSERS),
    "base_packages": _texts,
    "packages": _groups,
    "requirement_files": _texts,
    "environment_files": _texts,
    "conda_names": _names,
    "constraints": _texts,
    "build_constraints": _texts,
    "build_requires_extra": _texts,
    "packages_until": _date,
    "system_packages": _texts,
    "locales": _texts,
    "pre_install": _texts,
    "install": _maybe_text,
    "editable": _yes_or_no,
    "requirement": _maybe_text,
    "reinstall": _texts,
    "reinstall_command": _maybe_text,
    "directives": _one_of(Directives, Directives),
    "label_root": _maybe_text,
    "environ": _names,
    "project_modules": _texts,
    "deviations": _texts,
}
"""How each key of a file is read; the fields of `RepositorySpec` but those that belong to the whole file."""

_LISTS = frozenset(name for name, read in _READERS.items() if read in (_texts, _groups))
_DEFAULTS = {one.name: one.default for one in dataclasses.fields(RepositorySpec)}


# Requirement files.


def _first(paths: Iterable[str], files: Mapping[str, str], spec: RepositorySpec) -> str:
    tried = tuple(paths)
    for path in tried:
        if path in files:
            return path
    raise UsageError(
        f"{spec.repo} has none of {', '.join(tried)} at the environment commit of version {spec.version!r}; "
        "name the right file in the repository's specification."
    )


def _pip_lines(path: str, files: Mapping[str, str], above: tuple[str, ...]) -> Iterator[str]:
    own = []
    for line in map(str.strip, files[path].splitlines()):
        if not line or line.startswith(_LEFT_OUT):
            continue
        if line.startswith(("-r", "--requirement")):
            named = line.removeprefix("--requirement").removeprefix("-r").strip(" =")
            yield from _included(posixpath.normpath(posixpath.join(posixpath.dirname(path), named)), path, files, above)
        elif line.startswith("--prefer-binary"):
            continue  # a preference of pip's, not a requirement
        elif line.startswith("-") or line.endswith("\\"):
            raise UsageError(f"The line {line!r} of {path} is no plain requirement; benchwright cannot read it.")
        else:
            own.append(re.sub(r"\s+#.*", "", line))
    yield from own


def _included(path: str, by: str, files: Mapping[str, str], above: tuple[str, ...]) -> Iterator[str]:
    if path not in files:
        raise UsageError(f"{by} includes {path}, which is not there.")
    if path in above:
        raise UsageError(f"{by} includes {path}, which includes it in turn.")
    return _pip_lines(path, files, (*above, path))


def _conda_requirements(spec: RepositorySpec, path: str, text: str) -> Iterator[str]:
    for item, from_pip in _environment_items(path, text):
        if from_pip:
            yield item
            continue
        match = _CONDA_SPEC.match(item)
        if match is None:
            raise UsageError(f"The dependency {item!r} of {path} is of no known form.")
        name = match["name"]
        ours = "" if name.lower() == "python" else spec.conda_names.get(name.lower(), name)
        if ours:
            yield f"{ours}{match['extras'] or ''}{_pip_version(match['version'] or '')}"


def _pip_version(conda: str) -> str:
    version = conda.replace(" ", "")
    if re.match(r"=[^=]", version):
        return f"=={version.split('=')[1].removesuffix('.*')}.*"  # conda's fuzzy form, perhaps with a build name
    return version if not version or version[0] in "<>!=~" else f"=={version}"


def _environment_items(path: str, text: str) -> Iterator[tuple[str, bool]]:
    """Items below ``dependencies:`` and below the ``pip:`` among them; just the YAML that such files use."""
    inside = False
    pip_indent = None
    for raw in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", raw).rstrip()
        if not line:
            continue
        match = _YAML_ITEM.match(line)
        if match is None:
            if line.startswith(" ") and inside:
                raise UsageError(f"The line {raw.strip()!r} of {path} is no list item; benchwright cannot read it.")
            inside = line == "dependencies:"
            continue
        if not inside:
            continue
        indent, value = len(match["indent"]), match["value"].strip("\"'")
        if value == "pip:":
            pip_indent = indent
            continue
        if pip_indent is not None and indent <= pip_indent:
            pip_indent = None
        yield value, pip_indent is not None


# Small things.


def _fits(path: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(path if "/" in pattern else posixpath.basename(path), pattern)


def _version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in version.split("."))
