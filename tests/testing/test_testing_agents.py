"""Scripted turns give the change that they were made of: with git, and with simple models of the two other tools."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.answers.v4a import apply_v4a, parse_v4a
from benchwright.core.repositories import WORK
from benchwright.testing.agents import SUBMIT, Turn, by_bash, by_editor, by_patch_tool, call

Files = Mapping[str, str]
NUMBERED = "".join(f"line {number}\n" for number in range(30))
CASES: dict[str, tuple[Files, Files]] = {
    "one line": ({"a.py": NUMBERED}, {"a.py": NUMBERED.replace("line 7\n", "another\n")}),
    "two hunks": ({"a.py": NUMBERED}, {"a.py": NUMBERED.replace("line 2\n", "").replace("line 25\n", "l\nm\n")}),
    "at both ends": ({"a.py": NUMBERED}, {"a.py": f"first\n{NUMBERED}last\n"}),
    "new file": ({}, {"folder/new.py": "one\n\ntwo\n"}),
    "new empty file": ({}, {"folder/__init__.py": ""}),
    "several files": ({"a": "1\n", "b": "2\n"}, {"a": "3\n", "b": "4\n", "c": "5\n"}),
    "lines that look like headers": ({"a": "1\n-- a/x\n++ b/x\n"}, {"a": "2\n-- a/y\n++ b/y\n@@ -1 +1 @@\n"}),
    "line ends of old Macs and others": (
        {"a": "1\x0b2\x0c3\u20284\u2029\x85\n"},
        {"a": "1\x0b2\x0c5\u20284\u2029\x85\n"},
    ),
    "empty lines": ({"a": "\n\n1\n\n\n"}, {"a": "\n\n2\n\n\n"}),
    "a path with blanks": ({"a b/c b/d": "1\n"}, {"a b/c b/d": "2\n"}),
    "a path with quotes": ({'caf\u00e9 "x"': "1\n"}, {'caf\u00e9 "x"': "2\n"}),
    "no line end before and after": ({"a": "1\n2"}, {"a": "0\n2"}),
}
LINE_ENDS: dict[str, tuple[Files, Files]] = {
    "no line end in a new file": ({}, {"a": "1\n2"}),
    "the last line gets its end": ({"a": "1\n2"}, {"a": "1\n2\n"}),
    "the last line loses its end": ({"a": "1\n2\n"}, {"a": "1\n2"}),
}
REMOVED = ({"a": "1\n", "b": "2\n"}, {"b": "3\n"})
MOVED = ({"a": NUMBERED, "b": "2\n"}, {"c": NUMBERED.replace("line 7\n", "another\n"), "b": "2\n"})


@pytest.fixture
def patch_of(tmp_path: Path) -> Callable[[Files, Files], str]:
    """What git prints for a difference."""
    return lambda before, after: difference(tmp_path, before, after)


def git(folder: Path, *arguments: str) -> bytes:
    """Run git in a repository."""
    command = ["git", "-C", str(folder), "-c", "core.autocrlf=false", "-c", "user.name=n", "-c", "user.email=e@e"]
    return subprocess.run([*command, *arguments], check=True, stdout=subprocess.PIPE).stdout


def commit(folder: Path, files: Files) -> None:
    """A new repository that holds files and no others."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    write(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=begin")


