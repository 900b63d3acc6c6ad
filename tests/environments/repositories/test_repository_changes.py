"""Merged changes, split into source and tests."""

from pathlib import Path

import pytest
from made_histories import run_git

from benchwright.core.errors import UsageError
from benchwright.environments.repositories.changes import Change, read_change

DATE = {"GIT_AUTHOR_DATE": "1700000000 +0100", "GIT_COMMITTER_DATE": "1714557600 +0200"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A repository with a past."""
    path = tmp_path / "place"
    path.mkdir()
    run_git(path, "init", "--quiet", "--initial-branch=main")
    commit(path, {"a.py": "one\n", "tests/test_a.py": "one\n", "old name.py": "text\n" * 20}, "begin")
    return path


def commit(path: Path, files: dict[str, str | bytes | None], message: str) -> str:
    """Commit files; None removes one."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            (path / name).unlink()
        elif isinstance(content, bytes):
            (path / name).write_bytes(content)
        else:
            (path / name).write_text(content)
    run_git(path, "add", "--all")
    run_git(path, "commit", "--quiet", "--message", message, environ=DATE)
    return head(path)


def head(path: Path, name: str = "HEAD") -> str:
    """A commit's id."""
    return run_git(path, "rev-parse", name)


def read(place: Path, name: str) -> Change:
    """The change of a commit."""
    return read_change("o/n", place, name, clones=place.parent / "clones")


def test_a_squashed_change(place: Path) -> None:
    """The difference to its parent, in two parts; the number of the pull request is in its title."""
    base = head(place)
    change = commit(place, {"a.py": "two\n", "tests/test_a.py": "two\n"}, "Say two (#17)\n\nIt was one.")
    found = read(place, "HEAD")
    assert (found.commit, found.base, found.head, found.number) == (change, base, change, 17)
    assert found.message == "Say two (#17)\n\nIt was one."
    assert found.date == "2024-05-01T10:00:00Z"
    assert "+++ b/a.py" in found.source_patch
    assert "test_a" not in found.source_patch
    assert "+++ b/tests/test_a.py" in found.test_patch
    assert "b/a.py" not in found.test_patch


def test_a_merge_is_what_was_merged(place: Path) -> None:
    """From where the branch began; what happened beside it is not part of the change."""
    base = head(place)
    run_git(place, "checkout", "--quiet", "-b", "side")
    commit(place, {"a.py": "two\n"}, "source")
    side = commit(place, {"tests/test_a.py": "two\n"}, "tests")
    run_git(place, "checkout", "--quiet", "main")
    commit(place, {"b.py": "beside\n", "tests/test_b.py": "beside\n"}, "beside")
    run_git(place, "merge", "--quiet", "--no-ff", "--message=Merge pull request #5 from o/side\n\nTwo", "side")
    found = read(place, "main")
    assert (found.base, found.head, found.number) == (base, side, 5)
    assert "beside" not in found.source_patch + found.test_patch


def test_a_message_without_a_number(place: Path) -> None:
    """Then there is none."""
    commit(place, {"a.py": "two\n", "tests/test_a.py": "two\n"}, "See 17")
    assert read(place, "HEAD").number is None


def test_both_parts_apply_to_the_base(place: Path, tmp_path: Path) -> None:
    """One after the other they make the change: renames, removals, binary files and awkward names included."""
    base = head(place)
    files: dict[str, str | bytes | None] = {
        "old name.py": None,
        "new näme.py": "text\n" * 20,
        "picture.bin": bytes(range(256)),
        "*.py": "a name that looks like a pattern\n",
        "tests/data.bin": bytes(range(255, -1, -1)),
        "tests/test_a.py": "two\n",
        "testing.cfg": "a test by its name\n",
    }
    commit(place, files, "all kinds")
    found = read(place, "HEAD")
    assert "rename" not in found.source_patch
    assert "testing.cfg" in found.test_patch
    run_git(place, "checkout", "--quiet", base)
    for patch in (found.source_patch, found.test_patch):
        run_git(place, "apply", "--index", "-", stdin=patch.encode("utf-8", "surrogateescape"))
    assert run_git(place, "write-tree") == run_git(place, "rev-parse", f"{found.commit}^{{tree}}")


def test_the_users_configuration_changes_nothing(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither prefixes, colours, external programs nor algorithms of theirs."""
    commit(place, {"a.py": "two\n", "tests/test_a.py": "two\n"}, "two")
    before = read(place, "HEAD")
    config = tmp_path / "gitconfig"
    config.write_text("[diff]\n\tnoprefix = true\n\texternal = false\n\tcontext = 0\n[color]\n\tui = always\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert read(place, "HEAD") == before


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.py": "two\n"}, "changes no test; an instance needs a change to the source and to the tests"),
        ({"tests/test_a.py": "two\n"}, "changes no source file"),
    ],
)
def test_a_change_without_one_part(place: Path, files: dict[str, str | bytes | None], words: str) -> None:
    """It is said which."""
    commit(place, files, "half")
    with pytest.raises(UsageError, match=words):
        read(place, "HEAD")


@pytest.mark.parametrize("name", ["nothing", "", "--all", "HEAD:a.py", "-n2"])
def test_a_commit_that_is_none(place: Path, name: str) -> None:
    """Nothing else is taken for one."""
    with pytest.raises(UsageError, match="has no commit"):
        read(place, name)


def test_the_first_commit(place: Path) -> None:
    """It has nothing before it."""
    with pytest.raises(UsageError, match="is the first commit of"):
        read(place, "HEAD")


def test_a_place_that_is_none(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(UsageError, match="is no git repository"):
        read_change("o/n", tmp_path, "HEAD", clones=tmp_path / "clones")


def test_the_repository_is_only_read(place: Path) -> None:
    """Not a byte of it changes."""
    commit(place, {"a.py": "two\n", "tests/test_a.py": "two\n"}, "two")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    read(place, "HEAD")
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
