"""V4A patches as models send them: what they make of files, and what the model is told when they do not fit."""

from collections.abc import Mapping

import pytest

from benchwright.answers.v4a import FileChange, V4AError, V4APatch, apply_v4a, parse_v4a, parse_v4a_operation

SHOP = b"""\
import os


class Shop:
    def price(self):
        return 1

    def open(self):
        return True


class Till(Shop):
    def price(self):
        return 1
"""

FILES: Mapping[str, bytes] = {
    "shop.py": SHOP,
    "list.txt": b"one\ntwo\nthree\n",
    "twins.txt": b"a\nx\nb\nx\nc\n",
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "mixed.txt": b"one\r\ntwo\nthree\r\n",
    "open.txt": b"one\ntwo",
    "bom.txt": b"\xef\xbb\xbfone\ntwo\n",
    "latin.txt": b"caf\xe9\none\n",
    "typographic.txt": "say \u201chi\u201d \u2013 it\u2019s\u00a0on\n".encode(),
    "tabs.txt": b"\tone  \n\ttwo\n",
    "image.png": b"\x89PNG\0\0",
    "empty.txt": b"",
    "gaps.txt": b"one\n\ntwo\n\n\nthree\n",
    "ends.txt": b"end\nmiddle\nend\n",
    "folder/deep.txt": b"deep\n",
}


def change(body: str, files: Mapping[str, bytes] = FILES) -> dict[str, bytes | None]:
    """What a patch of these operations makes of the files."""
    patch = parse_v4a(f"*** Begin Patch\n{body}*** End Patch\n", root="/testbed")
    return {change.path: change.content for change in apply_v4a(patch, files.get)}


def update(path: str, hunks: str) -> bytes | None:
    """What hunks make of one file."""
    return change(f"*** Update File: {path}\n{hunks}")[path]


