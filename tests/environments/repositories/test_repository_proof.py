"""Whatever could hold or name later commits is found, and the facts are judged without trusting them."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from made_histories import Rich, make_rich, run_git

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.checkout import check_out
from benchwright.environments.repositories.git import CONFIG
from benchwright.environments.repositories.history import HistoryStore
from benchwright.environments.repositories.proof import judge, prove

Spoil = Callable[[Path, Rich], object]


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    """The source."""
    return make_rich(tmp_path_factory.mktemp("rich") / "source")


@pytest.fixture(scope="module")
def sound(rich: Rich, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository without fault, to be copied."""
    folder = tmp_path_factory.mktemp("sound")
    check_out(HistoryStore(folder=folder / "store").add("o/n", rich.path, [rich.base])[rich.base], folder / "work")
    return folder / "work"


def _write(name: str, text: str = "x\n") -> Spoil:
    def write(work: Path, _: Rich) -> None:
        path = work / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def _config(name: str, value: str) -> Spoil:
    return lambda work, _: run_git(work, "config", name, value)


def _fetch_the_fix(work: Path, rich: Rich) -> None:
    run_git(work, "fetch", "--quiet", "--no-write-fetch-head", "--no-tags", str(rich.path), "later")


def _later_tag(work: Path, rich: Rich) -> None:
    _fetch_the_fix(work, rich)
    run_git(work, "tag", "v9", rich.fix)


def _stash(work: Path, _: Rich) -> None:
    (work / "a.txt").write_text("stashed\n")
    run_git(work, "stash")


def _alternates(work: Path, rich: Rich) -> None:
    (work / ".git/objects/info/alternates").write_text(f"{rich.path}/.git/objects\n")


def _commit_on_top(work: Path, _: Rich) -> None:
    run_git(work, "-c", "core.logAllRefUpdates=false", "commit", "--quiet", "--allow-empty", "--message=x")
    (work / ".git/COMMIT_EDITMSG").unlink()


def _lose_a_pack(work: Path, _: Rich) -> None:
    """A blob of the past is left out of a new pack, which no command that walks commits notices."""
    kept = [
        line.split(" ")[0]
        for line in run_git(work, "rev-list", "--objects", "--all").splitlines()
        if "run.sh" not in line
    ]
    old = list((work / ".git/objects/pack").iterdir())
    run_git(work, "pack-objects", "-q", ".git/objects/pack/pack", stdin="\n".join([*kept, ""]).encode())
    for path in old:
        path.unlink()


