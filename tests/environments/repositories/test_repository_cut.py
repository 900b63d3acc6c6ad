"""Repositories in images, which carry later history, are cut in place."""

import subprocess
from pathlib import Path

import pytest
from made_histories import Rich, make_rich, reach, read_objects, run_git

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.repositories import WORK
from benchwright.environments.repositories.cut import check_cut, cut_command, cut_commands
from benchwright.environments.repositories.proof import HistoryProof, facts_command, prove

SETUP = {"GIT_COMMITTER_EMAIL": "setup@swebench.config"}


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    """What the image's maker cloned; a tag that is a file and the stash are not in clones, all else is."""
    rich = make_rich(tmp_path_factory.mktemp("rich") / "source")
    run_git(rich.path, "replace", "--delete", rich.base)
    return rich


@pytest.fixture
def image(rich: Rich, tmp_path: Path) -> Path:
    """A working tree as in SWE-bench's images: a clone, set back to the base, its remote removed."""
    work = tmp_path / "testbed"
    run_git(tmp_path, "clone", "--quiet", "-o", "origin", rich.path.as_uri(), "testbed")
    run_git(work, "reset", "--quiet", "--hard", rich.base)
    run_git(work, "remote", "remove", "origin")
    assert run_git(work, "cat-file", "-t", rich.fix) == "commit"  # by reflog, ORIG_HEAD, a tag and in the pack
    (work / "untracked.txt").write_text("built by the set-up\n")
    return work


def cut(work: Path, base: str, absent: tuple[str, ...] = ()) -> HistoryProof:
    """Run the commands as a container would, in a plain environment, and check their output."""
    output = b""
    for command in cut_commands(base, absent=absent, work=str(work)):
        done = subprocess.run(command, capture_output=True, env={"PATH": "/usr/local/bin:/usr/bin:/bin"})
        assert done.returncode == 0, done.stderr
        output = done.stdout
    return check_cut(output, base, absent=absent, name="image")


def state(work: Path) -> dict[str, tuple[int, int, bytes]]:
    """Files of the working tree with times, modes and contents."""
    paths = [path for path in work.rglob("*") if ".git" not in path.parts and not path.is_dir()]
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode, b"" if path.is_symlink() else path.read_bytes())
        for path in paths
    }


def test_an_image_carries_history_until_it_is_cut(rich: Rich, image: Path) -> None:
    """The check refuses before the cut and accepts after it; the files stay as they were."""
    output = subprocess.run(facts_command(rich.base, [rich.fix], work=str(image)), capture_output=True).stdout
    with pytest.raises(MachineError) as caught:
        check_cut(output, rich.base, absent=[rich.fix], name="image")
    for part in (".git/logs/HEAD", "refs/tags/v2", "refs/tags/v1.5-unmerged", f"can be read: {rich.fix}"):
        assert part in str(caught.value)
    before = state(image)
    proof = cut(image, rich.base, (rich.fix,))
    assert (proof.head, proof.commits, proof.tags) == (rich.base, 4, 3)
    assert state(image) == before
    assert read_objects(image).keys() == reach(read_objects(rich.path), [rich.base, *rich.merged_tags.values()])
    assert run_git(image, "status", "--porcelain") == "?? untracked.txt"
    assert run_git(image, "describe").startswith("v1-")
    assert [path.name for path in image.iterdir() if path.name.startswith(".git")] == [".git"]


def test_a_set_up_commit_is_kept(rich: Rich, image: Path) -> None:
    """Newer images commit what their set-up changed; files would show as changed without it."""
    (image / "a.txt").write_text("set up\n")
    run_git(image, "commit", "--quiet", "--all", "--message=SWE-bench", environ=SETUP)
    head = run_git(image, "rev-parse", "HEAD")
    proof = cut(image, rich.base, (rich.fix,))
    assert (proof.head, proof.commits) == (head, 5)
    assert run_git(image, "status", "--porcelain") == "?? untracked.txt"
    with pytest.raises(MachineError, match=f"HEAD is {head}"):
        prove(image, rich.base)


