"""The patch of what an agent leaves: applied as grading does, it gives the agent's tree, whatever the agent did."""

import os
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_histories import run_git
from made_trees import Start, Tree, archived_tree, packed, read, start, tree, write

from benchwright.answers.patches import PatchAnswer, read_patch, unsafe, variants
from benchwright.core.agents import Submission
from benchwright.core.errors import SandboxFault
from benchwright.environments.repositories import submission
from benchwright.environments.repositories.base_tree import FILE, LINK, PROGRAM
from benchwright.environments.repositories.submission import IGNORED, LISTED, MADE_BY_SET_UP, make_submission


def submitted(begin: Start, end: Tree, *, include_ignored: bool = False) -> Submission:
    """The submission of an end tree."""
    return make_submission(begin.base, packed(end), include_ignored=include_ignored)


def applied(begin: Start, patch: str) -> Tree:
    """The start tree with a patch, read and applied as grading does both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(begin.files, folder)
        if patch:
            answer = read_patch(patch)
            assert isinstance(answer, PatchAnswer), answer
            assert not unsafe(answer)
            apply(folder, variants(answer)[0][1])
        return read(folder)


def apply(folder: Path, patch: str) -> None:
    """What grading runs in its workspace."""
    command = ["git", "apply", "-p1", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=folder, input=patch.encode("utf-8", "surrogateescape"), capture_output=True)
    assert done.returncode == 0, done.stderr


def why_left_out(result: Submission) -> dict[str, str]:
    """Reasons by path."""
    return {item.path: item.why for item in result.left_out}


PATHS = (
    *("a.py", "b c.txt", "d", "d/x", "d/y/z", "d/y w", 'quo"te', "back\\slash", "ü/é.txt", "\udcff\udcfe.txt", "-dash"),
    *(":colon", "a/b/a b.txt", "trailing ", "*.star", "dev/null", "a/d", "b/d"),
)
PIECES = (
    *(
        b"a\n",
        b"b\n",
        b"\n",
        b"a\r\n",
        b"--- a/x\n",
        b"+++ b/x\n",
        b"diff --git a/x b/x\n",
        b"```\n",
        b"-- \n",
        b"@@\n",
    ),
    *(
        b"\xff\xfe\n",
        b"\xc3\xa9\n",
        b"\xed\xa0\x80\n",
        b"x",
        b"\r",
        b"\0",
        b"long " * 2000,
        b"GIT binary patch\n",
        b"\\ No\n",
    ),
    b"\xef\xbb\xbf",
)
TARGETS = (b"a.py", b"no/where", b"./n", b"\xff", b"a b")


def contents() -> st.SearchStrategy[bytes]:
    """Texts with all kinds of line ends and lines that look like a patch's, and binary files."""
    return st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join)