RESULTS: dict[str, tuple[str, str, bytes]] = {
    "a line is replaced": ("list.txt", "@@\n one\n-two\n+2\n three\n", b"one\n2\nthree\n"),
    "the first hunk needs no @@": ("list.txt", " one\n-two\n+2\n", b"one\n2\nthree\n"),
    "lines are added in front": ("list.txt", "@@\n+zero\n one\n", b"zero\none\ntwo\nthree\n"),
    "lines are added behind": ("list.txt", "@@\n three\n+four\n+five\n", b"one\ntwo\nthree\nfour\nfive\n"),
    "a line is removed": ("list.txt", "@@\n-one\n", b"two\nthree\n"),
    "all lines are removed": ("list.txt", "@@\n-one\n-two\n-three\n", b""),
    "several hunks follow one another": ("list.txt", "@@\n-one\n+1\n@@\n-three\n+3\n", b"1\ntwo\n3\n"),
    "the first place counts": ("twins.txt", "@@\n-x\n+y\n", b"a\ny\nb\nx\nc\n"),
    "a hunk is looked for behind the last": ("twins.txt", "@@\n-x\n+y\n@@\n-x\n+z\n", b"a\ny\nb\nz\nc\n"),
    "a header moves the place": ("twins.txt", "@@ b\n-x\n+y\n", b"a\nx\nb\ny\nc\n"),
    "an end-of-file hunk is tried at the end": ("ends.txt", "@@\n-end\n+END\n*** End of File\n", b"end\nmiddle\nEND\n"),
    "an end-of-file hunk elsewhere": ("list.txt", "@@\n-one\n+1\n*** End of File\n", b"1\ntwo\nthree\n"),
    "only additions go to the end": ("list.txt", "@@\n+four\n", b"one\ntwo\nthree\nfour\n"),
    "only additions behind a header": ("list.txt", "@@ one\n+1.5\n", b"one\n1.5\ntwo\nthree\n"),
    "additions to an empty file": ("empty.txt", "@@\n+one\n", b"one\n"),
    "a hunk after an addition at the end": ("list.txt", "@@\n+four\n@@\n-one\n+1\n", b"1\ntwo\nthree\nfour\n"),
    "additions at the end in their order": ("list.txt", "@@\n+four\n@@\n+five\n", b"one\ntwo\nthree\nfour\nfive\n"),
    "trailing white space is overlooked": ("tabs.txt", "@@\n-\tone\n+\t1\n", b"\t1\n\ttwo\n"),
    "surrounding white space is overlooked": ("tabs.txt", "@@\n one\n-two\n+\t2\n", b"\tone  \n\t2\n"),
    "typographic punctuation is folded": (
        "typographic.txt",
        '@@\n-say "hi" - it\'s on\n+bye\n',
        b"bye\n",
    ),
    "an exact place is preferred to a nearer one": ("tabs.txt", "@@\n-\ttwo\n+2\n", b"\tone  \n2\n"),
    "line ends stay CRLF": ("crlf.txt", "@@\n one\n-two\n+2\n+2.5\n", b"one\r\n2\r\n2.5\r\nthree\r\n"),
    "a written line keeps its own carriage return": ("list.txt", "@@\r\n one\r\n-two\r\n+2\r\n", b"one\n2\r\nthree\n"),
    "each line end of a mixed file stays": ("mixed.txt", "@@\n-one\n+1\n-two\n+2\n", b"1\r\n2\nthree\r\n"),
    "a missing final newline stays": ("open.txt", "@@\n-one\n+1\n two\n", b"1\ntwo"),
    "a written last line ends": ("open.txt", "@@\n-two\n+2\n", b"one\n2\n"),
    "lines behind an unfinished one": ("open.txt", "@@\n two\n+three\n", b"one\ntwo\nthree\n"),
    "a byte order mark stays": ("bom.txt", "@@\n-one\n+1\n", b"\xef\xbb\xbf1\ntwo\n"),
    "bytes that are no UTF-8 stay": ("latin.txt", "@@\n-one\n+1\n", b"caf\xe9\n1\n"),
    "Latin-1 text is found and written": ("latin.txt", "@@\n-café\n+thé\n", b"th\xe9\none\n"),
    "an empty context line without its space": (
        "gaps.txt",
        "@@\n one\n\n-two\n+2\n",
        b"one\n\n2\n\n\nthree\n",
    ),
    "blank lines between hunks": ("list.txt", "\n@@\n-one\n+1\n\n@@\n-three\n+3\n\n", b"1\ntwo\n3\n"),
    "a blank line behind only additions": ("gaps.txt", "@@\n+four\n\n", b"one\n\ntwo\n\n\nthree\nfour\n"),
    "line numbers of unified diffs are overlooked": ("list.txt", "@@ -7,2 +7,2 @@\n-two\n+2\n", b"one\n2\nthree\n"),
    "a header behind line numbers": ("twins.txt", "@@ -1,1 +1,1 @@ b\n-x\n+y\n", b"a\nx\nb\ny\nc\n"),
    "a header that is not there, and one place": ("list.txt", "@@ def f():\n-two\n+2\n", b"one\n2\nthree\n"),
    "a header that was passed, and one place": ("list.txt", "@@ one\n-two\n+2\n@@ one\n-three\n+3\n", b"one\n2\n3\n"),
    "content that looks like a marker": ("list.txt", "@@\n-one\n+*** End Patch\n", b"*** End Patch\ntwo\nthree\n"),
}


@pytest.mark.parametrize(("path", "hunks", "expected"), RESULTS.values(), ids=RESULTS)
def test_hunks_make_the_right_file(path: str, hunks: str, expected: bytes) -> None:
    """Each hunk changes the lines that are meant, and no other byte."""
    assert update(path, hunks) == expected


def test_headers_narrow_down_to_a_method_of_a_class() -> None:
    """The words of the official instructions: a class, then a method in it, neither with the whole line."""
    changed = update("shop.py", "@@ class Till\n@@     def price(self):\n-        return 1\n+        return 2\n")
    assert changed == SHOP[: SHOP.rindex(b"1")] + b"2\n"