def test_somebody_elses_commit_on_top_is_refused(rich: Rich, image: Path) -> None:
    """The fix itself has the base as its parent too."""
    run_git(image, "reset", "--quiet", "--hard", rich.fix)
    with pytest.raises(MachineError, match="neither the base nor one commit of SWE-bench's set-up"):
        cut(image, rich.base)


def test_an_image_at_another_commit_is_left_alone(rich: Rich, image: Path) -> None:
    """The cut says what it met, and changes nothing."""
    run_git(image, "reset", "--quiet", "--hard", "refs/tags/v1.5-unmerged")
    done = subprocess.run(cut_command(rich.base, work=str(image)), capture_output=True, text=True)
    assert done.returncode == 3
    assert f"which is neither {rich.base} nor one commit on top of it" in done.stderr
    assert run_git(image, "rev-parse", "refs/tags/v2")


def test_a_cut_that_fails_changes_nothing(rich: Rich, image: Path) -> None:
    """An image whose repository is itself incomplete keeps it, and the status tells."""
    for pack in (image / ".git/objects/pack").glob("*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes()[:60])
    before = {str(path) for path in image.rglob("*")}
    done = subprocess.run(cut_command(rich.base, work=str(image)), capture_output=True)
    assert done.returncode != 0
    assert {str(path) for path in image.rglob("*")} == before


def test_changed_modes_and_files_stay_uncommitted_changes(rich: Rich, image: Path) -> None:
    """SWE-bench's set-up opens all modes and edits files without committing; git's view of that stays the same."""
    for path in image.rglob("*"):
        if ".git" not in path.parts and not path.is_symlink():
            path.chmod(0o777)
    (image / "side.txt").write_text("edited by the set-up\n")
    before = run_git(image, "status", "--porcelain")
    assert "M side.txt" in before
    cut(image, rich.base)
    assert run_git(image, "status", "--porcelain") == before
    run_git(image, "config", "core.fileMode", "false")
    before = run_git(image, "status", "--porcelain")
    cut(image, rich.base)
    assert run_git(image, "status", "--porcelain") == before


def test_repositories_inside_go_too(rich: Rich, image: Path) -> None:
    """A submodule that the set-up checked out keeps its files and loses its history."""
    (image / ".git/modules").mkdir()
    run_git(image / "vendored", "init", "--quiet", "--separate-git-dir", str(image / ".git/modules/vendored"))
    (image / "vendored/file").write_text("x")
    (image / "src/other").mkdir(parents=True)
    run_git(image / "src/other", "init", "--quiet")
    cut(image, rich.base)
    assert [path.name for path in (image / "vendored").iterdir()] == ["file"]
    assert not (image / "src/other/.git").exists()


def test_cutting_twice_is_cutting_once(rich: Rich, image: Path) -> None:
    """A container that is started again is cut again."""
    assert cut(image, rich.base) == cut(image, rich.base)


def test_every_leftover_goes(rich: Rich, image: Path) -> None:
    """Stash, notes, replacements, hooks, worktrees, staged files, alternates, configuration."""
    (image / "a.txt").write_text("stashed\n")
    run_git(image, "stash")
    run_git(image, "notes", "add", "--message=x")
    run_git(image, "worktree", "add", "--quiet", "--detach", str(image.parent / "other"), rich.fix)
    (image / "staged.txt").write_text("staged\n")
    run_git(image, "add", "staged.txt")
    run_git(image, "config", "core.hooksPath", "/x")
    run_git(image, "commit-graph", "write", "--reachable")
    (image / ".git/objects/info/alternates").write_text(f"{rich.path}/.git/objects\n")
    run_git(image, "replace", rich.base, rich.before)
    cut(image, rich.base, (rich.fix, rich.stashed))
    assert (image / "staged.txt").read_text() == "staged\n"


def test_commands_are_for_the_place_in_the_sandbox() -> None:
    """And ids become arguments of a shell script, so they are checked."""
    commands = cut_commands("ab" * 20, absent=["cd" * 20])
    assert [command[0] for command in commands] == ["sh", "sh"]
    assert all(WORK in command for command in commands)
    with pytest.raises(UsageError, match="40 hexadecimal digits"):
        cut_commands("$(reboot)")