@st.composite
def entries(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file or link."""
    mode = draw(st.sampled_from([FILE, FILE, PROGRAM, LINK]))
    return mode, draw(st.sampled_from(TARGETS)) if mode == LINK else draw(contents())


def fitted(files: Tree) -> Tree:
    """Without what is below a file."""
    return {path: entry for path, entry in files.items() if not any(path.startswith(f"{other}/") for other in files)}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """Two trees that have much in common."""
    begin = fitted(draw(st.dictionaries(st.sampled_from(PATHS), entries(), max_size=8)))
    fresh = draw(st.dictionaries(st.sampled_from(PATHS), entries(), max_size=5))
    kept = {path: entry for path, entry in begin.items() if draw(st.booleans())}
    for path, (mode, content) in list(kept.items()):
        if mode != LINK and draw(st.booleans()):
            kept[path] = draw(st.sampled_from([FILE, PROGRAM])), draw(contents()) + content
    end = fitted({**kept, **fresh})
    folders = {path.rpartition("/")[0] for path in begin} | {"d"}
    return begin, {path: one for path, one in end.items() if one[0] != LINK or path not in folders}


@settings(max_examples=60, deadline=None)
@given(pairs())
def test_the_patch_gives_the_end_tree(trees: tuple[Tree, Tree]) -> None:
    """Byte for byte and mode for mode: texts, binary files, links, odd names, files in place of folders."""
    with tempfile.TemporaryDirectory() as name:
        begin = start(Path(name), trees[0])
        result = submitted(begin, trees[1])
        assert result.left_out == ()
        assert applied(begin, result.patch) == trees[1]
        assert bool(result.patch) == (trees[0] != trees[1])


def test_git_itself_applies_it_to_a_checkout(tmp_path: Path) -> None:
    """In a repository with attributes of its own: CRLF and binary files come through."""
    files = tree(
        **{".gitattributes": "* text=auto\n*.py diff=python\n", "crlf.txt": "a\r\nb\r\n", "m.py": "def f():\n"}
    )
    begin = start(tmp_path, files)
    end: Tree = {
        **files,
        "crlf.txt": (FILE, b"a\r\nB\r\n"),
        "new.txt": (FILE, b"x\r\ny\n"),
        "m.py": (PROGRAM, b"def g():\n"),
        "late": (FILE, b"text\n" * 3000 + b"\0"),
    }
    work = tmp_path / "work"
    work.mkdir()
    run_git(work, "init", "--quiet")
    write(files, work)
    run_git(work, "add", "--all")
    run_git(work, "commit", "--quiet", "--message=base")
    apply(work, submitted(begin, end).patch)
    assert read(work) == end


def test_nothing_changed(tmp_path: Path) -> None:
    """Then there is no patch, and nothing is listed."""
    begin = start(tmp_path, tree(a="1", b__c="2"), tree(build__x="3"))
    assert submitted(begin, begin.files) == Submission(patch="")


def test_a_deleted_repository(tmp_path: Path) -> None:
    """An empty archive removes every file of the base commit."""
    begin = start(tmp_path, tree(a="1", b__c="2"))
    assert applied(begin, submitted(begin, {}).patch) == {}


def test_a_reference_change_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """Applying a patch of git's and submitting the tree gives the same patch."""
    files = tree(**{"pkg/a.py": "".join(f"line {n}\n" for n in range(40)), "pkg/b.py": "b\n"})
    begin = start(tmp_path, files)
    work = tmp_path / "work"
    work.mkdir()
    run_git(work, "init", "--quiet")
    write(files, work)
    run_git(work, "add", "--all")
    run_git(work, "commit", "--quiet", "--message=base")
    (work / "pkg/a.py").write_text("".join(f"line {n}\n" for n in range(40) if n != 7))
    (work / "pkg/b.py").unlink()
    reference = run_git(work, "diff", "--binary", "--full-index", "HEAD") + "\n"
    assert submitted(begin, read(work)).patch == reference


IGNORING = {".gitignore": "*.log\n/build/\n!kept.log\n", "sub/.gitignore": "*.tmp\n", "old.log": "base\n"}


def test_ignored_new_files_are_left_out_and_listed(tmp_path: Path) -> None:
    """By the files of the final tree, at every depth; a file of the base commit is never ignored."""
    begin = start(tmp_path, tree(**IGNORING))
    added = tree(
        **{
            "new.log": "", "kept.log": "", "build/lib/x.py": "", "src/build/x.py": "", "a.tmp": "", "sub/b.tmp": "",
            "sub/deep/c.tmp": "", ":odd.log": "", "a b/ü.log": "", "fresh/.gitignore": "secret\n", "fresh/secret": "",
        }
    )  # fmt: skip
    end: Tree = {**begin.files, **added, "old.log": (FILE, b"changed\n")}
    result = submitted(begin, end)
    ignored = {"new.log", "build/lib/x.py", "sub/b.tmp", "sub/deep/c.tmp", ":odd.log", "a b/ü.log", "fresh/secret"}
    assert why_left_out(result) == dict.fromkeys(ignored, IGNORED)
    assert applied(begin, result.patch) == {path: one for path, one in end.items() if path not in ignored}
    everything = submitted(begin, end, include_ignored=True)
    assert everything.left_out == ()
    assert applied(begin, everything.patch) == end


def test_a_base_file_that_was_absent_is_not_ignored(tmp_path: Path) -> None:
    """The base commit has it, and set-up had removed it."""
    archive = tmp_path / "start.tar"
    archive.write_bytes(packed(tree(**IGNORING)).getvalue())
    base = archived_tree(archive, tracked={*IGNORING, "gone.log"})
    result = make_submission(base, packed({**tree(**IGNORING), **tree(**{"gone.log": "back\n"})}))
    assert "+back" in result.patch
    assert result.left_out == ()


def test_the_users_git_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither configuration nor ignore and attribute files of the home folder, nor git's variables."""
    settings_folder = tmp_path / "home" / ".config" / "git"
    settings_folder.mkdir(parents=True)
    (settings_folder / "ignore").write_text("*.py\n")
    (settings_folder / "attributes").write_text("* -diff\n")
    (tmp_path / "home" / ".gitconfig").write_text("[diff]\n\tnoprefix = true\n\texternal = false\n\tcontext = 0\n")
    begin = start(tmp_path, tree(a="1\n2\n3\n"))
    end = {**tree(a="1\n2\n"), **tree(**{"b.py": "x\n"})}
    expected = submitted(begin, end)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert submitted(begin, end) == expected
    assert expected.left_out == ()


def test_attributes_of_the_tree_have_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent cannot have files shown in another way, nor can those of the folder this runs in."""
    begin = start(tmp_path, tree(a="1\n"))
    end = tree(**{"a": "2\n", ".gitattributes": "* -diff diff=x filter=x\n"})
    (tmp_path / ".gitattributes").write_text("* -diff\n")
    monkeypatch.chdir(tmp_path)
    assert "-1\n+2\n" in submitted(begin, end).patch


def test_a_folder_whose_name_ends_in_white_space_is_left_out(tmp_path: Path) -> None:
    """Git prints headers of empty files in it that it cannot read; one such file must not spoil the patch."""
    begin = start(tmp_path, tree(**{"a.txt": "1\n"}))
    end: Tree = {**tree(**{"a.txt": "2\n"}), "odd /empty": (FILE, b"")}
    result = submitted(begin, end)
    assert applied(begin, result.patch) == tree(**{"a.txt": "2\n"})
    assert list(why_left_out(result)) == ["odd /empty"]


def test_what_set_up_made_is_left_out(tmp_path: Path) -> None:
    """Unchanged it is not worth a word; changed or removed it is listed."""
    begin = start(tmp_path, tree(a="1"), tree(egg__info="2", egg__same="3", egg__gone="4", lib="5"))
    end = {**tree(a="1", egg__info="changed", egg__same="3", lib__x="in a folder")}
    result = submitted(begin, end)
    assert why_left_out(result) == {
        "egg/info": MADE_BY_SET_UP,
        "egg/gone": MADE_BY_SET_UP,
        "lib": MADE_BY_SET_UP,
        "lib/x": "in the place of something that stays",
    }
    assert result.patch == ""


def test_files_touched_by_set_up_are_changed_ones_when_written_again(tmp_path: Path) -> None:
    """Their content is not looked at, only size and time."""
    begin = start(tmp_path, tree(a="1"), tree(egg="2"))
    later = make_submission(begin.base, packed(begin.files, seconds=946_684_801))
    assert (later.patch, why_left_out(later)) == ("", {"egg": MADE_BY_SET_UP})


REFUSED: dict[str, tuple[Tree, dict[str, str]]] = {
    "names with control characters": (
        {"new\nline": (FILE, b""), "\ttab": (FILE, b"")},
        dict.fromkeys(["new\nline", "\ttab"], "its name holds a control character"),
    ),
    "a repository inside": (
        {"inner/.git/config": (FILE, b""), "inner/.git/HEAD": (FILE, b""), "module/.git": (FILE, b"gitdir: x")},
        {"inner/.git": "in a .git folder", "module/.git": "in a .git folder"},
    ),
    "names that some file system takes for .git": (
        {"x/.GIT/a": (FILE, b""), "GIT~1": (FILE, b""), ".g\u200cit": (FILE, b""), ".git::$INDEX": (FILE, b"")},
        dict.fromkeys(["x/.GIT", "GIT~1", ".g\u200cit", ".git::$INDEX"], "in a .git folder"),
    ),
    "links that lead out": (
        {"abs": (LINK, b"/etc/passwd"), "up": (LINK, b"../x"), "d/up": (LINK, b"../../x"), "d/down": (LINK, b"a/../b")},
        dict.fromkeys(["abs", "up", "d/up", "d/down"], "a link that can leave the repository"),
    ),
    "links into git": (
        {"one": (LINK, b".git/config"), ".gitmodules": (LINK, b"x")},
        dict.fromkeys(["one", ".gitmodules"], "a link that git refuses"),
    ),
    "a link with a newline": ({"one": (LINK, b"a\nb")}, {"one": "a link whose target holds a control character"}),
    "a path without end": ({"p/" * 600 + "x": (FILE, b"")}, {"p/" * 600 + "x": "its path has more than 1024 bytes"}),
}


@pytest.mark.parametrize(("added", "reasons"), REFUSED.values(), ids=REFUSED)
def test_what_grading_refuses_does_not_spoil_the_rest(tmp_path: Path, added: Tree, reasons: dict[str, str]) -> None:
    """One such file would have the whole patch refused; it is left out, and listed."""
    begin = start(tmp_path, tree(a="1\n"))
    result = submitted(begin, {**tree(a="2\n"), "inner/code.py": (FILE, b"x\n"), "ok": (LINK, b"a"), **added})
    assert why_left_out(result) == reasons
    assert applied(begin, result.patch) == {**tree(a="2\n"), "inner/code.py": (FILE, b"x\n"), "ok": (LINK, b"a")}


def test_a_link_in_place_of_a_folder(tmp_path: Path) -> None:
    """Grading refuses files below a link of the same patch, so the folder stays."""
    begin = start(tmp_path, tree(d__x="1", a="2"))
    result = submitted(begin, {**tree(moved__x="1", a="2"), "d": (LINK, b"moved")})
    assert why_left_out(result) == {
        "d": "in the place of something that stays",
        "d/x": "a link took the place of its folder",
    }
    assert applied(begin, result.patch) == tree(d__x="1", moved__x="1", a="2")


def test_what_is_no_file(tmp_path: Path) -> None:
    """Devices and pipes are listed; where a file was, it is gone."""
    begin = start(tmp_path, tree(a="1", b="2"))
    pipe = tarfile.TarInfo("b")
    pipe.type = tarfile.FIFOTYPE
    result = make_submission(begin.base, packed(tree(a="1"), others=[pipe]))
    assert why_left_out(result) == {"b": "no regular file"}
    assert applied(begin, result.patch) == tree(a="1")


def test_large_files_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of the base that has grown; its neighbours come through."""
    monkeypatch.setattr(submission, "MOST_FILE_BYTES", 1000)
    begin = start(tmp_path, tree(a="1", b="2"))
    result = submitted(begin, tree(a="x" * 1001, b="x" * 1000, c="x" * 1001))
    assert why_left_out(result) == {"a": "larger than 0 MiB", "c": "larger than 0 MiB"}
    assert applied(begin, result.patch) == tree(a="1", b="x" * 1000)


def test_the_largest_new_files_are_left_out_when_all_are_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes the base comes first, then what is small."""
    monkeypatch.setattr(submission, "MOST_PATCH_BYTES", 20_000)
    begin = start(tmp_path, tree(z="1\n" * 5000))
    files = {f"a{number}": "x" * 1000 for number in range(20)}
    result = submitted(begin, tree(z="1\n" * 4999, aa="y" * 5000, small="x", **files))
    reasons = why_left_out(result)
    assert "z" in reasons
    assert "aa" in reasons
    assert "small" not in reasons
    assert len(result.patch) < 20_000
    assert applied(begin, result.patch).keys() | reasons.keys() == {"z", "aa", "small", *files}


def test_costs_are_never_too_low(tmp_path: Path) -> None:
    """Not for one-byte lines with changes all over, nor for what cannot be compressed."""
    noise = bytes((number * number * 7 + number // 3) % 251 for number in range(40_000))
    lines = b"def a_function_with_a_rather_long_name_so_that_headers_of_hunks_are_long(one, two, three):\n"
    before = lines + b"x\n" * 40_000
    after = lines + b"".join(b"y\n" if number % 8 == 0 else b"x\n" for number in range(40_000))
    for old, new in ((before, after), (noise, b"\0" + noise[::-1]), (b"", before), (before, b"")):
        begin = start(tmp_path, {"a": (FILE, old)})
        patch = submitted(begin, {"a": (FILE, new)}).patch
        assert len(patch) <= submission._cost("a", old, new)


def test_too_many_new_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is counted, and what changes the base comes through."""
    monkeypatch.setattr(submission, "MOST_NEW_FILES", 10)
    begin = start(tmp_path, tree(z="1"))
    result = submitted(begin, tree(z="2", **{f"n{number:04}": "" for number in range(LISTED + 20)}))
    assert len(applied(begin, result.patch)) == 11
    assert (len(result.left_out), result.left_out_more) == (LISTED, 10)
    assert {item.why for item in result.left_out} == {"there are more than 10 new files"}


def test_files_beyond_those_that_are_read_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files there are, those of the start tree are looked at."""
    begin = start(tmp_path, tree(z="1"), tree(zz="1"))
    end = {**{f"n{number}": (FILE, b"") for number in range(50)}, **tree(z="2", zz="1")}
    monkeypatch.setattr(submission, "read_archive", lambda tree, *, wanted: ORIGINAL(tree, wanted=wanted, most=10))
    result = submitted(begin, end)
    assert (len(applied(begin, result.patch)), result.left_out, result.left_out_more) == (12, (), 40)


ORIGINAL = submission.read_archive


def test_compiled_files_are_listed_last(tmp_path: Path) -> None:
    """A test run leaves hundreds of them, which nobody looks for."""
    begin = start(tmp_path, tree(**{".gitignore": "*.pyc\n*.so\n"}))
    compiled = {f"__pycache__/{number}.pyc": (FILE, b"") for number in range(LISTED)}
    result = submitted(begin, {**begin.files, **compiled, "z.so": (FILE, b"")})
    assert (result.left_out[0].path, len(result.left_out), result.left_out_more) == ("z.so", LISTED, 1)


def test_patterns_that_take_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git is given up, and the tree is submitted as if nothing were ignored."""
    monkeypatch.setattr(submission, "GIT_SECONDS", 1e-6)
    begin = start(tmp_path, tree(a="1"))
    repository = submission._Repository(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        repository.ignored(["b"], {".gitignore": b"b"})
    left = submission._LeftOut()
    end = tree(a="1", b="2")
    read_end = submission.read_archive(packed(end), wanted=())
    change = submission._Change("b", None, read_end.files["b"])
    (tmp_path / "second").mkdir()
    again = submission._Repository(tmp_path / "second")
    kept = submission._without_ignored([change], begin.base, (read_end, packed(end)), again, left)
    assert kept == [change]
    assert list(left.reasons) == [".gitignore"]


def test_lines_that_take_too_long_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such files are submitted as binary ones, which takes no comparing."""
    git = submission._Repository._git

    def slow(self: submission._Repository, *arguments: str, attributes: str = os.devnull, **more: Any) -> bytes:
        if arguments[0] == "diff-tree" and attributes == os.devnull:
            raise subprocess.TimeoutExpired("git", 1)
        return git(self, *arguments, attributes=attributes, **more)

    monkeypatch.setattr(submission._Repository, "_git", slow)
    begin = start(tmp_path, tree(a="1\n"))
    result = submitted(begin, tree(a="2\n"))
    assert "GIT binary patch" in result.patch
    assert applied(begin, result.patch) == tree(a="2\n")


def test_a_link_in_the_archive_is_never_followed(tmp_path: Path) -> None:
    """Not even where a .gitignore lies behind one, or is one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    begin = start(tmp_path, tree(a="1"))
    end: Tree = {
        **tree(a="1"),
        "link": (LINK, str(outside).encode()),
        "d/.gitignore": (LINK, str(outside / "x").encode()),
    }
    forged = packed(end)
    with tarfile.open(fileobj=forged, mode="a") as archive:
        member = tarfile.TarInfo("link/.gitignore")
        archive.addfile(member)
    forged.seek(0)
    make_submission(begin.base, forged)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("cut", [0, 100, 700, 1536])
def test_an_archive_that_breaks_off(tmp_path: Path, cut: int) -> None:
    """It is our fault, and must not look like removed files."""
    begin = start(tmp_path, tree(a="x" * 600))
    archive = packed(tree(a="x" * 600))
    archive.truncate(cut)
    with pytest.raises(SandboxFault, match="archive"):
        make_submission(begin.base, archive)


def test_commits_of_the_agent_are_not_looked_at(tmp_path: Path) -> None:
    """A .git at the top, should the sandbox hand it out, is no part of the tree."""
    begin = start(tmp_path, tree(a="1"))
    end: Tree = {**tree(a="2"), ".git/info/exclude": (FILE, b"*\n"), ".git/config": (FILE, b"[core]\n")}
    assert submitted(begin, end) == submitted(begin, tree(a="2"))