SPOILED: dict[str, tuple[Spoil, str]] = {
    "later tag": (_later_tag, r"a ref outside of the past: [0-9a-f]{40} refs/tags/v9"),
    "later objects": (_fetch_the_fix, r"an object outside of the past: [0-9a-f]{40}"),
    "loose object": (
        lambda work, _: run_git(work, "hash-object", "-w", "--stdin", stdin=b"new"),
        "an object outside of the past",
    ),
    "other branch": (lambda work, rich: run_git(work, "branch", "b", rich.before), "a ref outside .* refs/heads/b"),
    "remote branch": (
        lambda work, rich: run_git(work, "update-ref", "refs/remotes/origin/x", rich.base),
        "a ref outside .* refs/remotes/origin/x",
    ),
    "tag of a file": (
        lambda work, rich: run_git(work, "tag", "t", f"{rich.base}:a.txt"),
        "a ref outside of the past: .* refs/tags/t",
    ),
    "notes": (lambda work, _: run_git(work, "notes", "add", "--message=x"), "refs/notes/commits"),
    "replacement": (lambda work, rich: run_git(work, "replace", rich.base, rich.before), "refs/replace/"),
    "stash": (_stash, "refs/stash"),
    "other commit": (
        lambda work, rich: run_git(work, "update-ref", "refs/heads/main", rich.before),
        "HEAD is [0-9a-f]{40}",
    ),
    "commit on top": (_commit_on_top, "HEAD is [0-9a-f]{40}"),
    "other branch name": (
        lambda work, _: run_git(work, "branch", "--move", "main", "trunk"),
        "HEAD is on refs/heads/trunk",
    ),
    "reflog": (_write("logs/HEAD"), "an unexpected file: .git/logs/HEAD"),
    "alternates": (_alternates, "an unexpected file: .git/objects/info/alternates"),
    "hook": (_write("hooks/pre-commit"), "an unexpected file: .git/hooks/pre-commit"),
    "FETCH_HEAD": (_write("FETCH_HEAD"), "an unexpected file: .git/FETCH_HEAD"),
    "ORIG_HEAD": (lambda work, rich: _write("ORIG_HEAD", rich.base + "\n")(work, rich), "ORIG_HEAD"),
    "description": (_write("description"), "an unexpected file: .git/description"),
    "detached HEAD": (lambda work, rich: _write("HEAD", rich.base + "\n")(work, rich), "HEAD is on no branch"),
    "loose ref": (_write("refs/tags/junk"), "file: .git/refs/tags/junk"),
    "odd name": (_write("HEAD\n.git/config"), "not a plain file: .git/HEAD"),
    "grafts": (lambda work, rich: _write("info/grafts", rich.base + "\n")(work, rich), "info/grafts"),
    "commit graph": (lambda work, _: run_git(work, "commit-graph", "write", "--reachable"), "info/commit-graph"),
    "multi-pack index": (lambda work, _: run_git(work, "multi-pack-index", "write"), "pack/multi-pack-index"),
    "linked folder": (
        lambda work, _: (work / ".git/hooks").symlink_to(work),
        "not a plain file: .git/hooks",
    ),
    "remote": (_config("remote.origin.url", "https://example.org/x"), "an unexpected setting: url = https"),
    "included file": (_config("include.path", "../x"), r"an unexpected setting: \[include\]"),
    "hooks path": (_config("core.hooksPath", "/x"), "an unexpected setting: hooksPath = /x"),
    "lost object": (_lose_a_pack, "an object of the past is lacking: [0-9a-f]{40}"),
    "repository inside": (
        lambda work, _: run_git(work / "vendored", "init", "--quiet"),
        "another repository inside: ./vendored/.git",
    ),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_what_could_carry_a_future_is_found(rich: Rich, sound: Path, tmp_path: Path, spoiled: str) -> None:
    """A sound repository that one thing was added to, or taken from, is refused with that thing named."""
    spoil, message = SPOILED[spoiled]
    work = tmp_path / "work"
    shutil.copytree(sound, work, symlinks=True)
    prove(work, rich.base)
    spoil(work, rich)
    with pytest.raises(MachineError, match=message):
        prove(work, rich.base)


def test_a_commit_that_must_be_absent_is_looked_for(rich: Rich, sound: Path) -> None:
    """Its own sentence names it; those that cannot be read are listed in the proof."""
    assert prove(sound, rich.base, absent=[rich.fix, rich.stashed]).absent == (rich.fix, rich.stashed)
    with pytest.raises(MachineError, match=f"a commit that must be absent can be read: {rich.before}"):
        prove(sound, rich.base, absent=[rich.before])


def test_the_proof_counts(rich: Rich, sound: Path) -> None:
    """Commits, objects, tags and packs, as plain data for the build's record."""
    plain = prove(sound, rich.base, absent=[rich.fix]).to_plain()
    assert plain["base"] == plain["head"] == rich.base
    assert (plain["commits"], plain["tags"], plain["packs"]) == (4, 3, 1)
    assert plain["objects"] == int(run_git(sound, "count-objects", "-v").split("in-pack: ")[1].split()[0])
    assert plain["absent"] == [rich.fix]
    assert plain["pack_bytes"] > 0


def test_proving_changes_nothing(rich: Rich, sound: Path) -> None:
    """Not even the index's time."""
    before = {path: path.lstat().st_mtime_ns for path in sound.rglob("*")}
    prove(sound, rich.base)
    assert {path: path.lstat().st_mtime_ns for path in sound.rglob("*")} == before


def test_variables_of_the_caller_do_not_lead_it_elsewhere(
    rich: Rich, sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects that only the caller's environment lends do not count as the repository's."""
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(rich.path / ".git/objects"))
    monkeypatch.setenv("GIT_DIR", str(rich.path / ".git"))
    assert prove(sound, rich.base, absent=[rich.fix]).base == rich.base


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_repository_of_another_user_can_be_proved(rich: Rich, sound: Path, tmp_path: Path) -> None:
    """A sandbox's layers belong to the user who is root inside."""
    shutil.copytree(sound, tmp_path / "work", symlinks=True)
    for path in (tmp_path / "work", *(tmp_path / "work").rglob("*")):
        os.chown(path, 54321, 54321, follow_symlinks=False)
    assert prove(tmp_path / "work", rich.base).base == rich.base


def test_a_folder_without_repository_is_refused(tmp_path: Path) -> None:
    """Also one whose .git is a link or a file, and one without the base."""
    base = "ab" * 20
    with pytest.raises(MachineError, match=r"no \.git folder"):
        prove(tmp_path, base)
    (tmp_path / ".git").symlink_to("/")
    with pytest.raises(MachineError, match=r"no \.git folder"):
        prove(tmp_path, base)
    (tmp_path / ".git").unlink()
    run_git(tmp_path, "init", "--quiet")
    with pytest.raises(MachineError, match="Could not look into the repository"):
        prove(tmp_path, base)


@pytest.mark.parametrize("wrong", ["HEAD", "--all", "abc", "AB" * 20, "ab" * 20 + "\n"])
def test_ids_are_checked(sound: Path, rich: Rich, wrong: str) -> None:
    """They become arguments of git."""
    with pytest.raises(UsageError, match="must be given by its 40 hexadecimal digits"):
        prove(sound, wrong)
    with pytest.raises(UsageError, match="must be given by its 40 hexadecimal digits"):
        prove(sound, rich.base, absent=[wrong])


BASE = "ab" * 20

FACTS = (
    f"branch refs/heads/main\nhead {BASE} {'cd' * 20}\ncommitter c@x\nref {BASE} refs/heads/main\n"
    + "".join(f"config {line}\n" for line in CONFIG.splitlines())
    + "file .git/HEAD\ncommits 2\nobjects 6\nstore count: 0\nstore packs: 1\nstore size-pack: 3\nend\n"
)


def test_facts_are_judged_without_a_repository() -> None:
    """The judgement is a function of the text alone."""
    proof = judge(FACTS.encode(), BASE, name="made")
    assert (proof.objects, proof.packs, proof.pack_bytes, proof.tags) == (6, 1, 3072, 0)


@pytest.mark.parametrize("cut", range(1, FACTS.count("\n") + 1))
def test_facts_that_break_off_prove_nothing(cut: int) -> None:
    """A script that died half-way is no witness."""
    output = "".join(FACTS.splitlines(keepends=True)[:-cut])
    with pytest.raises(MachineError, match="are not complete"):
        judge(output.encode(), BASE, name="made")


@pytest.mark.parametrize(
    "line", [b"surprise", b"\xff\xfe", b"fault no .git folder", b"file .git/HEAD\nx/.git/HEAD", b"unreached 12"]
)
def test_unknown_or_faulty_lines_prove_nothing(line: bytes) -> None:
    """Whatever else the output says."""
    with pytest.raises(MachineError, match=r"cannot be read|holds more or less"):
        judge(line + b"\n" + FACTS.encode(), BASE, name="made")
