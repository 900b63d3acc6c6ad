"""The apply_patch tool on files of a sandbox: what it does, and that it does all of a patch or nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.tool import ToolError
from inspect_ai.util import OutputLimitExceededError, SandboxUnavailableError
from sandboxing_pieces import place
from scaffold_pieces import HostEnvironment

from benchwright.bridge.scaffolds.patch_tool import patch_tool


def patched(*sections: str) -> str:
    """A patch of these sections."""
    return "*** Begin Patch\n" + "".join(f"*** {section}\n" for section in sections) + "*** End Patch\n"


def apply(patch: str, root: Path, environment: HostEnvironment | None = None) -> str:
    """What the tool says."""
    tool = patch_tool(environment or HostEnvironment(), root=str(root))
    said: str = asyncio.run(tool.tool(patch))
    return said


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Files with their contents and modes."""
    return {
        str(path.relative_to(root)): (path.read_text(), path.stat().st_mode & 0o777)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A few files."""
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    for name, mode in (("src/a.py", 0o644), ("src/run", 0o755), ("b.txt", 0o600)):
        (root / name).write_text(f"{name}\none\ntwo\n")
        (root / name).chmod(mode)
    return root


def test_files_are_changed_added_moved_and_deleted(repo: Path) -> None:
    """Each keeps its mode, a moved one too, and the tool says what it did."""
    said = apply(
        patched(
            "Update File: src/run\n@@\n one\n-two\n+three",
            "Update File: src/a.py\n*** Move to: lib/deep/a.py\n@@\n-one\n+ONE",
            "Delete File: b.txt",
            "Add File: c/new.txt\n+hello",
        ),
        repo,
    )
    assert said.splitlines() == [
        "Done:", "updated src/run", "moved src/a.py to lib/deep/a.py", "deleted b.txt",
        "added c/new.txt",
    ]  # fmt: skip
    assert tree(repo) == {
        "c/new.txt": ("hello\n", 0o644),
        "lib/deep/a.py": ("src/a.py\nONE\ntwo\n", 0o644),
        "src/run": ("src/run\none\nthree\n", 0o755),
    }


def test_a_moved_program_stays_one(repo: Path) -> None:
    """Its mode goes with it."""
    apply(patched("Update File: src/run\n*** Move to: run"), repo)
    assert tree(repo)["run"] == ("src/run\none\ntwo\n", 0o755)


def test_an_absolute_path_below_the_root_is_taken(repo: Path) -> None:
    """Models write them."""
    apply(patched(f"Update File: {repo}/b.txt\n@@\n-one\n+1"), repo)
    assert (repo / "b.txt").read_text() == "b.txt\n1\ntwo\n"


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("hello", "Begin Patch"),
        (patched("Update File: nope.py\n@@\n-a\n+b"), "no file nope.py"),
        (patched("Delete File: src"), "no file src"),
        (patched("Update File: b.txt\n@@\n-nine\n+b"), "hunk 1 of 1"),
        (patched("Update File: b.txt\n@@\n-one\n+1", "Update File: src/a.py\n@@\n-x\n+y"), "hunk 1 of 1"),
        (patched("Update File: ../outside\n@@\n-a\n+b"), "../outside"),
        (patched("Add File: b.txt\n+x"), "exists already"),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(repo: Path, patch: str, words: str) -> None:
    """The model is told why; what would have fitted is not done either."""
    before = tree(repo)
    with pytest.raises(ToolError) as raised:
        apply(patch, repo)
    assert words in raised.value.message
    assert tree(repo) == before


FULL = OSError(28, "No space left on device")
GONE = SandboxUnavailableError("No space left on device for a shell")


class Failing(HostEnvironment):
    """Fails to write to files of some names."""

    def __init__(self, *names: str, times: int = 1, error: Exception = FULL) -> None:
        super().__init__()
        self.names = names
        self.times = times
        self.error = error

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """A full disk, after some bytes."""
        if Path(file).name in self.names and self.times:
            self.times -= 1
            Path(file).write_text("half")
            raise self.error
        await super().write_file(file, contents)


WHOLE = patched(
    "Delete File: src/run",
    "Update File: src/a.py\n@@\n-one\n+1",
    "Add File: new.txt\n+x",
    "Update File: b.txt\n*** Move to: moved.txt",
)


@pytest.mark.parametrize(("name", "error"), [("a.py", FULL), ("new.txt", FULL), ("moved.txt", FULL), ("new.txt", GONE)])
def test_what_fails_midway_is_put_back(repo: Path, name: str, error: Exception) -> None:
    """Contents and modes are as they were, also of what was deleted, and the model is told."""
    before = tree(repo)
    with pytest.raises(ToolError) as raised:
        apply(WHOLE, repo, Failing(name, error=error))
    assert f"{name} could not be written" in raised.value.message
    assert "No space left on device" in raised.value.message
    assert raised.value.message.endswith("No file was changed.")
    assert tree(repo) == before


def test_what_cannot_be_put_back_is_named(repo: Path) -> None:
    """A disk that stays full keeps the old contents out, too."""
    with pytest.raises(ToolError, match=r"These could not be put back: src/a.py\.$"):
        apply(WHOLE, repo, Failing("a.py", times=9))
    assert tree(repo)["src/run"] == ("src/run\none\ntwo\n", 0o755)


def test_a_file_that_cannot_be_read(repo: Path) -> None:
    """One that is too large is said to be, and is not taken for missing."""

    class Large(HostEnvironment):
        async def read_file(self, file: str, text: bool = True) -> Any:
            raise OutputLimitExceededError("100 MiB", None)

    with pytest.raises(ToolError, match=r"b\.txt cannot be read"):
        apply(patched("Update File: b.txt\n@@\n-one\n+1"), repo, Large())


def test_without_programs_nothing_is_deleted(repo: Path) -> None:
    """When an agent has removed the programs, it is told so."""

    class Bare(HostEnvironment):
        async def exec(self, cmd: list[str], *arguments: Any, **options: Any) -> Any:
            return await super().exec(["/bin/sh", "-c", "echo gone >&2; exit 127"])

    before = tree(repo)
    with pytest.raises(ToolError, match="gone"):
        apply(patched("Delete File: b.txt"), repo, Bare())
    assert tree(repo) == before


@pytest.fixture
def sandboxed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[asyncio.Runner, Any]]:
    """A sandbox of ours."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found, asyncio.Runner() as runner:
        environments = runner.run(found.provider.sample_init("t", found.config, {}))
        yield runner, environments["default"]
        runner.run(found.provider.sample_cleanup("t", found.config, environments, False))


@pytest.mark.namespaces
def test_in_our_sandbox(sandboxed: tuple[asyncio.Runner, Any]) -> None:
    """With its reading and writing of files: bytes, modes, folders, and errors."""
    runner, environment = sandboxed
    setup = "printf 'a\\r\\nb\\377\\r\\n' > f; chmod 750 f; mkdir d; echo x > d/x; ln -s f link; mkfifo pipe"
    assert runner.run(environment.exec(["sh", "-c", setup])).success
    tool = patch_tool(environment).tool
    patch = patched("Update File: f\n*** Move to: e/f\n@@\n-a\n+A", "Delete File: d/x", "Add File: n/m\n+1")
    assert runner.run(tool(patch)).splitlines()[1:] == ["moved f to e/f", "deleted d/x", "added n/m"]
    done = runner.run(environment.exec(["sh", "-c", "stat -c %a e/f; cat n/m; ls d"]))
    assert done.stdout == "750\n1\n"
    assert runner.run(environment.read_file("e/f", text=False)) == b"A\r\nb\xff\r\n"
    for path in ("d", "pipe", "link", "n/m/o"):
        with pytest.raises(ToolError, match="no file"):
            runner.run(tool(patched(f"Update File: {path}\n@@\n-a\n+b")))
    with pytest.raises(ToolError, match=r"d is a folder\. No file was changed"):
        runner.run(tool(patched("Add File: d\n+x", "Delete File: n/m")))
    assert runner.run(environment.read_file("n/m")) == "1\n"