def test_a_hunk_that_repeats_its_header_stands_there() -> None:
    """Models like to repeat the header as the first line; the next place of the same lines is not meant then."""
    changed = update("shop.py", "@@ def price(self):\n     def price(self):\n-        return 1\n+        return 2\n")
    assert changed == SHOP.replace(b"return 1", b"return 2", 1)


ENVELOPES = {
    "as specified": "*** Begin Patch\n{}*** End Patch\n",
    "without a final newline": "*** Begin Patch\n{}*** End Patch",
    "padded markers": "  *** Begin Patch \n{} *** End Patch  \n\n",
    "a here-document": "<<'EOF'\n*** Begin Patch\n{}*** End Patch\nEOF\n",
    "a command with a here-document": 'apply_patch <<"PATCH"\n*** Begin Patch\n{}*** End Patch\nPATCH\n',
    "a code fence": "```diff\n*** Begin Patch\n{}*** End Patch\n```\n",
    "a byte order mark": "\ufeff*** Begin Patch\n{}*** End Patch\n",
}


@pytest.mark.parametrize("envelope", ENVELOPES.values(), ids=ENVELOPES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_envelopes_are_taken_as_models_send_them(envelope: str, newline: str) -> None:
    """What stands around the patch changes nothing, nor do carriage returns at the end of all lines."""
    text = envelope.format("*** Update File: list.txt\n@@\n-two\n+2\n*** Add File: new.txt\n+new\n")
    changes = apply_v4a(parse_v4a(text.replace("\n", newline)), FILES.get)
    assert changes == (
        FileChange(path="list.txt", content=b"one\n2\nthree\n"),
        FileChange(path="new.txt", content=b"new\n"),
    )


def test_files_are_added_deleted_and_moved() -> None:
    """Every operation of the format in one patch, and what a moved file was called before."""
    patch = parse_v4a(
        "*** Begin Patch\n*** Add File: new/a.txt\n+one\n+\n+ two\n*** Delete File: twins.txt\n"
        "*** Update File: list.txt\n*** Move to: moved/list.txt\n@@\n-one\n+1\n"
        "*** Update File: image.png\n*** Move to: picture.png\n*** Add File: nothing.txt\n*** End Patch\n"
    )
    assert apply_v4a(patch, FILES.get) == (
        FileChange(path="new/a.txt", content=b"one\n\n two\n"),
        FileChange(path="twins.txt", content=None),
        FileChange(path="list.txt", content=None),
        FileChange(path="moved/list.txt", content=b"1\ntwo\nthree\n", moved_from="list.txt"),
        FileChange(path="image.png", content=None),
        FileChange(path="picture.png", content=FILES["image.png"], moved_from="image.png"),
        FileChange(path="nothing.txt", content=b""),
    )


CHAINS: dict[str, tuple[str, dict[str, bytes | None]]] = {
    "two changes of one file": (
        "*** Update File: list.txt\n@@\n-three\n+3\n*** Update File: list.txt\n@@\n-one\n+1\n",
        {"list.txt": b"1\ntwo\n3\n"},
    ),
    "a new file is changed": (
        "*** Add File: new.txt\n+one\n*** Update File: new.txt\n@@\n-one\n+1\n",
        {"new.txt": b"1\n"},
    ),
    "a file is written anew": ("*** Delete File: list.txt\n*** Add File: list.txt\n+new\n", {"list.txt": b"new\n"}),
    "a new file is deleted again": ("*** Add File: new.txt\n+one\n*** Delete File: new.txt\n", {}),
    "a file is moved twice": (
        "*** Update File: list.txt\n*** Move to: b.txt\n*** Update File: b.txt\n*** Move to: c.txt\n",
        {"list.txt": None, "c.txt": b"one\ntwo\nthree\n"},
    ),
    "two files change places": (
        (
            "*** Update File: list.txt\n*** Move to: spare\n*** Update File: open.txt\n*** Move to: list.txt\n"
            "*** Update File: spare\n*** Move to: open.txt\n"
        ),
        {"list.txt": b"one\ntwo", "open.txt": b"one\ntwo\nthree\n"},
    ),
    "a move to the same path": ("*** Update File: open.txt\n*** Move to: ./open.txt\n", {"open.txt": b"one\ntwo"}),
    "an absolute path inside": ("*** Delete File: /testbed/list.txt\n", {"list.txt": None}),
    "a path with a dot": ("*** Delete File: ./folder//deep.txt\n", {"folder/deep.txt": None}),
}


@pytest.mark.parametrize(("body", "expected"), CHAINS.values(), ids=CHAINS)
def test_operations_see_what_those_before_them_left(body: str, expected: dict[str, bytes | None]) -> None:
    """Several operations on one file are no error: they are done one after the other."""
    assert change(body) == expected


def test_a_moved_file_keeps_the_name_it_had_first() -> None:
    """Its permissions are those of the file that was there before the patch."""
    body = CHAINS["a file is moved twice"][0] + "*** Update File: c.txt\n@@\n-one\n+1\n"
    patch = parse_v4a(f"*** Begin Patch\n{body}*** End Patch\n")
    assert apply_v4a(patch, FILES.get)[-1] == FileChange(
        path="c.txt", content=b"1\ntwo\nthree\n", moved_from="list.txt"
    )


ERRORS: dict[str, tuple[str, str]] = {
    "no operation": ("", "The patch is empty"),
    "an unknown operation": ("*** Rename File: a\n", r"Line 2 .* must stand here, not '\*\*\* Rename File: a'"),
    "text between operations": ("*** Delete File: list.txt\nplease\n", "Line 3 .* not 'please'"),
    "no path": ("*** Delete File: \n", "Line 2 .* needs the path of a file"),
    "a path that climbs": ("*** Delete File: a/../../b\n", r"must not go up by '\.\.'"),
    "an absolute path outside": ("*** Delete File: /etc/passwd\n", "relative to /testbed, but '/etc/passwd'"),
    "a neighbour of the root": ("*** Delete File: /testbed2/a\n", "relative to /testbed"),
    "a folder": ("*** Delete File: folder/\n", "is a folder"),
    "a line of a new file without plus": ("*** Add File: a\n+one\ntwo\n", "Line 4 .* begins with '\\+'.* 'two'"),
    "an empty line of a new file without plus": ("*** Add File: a\n+one\n\n+two\n", "Line 5 .* also an empty one"),
    "a change without hunks": ("*** Update File: list.txt\n", r"change of list\.txt \(line 2 .* has no hunk"),
    "a change of nothing": ("*** Update File: list.txt\n@@\n one\n", "only context"),
    "an empty hunk": ("*** Update File: list.txt\n@@ one\n", "Line 4 .* begins at line 3 has no lines"),
    "a line without a mark": ("*** Update File: list.txt\n@@\n one\ntwo\n", "Line 5 .* this one is 'two'"),
    "git's remark on the last newline": (
        "*** Update File: open.txt\n@@\n-two\n+2\n\\ No newline at end of file\n",
        "Line 6 .* begins with ' ' \\(kept\\)",
    ),
    "a header glued to its sign": ("*** Update File: list.txt\n@@one\n-two\n", "Line 3 .* a blank stands between"),
    "a second hunk without @@": (
        "*** Update File: ends.txt\n@@\n-end\n+END\n*** End of File\n-middle\n",
        "Line 7 .* a further hunk begins with '@@'",
    ),
    "an added file that exists": ("*** Add File: list.txt\n+new\n", r"list\.txt exists already; use '\*\*\* Update"),
    "a file below a file": ("*** Add File: list.txt/a\n+new\n", r"list\.txt is a file"),
    "a move onto a file": ("*** Update File: list.txt\n*** Move to: open.txt\n", r"open\.txt exists already"),
    "a deleted file that is not there": ("*** Delete File: none.txt\n", r"there is no file none\.txt"),
    "a changed file that is not there": ("*** Update File: none.txt\n@@\n-a\n", r"there is no file none\.txt"),
    "a file deleted before": (
        "*** Delete File: list.txt\n*** Update File: list.txt\n@@\n-one\n",
        r"'\*\*\* Update File: list\.txt' \(line 3 of the patch\).*there is no file",
    ),
    "a binary file": ("*** Update File: image.png\n@@\n-a\n", "NUL bytes"),
    "a character the encoding lacks": ("*** Update File: latin.txt\n@@\n-one\n+→\n", r"'→' \(U\+2192\).*latin-1"),
    "a lone surrogate": ("*** Add File: a\n+\ud800\n", r"U\+D800"),
    "context that is not there": (
        "*** Update File: list.txt\n@@\n-one\n+1\n@@\n two\n-four\n+4\n",
        (
            r"hunk 2 of 2 \(line 6 of the patch\) does not fit: its lines are not in the file from line 2 on\. "
            r"The first 1 of 2 are at line 2, but then the patch has 'four' where the file has 'three':\n"
            r" +1 \| one\n +2 \| two\n +3 \| three\n"
        ),
    ),
    "context beyond the end": (
        "*** Update File: list.txt\n@@\n three\n-four\n",
        "The first 1 of 2 are at line 3, but then the patch has 'four' where the file ends",
    ),
    "a line that is misspelt": ("*** Update File: list.txt\n@@\n-thre\n", r"most like 'thre' is:\n.*\n +3 \| three"),
    "nothing like it": ("*** Update File: list.txt\n@@\n-§§§\n", r"its lines are not in the file\n"),
    "hunks in the wrong order": (
        "*** Update File: list.txt\n@@\n-three\n+3\n@@\n-one\n+1\n",
        r"hunk 2 of 2 .* at line 1, before the end of the hunk that precedes it \(line 3\)",
    ),
    "hunks that overlap": (
        "*** Update File: list.txt\n@@\n one\n-two\n+2\n@@\n two\n-three\n+3\n",
        r"at line 2, before the end of the hunk that precedes it",
    ),
    "a header that is not there, and two places": (
        "*** Update File: twins.txt\n@@ d\n-x\n+y\n",
        "fit 2 places of the file from line 1 on, and its header 'd' is no line of it",
    ),
    "a header that is not there, and only additions": ("*** Update File: twins.txt\n@@ d\n+y\n", "'d' is no line"),
    "two places, and none behind the header": (
        "*** Update File: twins.txt\n@@ c\n-x\n+y\n",
        "fit 2 places of the file from line 1 on, and none behind its header",
    ),
    "anything in an empty file": ("*** Update File: empty.txt\n@@\n-a\n+b\n", "its lines are not in the file"),
}


@pytest.mark.parametrize(("body", "message"), ERRORS.values(), ids=ERRORS)
def test_what_does_not_fit_is_explained(body: str, message: str) -> None:
    """The message names operation, hunk and line, what was expected and what is there."""
    with pytest.raises(V4AError, match=f"(?s){message}") as caught:
        change(body)
    assert "No file was changed." in str(caught.value)


BROKEN = {
    "nothing": ("", "the first is missing"),
    "no envelope": ("*** Update File: a\n@@\n-a\n", "the first is missing"),
    "cut off": ("*** Begin Patch\n*** Delete File: list.txt\n", r"its last line is '\*\*\* Delete File: list\.txt'"),
    "only a beginning": ("*** Begin Patch\n", r"its last line is '\*\*\* Begin Patch'"),
    "text in front": ("Here it is:\n*** Begin Patch\n*** End Patch\n", "line 1 stands before it: 'Here it is:'"),
    "a command in front": ("cd /tmp && apply_patch <<E\n*** Begin Patch\n*** End Patch\nE\n", "stands before it"),
    "text behind": ("*** Begin Patch\n*** Delete File: list.txt\n*** End Patch\nDone.\n", "its last line is 'Done.'"),
    "two patches": ("*** Begin Patch\n*** Delete File: a\n*** End Patch\n" * 2, r"Line 3 .* '\*\*\* End Patch'"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_an_envelope_must_be_whole(text: str, message: str) -> None:
    """A patch that was cut off, or stands among other text, is not guessed at."""
    with pytest.raises(V4AError, match=f"(?s){message}"):
        parse_v4a(text)


def test_nothing_is_returned_when_a_later_operation_fails() -> None:
    """A patch is done whole or not at all, and files are read once."""
    seen: list[str] = []

    def read(path: str) -> bytes | None:
        seen.append(path)
        return FILES.get(path)

    patch = parse_v4a(
        "*** Begin Patch\n*** Update File: list.txt\n@@\n-one\n+1\n*** Update File: list.txt\n@@\n-two\n+2\n"
        "*** Delete File: none.txt\n*** End Patch\n"
    )
    with pytest.raises(V4AError, match="none"):
        apply_v4a(patch, read)
    assert seen == ["list.txt", "none.txt"]


def operation(kind: str, path: str, diff: str | None = None) -> V4APatch:
    """One operation of OpenAI's own tool, in a repository."""
    return parse_v4a_operation(kind, path, diff, root="/testbed")


def test_the_operations_of_the_native_tool() -> None:
    """Each carries what stands below a header of the format."""
    assert apply_v4a(operation("create_file", "/testbed/new.txt", "+one\n+two"), FILES.get) == (
        FileChange(path="new.txt", content=b"one\ntwo\n"),
    )
    assert apply_v4a(operation("update_file", "list.txt", "@@ one\n-two\n+2\n three\n"), FILES.get) == (
        FileChange(path="list.txt", content=b"one\n2\nthree\n"),
    )
    assert apply_v4a(operation("update_file", "ends.txt", "-end\n+END\n*** End of File"), FILES.get) == (
        FileChange(path="ends.txt", content=b"end\nmiddle\nEND\n"),
    )
    assert apply_v4a(operation("delete_file", "list.txt"), FILES.get) == (FileChange(path="list.txt", content=None),)
    assert apply_v4a(operation("create_file", "__init__.py", ""), FILES.get) == (
        FileChange(path="__init__.py", content=b""),
    )


@pytest.mark.parametrize(
    ("kind", "path", "diff", "message"),
    [
        ("create_file", "new.txt", "one\n", "begins with '\\+'"),
        ("create_file", "new.txt", "+one\n*** Add File: b\n+two", "one line too many"),
        ("update_file", "list.txt", "", "has no hunk"),
        ("update_file", "list.txt", "@@\n-one\n*** Delete File: b", "one line too many"),
        ("delete_file", "list.txt", "-one\n", "one line too many"),
        ("delete_file", "../list.txt", None, "must not go up"),
        ("move_file", "list.txt", None, "not 'move_file'"),
    ],
)
def test_wrong_operations_of_the_native_tool(kind: str, path: str, diff: str | None, message: str) -> None:
    """They are refused with the reason, as patches are."""
    with pytest.raises(V4AError, match=message):
        operation(kind, path, diff)


def test_large_files_and_patches() -> None:
    """Thousands of hunks that fit loosely, and lines that repeat without end, take no time that anybody notices."""
    count = 60_000
    lines = [f"line {number % 97}" for number in range(count)]
    hunks = "".join(f"@@\n-{lines[number]}  \n+new {number}\n" for number in range(0, count, 30))
    changed = update_of("".join(f"{line}\n" for line in lines), hunks)
    assert changed.count(b"new ") == count // 30
    with pytest.raises(V4AError, match="The first 20000 of 20001 are at line 1"):
        update_of("x\n" * count, "@@\n" + " x\n" * 20_000 + "-y\n")


def update_of(text: str, hunks: str) -> bytes:
    """What hunks make of a text."""
    changed = change(f"*** Update File: big.txt\n{hunks}", {"big.txt": text.encode()})["big.txt"]
    assert changed is not None
    return changed