def write(folder: Path, files: Files) -> None:
    """Make files and their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def difference(folder: Path, before: Files, after: Files) -> str:
    """What git prints for the difference."""
    repository = folder / f"repository-{len(list(folder.iterdir()))}"
    commit(repository, before)
    for name in before.keys() - after.keys():
        (repository / name).unlink()
    write(repository, after)
    git(repository, "add", "--all")
    return git(repository, "diff", "--cached", "--binary").decode()


def edited(turns: list[Turn], before: Files) -> Files:
    """What a simple editor makes of files."""
    files = dict(before)
    assert turns[-1] == SUBMIT
    for turn in turns[:-1]:
        (made,) = turn["calls"]
        arguments = made["arguments"]
        path = arguments["path"].removeprefix(f"{WORK}/")
        if arguments["command"] == "create":
            files[path] = arguments["file_text"]
            continue
        assert files[path].count(arguments["old_str"]) == 1, arguments
        files[path] = files[path].replace(arguments["old_str"], arguments["new_str"])
    return files


def patched(turns: list[Turn], before: Files) -> Files:
    """What ``apply_patch`` makes of files."""
    (made,) = turns[0]["calls"]
    assert turns[1:] == [SUBMIT]
    held = {name: text.encode() for name, text in before.items()}
    for change in apply_v4a(parse_v4a(made["arguments"]["patch"]), held.get):
        if change.content is None:
            held.pop(change.path, None)
        else:
            held[change.path] = change.content
    return {name: content.decode() for name, content in held.items()}


def applied(turns: list[Turn], before: Files, folder: Path) -> Files:
    """What bash makes of files in a repository."""
    commit(folder, before)
    (made,) = turns[0]["calls"]
    command = made["arguments"]["command"].replace(WORK, str(folder), 1)
    subprocess.run(["bash", "-c", command], check=True)
    found = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes().decode() for path in found}


@pytest.mark.parametrize("name", [*CASES, *LINE_ENDS])
def test_bash_gives_the_change(patch_of: Callable[[Files, Files], str], tmp_path: Path, name: str) -> None:
    """Git takes what it has printed, also when its last line end was lost on the way."""
    before, after = (CASES | LINE_ENDS)[name]
    patch = patch_of(before, after)
    assert applied(by_bash(patch), before, tmp_path / "a") == after
    if not patch.endswith("file\n"):
        assert applied(by_bash(patch.removesuffix("\n")), before, tmp_path / "b") == after


@pytest.mark.parametrize("name", [*CASES, *LINE_ENDS])
def test_the_editor_gives_the_change(patch_of: Callable[[Files, Files], str], name: str) -> None:
    """Every hunk is found once and replaced, every new file made."""
    before, after = (CASES | LINE_ENDS)[name]
    assert edited(by_editor(patch_of(before, after)), before) == after


@pytest.mark.parametrize("name", CASES)
def test_the_patch_tool_gives_the_change(patch_of: Callable[[Files, Files], str], name: str) -> None:
    """In one call."""
    before, after = CASES[name]
    assert patched(by_patch_tool(patch_of(before, after)), before) == after


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_lines_is_given_by_each_tool(data: st.DataObject, tmp_path: Path) -> None:
    """Lines that are all different are removed, replaced and added anywhere; the tools agree with git."""
    count = data.draw(st.integers(1, 40))
    old = [f"<{number}>" for number in range(count)]
    changes = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, 2), st.booleans()), min_size=1))
    new = list(old)
    for place, added, kept in changes:
        new[place] = "\n".join([*([old[place]] if kept else []), *(f"<{place}+{more}>" for more in range(added))])
    before = {"a": "".join(f"{line}\n" for line in old)}
    after = {"a": "".join(f"{line}\n" for line in new if line)}
    if before == after:
        return
    patch = difference(tmp_path, before, after)
    assert edited(by_editor(patch), before) == after
    assert patched(by_patch_tool(patch), before) == after


def test_carriage_returns_stay(patch_of: Callable[[Files, Files], str], tmp_path: Path) -> None:
    """A file with line ends of Windows keeps them."""
    before, after = {"a": "1\r\n2\r\n3\r\n"}, {"a": "1\r\n4\r\n3\r\n"}
    patch = patch_of(before, after)
    assert applied(by_bash(patch), before, tmp_path / "a") == after
    assert edited(by_editor(patch), before) == after
    assert patched(by_patch_tool(patch), before) == after


def test_files_are_removed_by_bash_and_patches(patch_of: Callable[[Files, Files], str], tmp_path: Path) -> None:
    """And moved; an editor can do neither, and says so."""
    for number, (before, after) in enumerate((REMOVED, MOVED)):
        patch = patch_of(before, after)
        assert applied(by_bash(patch), before, tmp_path / f"applied-{number}") == after
        assert patched(by_patch_tool(patch), before) == after
        with pytest.raises(ValueError, match=r"an editor cannot do this: [ac] is"):
            by_editor(patch)


@pytest.mark.parametrize("name", LINE_ENDS)
def test_the_patch_format_cannot_say_line_ends(patch_of: Callable[[Files, Files], str], name: str) -> None:
    """A last line that loses, gets, or newly lacks its end is refused."""
    with pytest.raises(ValueError, match="line end"):
        by_patch_tool(patch_of(*LINE_ENDS[name]))


def mode(path: str) -> str:
    """A patch that makes a file executable."""
    return f"diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\n"


LINK = """\
diff --git a/l b/l
new file mode 120000
--- /dev/null
+++ b/l
@@ -0,0 +1 @@
+a
\\ No newline at end of file
"""
EXECUTABLE = LINK.replace("120000", "100755")
BINARY = (
    "diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"
)
ADDITION = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3,0 +4 @@\n+new\n"


@pytest.mark.parametrize("write_it", [by_editor, by_patch_tool])
@pytest.mark.parametrize("patch", [mode("a"), LINK, EXECUTABLE, BINARY])
def test_what_is_no_plain_text_is_refused(write_it: Callable[[str], list[Turn]], patch: str) -> None:
    """Modes, links and binary files."""
    with pytest.raises(ValueError, match="only text in plain files"):
        write_it(patch)


@pytest.mark.parametrize("write_it", [by_editor, by_patch_tool])
def test_what_has_no_place_is_refused(write_it: Callable[[str], list[Turn]]) -> None:
    """A hunk that only adds could go anywhere; a text that is no patch, nowhere."""
    with pytest.raises(ValueError, match="shows no line"):
        write_it(ADDITION)
    with pytest.raises(ValueError, match="file section"):
        write_it("Please mend it.")


def test_a_patch_cannot_end_its_own_here_document() -> None:
    """Or its rest would be run as commands."""
    with pytest.raises(ValueError, match="END_OF_PATCH"):
        by_bash(ADDITION + "+END_OF_PATCH\n")


def test_turns_are_what_a_script_holds() -> None:
    """Plain data: a script is a JSON file."""
    assert call("bash", command="ls") == {"calls": [{"tool": "bash", "arguments": {"command": "ls"}}]}
    turns = by_bash(ADDITION)
    assert json.loads(json.dumps(turns)) == turns
