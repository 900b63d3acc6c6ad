"""Who may import whom: the contracts of pyproject.toml hold, and no package uses a library it is not allowed."""

import ast
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"

# Third-party libraries by package; everything else imports the standard library and this project only.
LIBRARIES = {
    "benchwright.stats": {"numpy", "scipy", "evalica"},
    "benchwright.store": {"pyarrow", "duckdb", "fsspec"},
    "benchwright.leaderboard": {"numpy", "jinja2", "vl_convert", "pyarrow"},
    "benchwright.benchmarks": {"huggingface_hub", "pyarrow"},
    "benchwright.environments": {"uv", "zstandard"},
    # Inspect runs its tasks under anyio and wants settings of sandboxes as pydantic models; it depends on both.
    "benchwright.bridge": {"inspect_ai", "inspect_swe", "anyio", "pydantic"},
    # A random generator is made here and handed to stats; results are handed out as what users calculate with.
    "benchwright.app": {"numpy", "pandas", "polars", "pyarrow"},
    "benchwright.cli": {"click", "rich"},
}
# Programs of the built-in tasks are data: they run in the starter environment, never in the host.
DATA = SOURCE / "benchwright" / "benchmarks" / "starter" / "tasks"
OWN = {"benchwright", "benchwright_guest"}


def modules() -> list[Path]:
    """Every source file of the two packages."""
    return [path for path in sorted(SOURCE.rglob("*.py")) if DATA not in path.parents]


def package_of(path: Path) -> str:
    """The package of the table a file belongs to, such as ``benchwright.core``."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:2]) if parts[0] == "benchwright" and len(parts) > 2 else parts[0]


def imported(path: Path) -> Iterator[str]:
    """Top-level names of all modules a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def test_contracts_of_the_import_linter_hold() -> None:
    """Every contract in pyproject.toml is kept."""
    program = Path(sysconfig.get_path("scripts")) / "lint-imports"
    if not program.exists():
        pytest.skip("import-linter is not installed")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_packages_use_only_their_own_libraries() -> None:
    """A third-party library is imported only where the table of libraries has it."""
    strangers = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules()
        for name in imported(path)
        if name not in sys.stdlib_module_names
        and name not in OWN
        and name not in LIBRARIES.get(package_of(path), set())
    ]
    assert strangers == []


def test_every_library_of_the_table_is_used() -> None:
    """The table allows nothing that nobody needs."""
    used: dict[str, set[str]] = {}
    for path in modules():
        used.setdefault(package_of(path), set()).update(imported(path))
    unused = {
        package: sorted(libraries - used.get(package, set()))
        for package, libraries in LIBRARIES.items()
        if libraries - used.get(package, set())
    }
    assert unused == {}


def test_guest_imports_the_standard_library_and_itself() -> None:
    """The guest runs where nothing of this project is installed, so it may import nothing else."""
    allowed = sys.stdlib_module_names | {"benchwright_guest"}
    for path in (SOURCE / "benchwright_guest").glob("*.py"):
        assert set(imported(path)) <= allowed, path
