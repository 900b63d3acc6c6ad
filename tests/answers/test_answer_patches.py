"""Reading unified diffs: against git itself, on patches as models write them, and on hostile ones."""

import os
import random
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.answers import patches
from benchwright.answers.patch_sections import EditKind, PatchedFile
from benchwright.answers.patches import PatchAnswer, hunk_failure, read_patch, unsafe, variants, without
from benchwright.core.answers import NoAnswer
from benchwright.core.verdicts import Reason

GIT = shutil.which("git")
TAB = "\t"
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")

PLAIN = """\
--- a/shop/price.py
+++ b/shop/price.py
@@ -1,3 +1,3 @@
 def price():
-    return 1
+    return 2
 # end
"""
GIT_FORM = "diff --git a/shop/price.py b/shop/price.py\nindex 1234567..89abcde 100644\n" + PLAIN
NEW_FILE = """\
diff --git a/shop/till.py b/shop/till.py
new file mode 100644
index 0000000..1234567
--- /dev/null
+++ b/shop/till.py
@@ -0,0 +1 @@
+TILL = 1
"""
GONE = """\
diff --git a/shop/old.py b/shop/old.py
deleted file mode 100644
index 1234567..0000000
--- a/shop/old.py
+++ /dev/null
@@ -1 +0,0 @@
-OLD = 1
"""
MOVED = """\
diff --git a/shop/a.py b/shop/b c.py
similarity index 100%
rename from shop/a.py
rename to shop/b c.py
"""
COPIED = """\
diff --git a/shop/a.py b/shop/d.py
similarity index 100%
copy from shop/a.py
copy to shop/d.py
"""
MODE = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
LINK = """\
diff --git a/docs/latest b/docs/latest
new file mode 120000
index 0000000..1234567
--- /dev/null
+++ b/docs/latest
@@ -0,0 +1 @@
+../shop
\\ No newline at end of file
"""
BINARY = """\
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000000000000000000000000000000000000..d95f3ad14dee633a758d2e331151e950dd13e4ed
GIT binary patch
literal 8
PcmZQzWMXDvWn}{Z00jU6

literal 0
HcmV?d00001

"""
NO_PAYLOAD = (
    "diff --git a/logo.png b/logo.png\nindex 1234567..89abcde 100644\nBinary files a/logo.png and b/logo.png differ\n"
)
SUBMODULE = """\
diff --git a/vendor b/vendor
new file mode 160000
index 0000000..1234567
--- /dev/null
+++ b/vendor
@@ -0,0 +1 @@
+Subproject commit 1234567812345678123456781234567812345678
"""
EVERYTHING = GIT_FORM + NEW_FILE + GONE + MOVED + COPIED + MODE + LINK + BINARY


def read(text: str | bytes) -> PatchAnswer:
    """A text that must be a patch."""
    answer = read_patch(text)
    assert isinstance(answer, PatchAnswer), answer
    return answer


def adding(path: str, *, mode: str = "100644", line: str = "x") -> str:
    """A section that adds a file of one line."""
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\nindex 0000000..1234567\n"
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n\\ No newline at end of file\n"
    )


# What there is in a patch.


def test_every_kind_of_section_is_read() -> None:
    """Paths, kinds, modes and payloads of git's extended headers."""
    answer = read(EVERYTHING)
    assert [(file.old_path, file.new_path, file.kind) for file in answer.files] == [
        ("shop/price.py", "shop/price.py", EditKind.MODIFIED),
        (None, "shop/till.py", EditKind.ADDED),
        ("shop/old.py", None, EditKind.DELETED),
        ("shop/a.py", "shop/b c.py", EditKind.RENAMED),
        ("shop/a.py", "shop/d.py", EditKind.COPIED),
        ("run.sh", "run.sh", EditKind.MODE),
        (None, "docs/latest", EditKind.ADDED),
        (None, "logo.png", EditKind.ADDED),
    ]
    assert [(file.old_mode, file.new_mode) for file in answer.files[:3]] == [
        ("100644", "100644"), (None, "100644"), ("100644", None)
    ]  # fmt: skip
    assert (answer.files[5].old_mode, answer.files[5].new_mode) == ("100644", "100755")
    assert answer.files[6].link_target == "../shop"
    assert (answer.files[7].binary, answer.files[7].has_payload) == (True, True)
    assert answer.files[4].touched == ("shop/d.py",)
    assert answer.files[3].touched == ("shop/a.py", "shop/b c.py")
    assert (answer.text, answer.notes, unsafe(answer)) == (EVERYTHING, (), ())
    assert variants(answer) == (("as written", EVERYTHING),)


SPELLINGS = [
    ("a/x.py", "b/x.py", "x.py"),
    ("x.py", "x.py", "x.py"),
    ("src/x.py", "src/x.py", "src/x.py"),
    ("i/x.py", "w/x.py", "x.py"),
    ("orig/src/x.py", "new/src/x.py", "src/x.py"),
    ("./src/x.py", "./src/x.py", "src/x.py"),
    ("src/x.py.orig", "src/x.py", "src/x.py"),
    ("a/x.py\t2024-08-15 10:00:00.000000000 +0200", "b/x.py\t2024-08-15 10:00:01 +0200", "x.py"),
    ("a/with space.py\t", "b/with space.py\t", "with space.py"),
    ('"a/caf\\303\\251.py"', '"b/caf\\303\\251.py"', "café.py"),
    ('"a/tab\\there\\"quoted\\\\.py"', '"b/tab\\there\\"quoted\\\\.py"', 'tab\there"quoted\\.py'),
    ('"caf\\303\\251.py"', '"caf\\303\\251.py"', "café.py"),
]


@pytest.mark.parametrize(
    ("old", "new", "path", "git_line"),
    [
        (*names, git_line)
        for names in SPELLINGS
        for git_line in (False, True)
        if not (git_line and names[0].endswith(".orig"))
    ],
)
def test_names_are_read_in_every_spelling(old: str, new: str, path: str, git_line: bool) -> None:
    """With prefixes and without, quoted, with time stamps; what comes out has prefixes, and reads the same."""
    head = f"diff --git {old.partition(TAB)[0]} {new.partition(TAB)[0]}\n" if git_line else ""
    answer = read(f"{head}--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")
    assert [(file.old_path, file.new_path) for file in answer.files] == [(path, path)]
    assert read(answer.text).files == answer.files
    assert not read(answer.text).notes


def test_lines_that_look_like_headers_are_content_where_the_counts_say_so() -> None:
    """Removed and added lines that begin with '-- ' and '++ ' make no file section."""
    text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,3 @@\n--- a/y.sql\n+++ b/z.sql\n end\n-old\n+new\n"
    answer = read(text)
    assert [file.path for file in answer.files] == ["x.sql"]
    assert answer.text == text
    assert len(variants(answer)) == 1


def test_prose_fences_and_signatures_are_left_out() -> None:
    """What stands in front and around goes, with a note; a mail's signature stays, for git ignores it."""
    body = GIT_FORM + "-- \n2.39.5\n"
    answer = read(f"Here is the patch:\n\n```diff\n{body}```\nIt doubles the price.\n\n```diff\n{NEW_FILE}```\n")
    assert [file.path for file in answer.files] == ["shop/price.py", "shop/till.py"]
    assert answer.text == body + NEW_FILE
    assert answer.notes == ("text in front of the first file section was left out", "a markdown fence was left out")


def test_a_series_of_mails_is_one_patch() -> None:
    """git format-patch's headers and messages are no part of any file; a file may come twice."""
    mail = "From 1234567 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n```\ncode\n```\n---\n shop/price.py | 2 +-\n\n"
    answer = read(mail + GIT_FORM + "-- \n2.39.5\n\n" + mail + GIT_FORM)
    assert [file.path for file in answer.files] == ["shop/price.py", "shop/price.py"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, Reason.EMPTY),
        ("", Reason.EMPTY),
        (" \n\t\n", Reason.EMPTY),
        (b"", Reason.EMPTY),
        ("I could not solve it.", Reason.NOT_A_PATCH),
        ("diff --git a/x b/x\n", Reason.NOT_A_PATCH),
        ("--- a/x\n+++ b/x\n", Reason.NOT_A_PATCH),
        ("--- a/x\n", Reason.NOT_A_PATCH),
        (PLAIN.replace("price", "pr\0ce"), Reason.NOT_TEXT),
        (PLAIN.replace("price", "pr\ud800ce"), Reason.NOT_TEXT),
        (PLAIN.encode().replace(b"price", b"pr\xe9ce"), Reason.NOT_TEXT),
    ],
)
def test_texts_that_hold_no_patch(text: str | bytes | None, reason: Reason) -> None:
    """Each has its reason, and a clause for a person."""
    answer = read_patch(text)
    assert isinstance(answer, NoAnswer)
    assert answer.reason is reason
    assert answer.detail


def test_too_large_a_patch_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit counts bytes, of text as well."""
    monkeypatch.setattr(patches, "MAX_PATCH_BYTES", len(PLAIN))
    assert isinstance(read_patch(PLAIN), PatchAnswer)
    for text in (PLAIN.replace("end", "énd"), PLAIN.encode() + b"\n"):
        answer = read_patch(text)
        assert isinstance(answer, NoAnswer)
        assert answer.reason is Reason.TOO_LARGE


def test_bytes_and_text_read_alike() -> None:
    """Also with a byte order mark, which goes."""
    assert read(EVERYTHING.encode()) == read(EVERYTHING)
    assert read("\ufeff" + PLAIN).files == read(PLAIN).files


# What to try.


def test_a_missing_final_newline_is_added() -> None:
    """With a note."""
    answer = read(PLAIN.removesuffix("\n"))
    assert (answer.text, answer.notes) == (PLAIN, ("the final newline was missing",))


def test_carriage_returns_are_tried_both_ways() -> None:
    """As written, then without; and where every line has one, in content only."""
    attempts = dict(variants(read(GIT_FORM.replace("\n", "\r\n"))))
    assert list(attempts) == ["as written", "line ends made LF", "line ends of headers made LF"]
    assert attempts["line ends made LF"] == GIT_FORM
    headers_only = attempts["line ends of headers made LF"]
    assert headers_only.startswith("diff --git a/shop/price.py b/shop/price.py\nindex")
    assert "\n-    return 1\r\n+    return 2\r\n" in headers_only
    mixed = GIT_FORM.replace("return 1\n", "return 1\r\n")
    assert [note for note, _ in variants(read(mixed))] == ["as written", "line ends made LF"]


def test_wholly_crlf_patches_name_the_same_files() -> None:
    """Paths do not end in a carriage return, whatever the spelling."""
    for text in (EVERYTHING, EVERYTHING.replace(" a/", " ").replace(" b/", " ")):
        files = read(text.replace("\n", "\r\n")).files
        assert [(file.old_path, file.new_path, file.kind) for file in files] == [
            (file.old_path, file.new_path, file.kind) for file in read(text).files
        ]


@pytest.mark.parametrize("header", ["@@ -1,3 +1,9 @@", "@@ -1,2 +1,2 @@", "@@ -1,9 +1,9 @@", "@@ -1 +1 @@"])
def test_wrong_counts_are_corrected_as_a_last_resort(header: str) -> None:
    """Too small and too large ones; what follows is not swallowed."""
    wrong = PLAIN.replace("@@ -1,3 +1,3 @@", header) + NEW_FILE + PLAIN.replace("price", "cost")
    attempts = variants(read(wrong))
    assert attempts == (
        ("as written", wrong),
        ("as written, counts of hunks corrected", PLAIN + NEW_FILE + PLAIN.replace("price", "cost")),
    )


def test_too_large_counts_do_not_swallow_a_plain_section() -> None:
    """Two name lines in front of a hunk are names, even where the counts take them for content."""
    wrong = PLAIN.replace("-1,3 +1,3", "-1,5 +1,5") + PLAIN.replace("price", "cost")
    answer = read(wrong)
    assert [file.path for file in answer.files] == ["shop/price.py", "shop/cost.py"]
    assert variants(answer)[-1][1] == PLAIN + PLAIN.replace("price", "cost")


def test_blank_lines_between_hunks_go_as_a_last_resort() -> None:
    """Models put them there; git apply refuses what follows."""
    second = "@@ -9 +9 @@\n-a\n+b\n"
    assert variants(read(PLAIN + "\n\n" + second))[-1][1] == PLAIN + second


def test_a_section_with_an_unreadable_hunk_is_not_dropped() -> None:
    """Applying the rest alone would be another patch; git refuses the whole."""
    answer = read(GIT_FORM + "--- a/shop/cost.py\n+++ b/shop/cost.py\n@@ ... @@\n-a\n+b\n")
    assert [file.path for file in answer.files] == ["shop/price.py", "shop/cost.py"]


# What is refused.

UNSAFE = [
    (PLAIN.replace("a/shop", "/shop").replace("b/shop", "/shop"), "absolute"),
    (PLAIN.replace("shop/", "/etc/"), "absolute"),
    (PLAIN.replace("shop/", "../"), r"'\.\.'"),
    (PLAIN.replace("shop/", "shop/../../"), r"'\.\.'"),
    (PLAIN.replace("shop/", "shop/./"), "component"),
    (PLAIN.replace("shop/", "shop//"), "component"),
    (PLAIN.replace("shop/price.py", ".git/hooks/post-checkout"), r"\.git folder"),
    (PLAIN.replace("shop/price.py", ".git"), r"\.git folder"),
    (PLAIN.replace("shop/price.py", "sub/.GiT/config"), r"\.git folder"),
    (PLAIN.replace("shop/price.py", ".git /config"), r"\.git folder"),
    (PLAIN.replace("shop/price.py", ".git../config"), r"\.git folder"),
    (PLAIN.replace("shop/price.py", "GIT~1/config"), r"\.git folder"),
    (PLAIN.replace("shop/price.py", ".g\u200cit/config"), r"\.git folder"),
    (PLAIN.replace("a/shop/price.py", '"a/x\\001.py"').replace("b/shop/price.py", '"b/x\\001.py"'), "control"),
    (PLAIN.replace("a/shop/price.py", '"a/x\\000.py"').replace("b/shop/price.py", '"b/x\\000.py"'), "control"),
    (PLAIN.replace("a/shop/price.py", '"a/\\056\\056/x"').replace("b/shop/price.py", '"b/\\056\\056/x"'), r"'\.\.'"),
    (adding("link", mode="120000", line="/etc/passwd"), "can leave"),
    (adding("link", mode="120000", line=".."), "can leave"),
    (adding("docs/link", mode="120000", line="../../x"), "can leave"),
    (adding("docs/link", mode="0120000", line="../../x"), "can leave"),
    (adding("docs/link", mode="120000", line="a/../../../x"), "can leave"),
    (adding("link", mode="120000", line=".git/config"), r"\.git folder"),
    (LINK.replace("@@ -0,0 +1 @@\n+../shop\n", ""), "cannot be read"),
    (adding("link", mode="120000", line="shop") + adding("link/x.py"), "below link"),
    (SUBMODULE, "submodule"),
    (NO_PAYLOAD, "content"),
    (GIT_FORM.replace("+++ b/shop/price.py", "+++ b/conftest.py"), "different files"),
    (MOVED.replace("rename to shop/b c.py", "rename to ../x.py"), r"'\.\.'"),
    (MOVED.replace("b c.py", "c.py").replace("rename to shop/c.py", "rename to conftest.py"), "different files"),
    ("diff --git a/x y b/z w\nnew file mode 100644\nindex 0000000..e69de29\n", "does not say"),
]


@pytest.mark.parametrize(("text", "why"), UNSAFE)
def test_edits_outside_the_repository_are_named(text: str, why: str) -> None:
    """One entry for the section at fault, whatever surrounds it."""
    edits = unsafe(read(NEW_FILE + text))
    assert len(edits) == 1
    assert re.search(why, edits[0].why), edits


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("shop/price.py", ".gitmodules"),
        PLAIN.replace("shop/price.py", ".gitignore"),
        PLAIN.replace("shop/price.py", ".github/workflows/test.yml"),
        PLAIN.replace("shop/price.py", "x.git/file"),
        PLAIN.replace("shop/price.py", "a..b/..c"),
        adding("docs/link", mode="120000", line="../shop/x.py"),
        adding("a/b/link", mode="120000", line="../../README"),
        GONE.replace("100644", "120000"),
        BINARY,
        MODE,
    ],
)
def test_odd_but_harmless_edits_are_not(text: str) -> None:
    """Names that only look like something else, links that stay inside, a link removed."""
    assert unsafe(read(text)) == ()


def test_a_section_hidden_behind_a_binary_one_is_seen() -> None:
    """git apply goes on after a payload with whatever names a file, so we do."""
    hidden = "--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+x = 1\n"
    answer = read(BINARY + hidden)
    assert [file.path for file in answer.files] == ["logo.png", "conftest.py"]


def test_an_addition_without_an_old_side_is_one() -> None:
    """git apply makes the file that such a plain section names on both sides."""
    answer = read("--- a/conftest.py\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+x = 1\n")
    assert [(file.kind, file.old_path) for file in answer.files] == [(EditKind.ADDED, None)]


# Dropping sections.


def test_sections_are_dropped_by_any_path_they_change() -> None:
    """By the old and the new name of a rename, not by the source of a copy; the rest stays as it is."""
    answer = read(EVERYTHING)
    assert without(answer, ["shop/b c.py"]).text == EVERYTHING.replace(MOVED, "")
    assert without(answer, ["shop/a.py"]).text == EVERYTHING.replace(MOVED, "")
    assert without(answer, ["elsewhere"]) == answer
    rest = without(answer, ["logo.png", "docs/latest"])
    assert read(rest.text).files == rest.files
    nothing = without(read(PLAIN), ["shop/price.py"])
    assert (nothing.text, nothing.files) == ("", ())


# What git says.


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        ("error: patch failed: shop/a.py:12\nerror: shop/a.py: patch does not apply\n",
         "the hunk at line 12 of shop/a.py does not fit the file"),
        ("Checking patch x...\nerror: while searching for:\n    a\n\nerror: patch failed: x:3\n",
         "the hunk at line 3 of x does not fit the file"),
        ("error: corrupt patch at line 15\n", "the patch is malformed at its line 15"),
        ("error: corrupt patch at <stdin>:15\n", "the patch is malformed at its line 15"),
        ("error: shop/b.py: No such file or directory\n", "shop/b.py does not exist in the repository"),
        ("error: shop/b.py: already exists in working directory\n", "shop/b.py exists already"),
        ("error: cannot apply binary patch to 'x.png' without full index line\nerror: x.png: patch does not apply\n",
         "the patch does not hold the content of the binary file x.png"),
        ("error: patch fragment without header at line 9: @@ -1 +1 @@\n",
         "a hunk at line 9 of the patch belongs to no file"),
        ("error: affected file 'l/x' is beyond a symbolic link\n", "l/x lies behind a symbolic link"),
        ("warning: x\nerror: something new\n", "something new"),
        ("fatal: not a git repository\n", "not a git repository"),
        ("", "git apply gave no reason"),
    ],
)  # fmt: skip
def test_git_s_messages_become_one_clause(message: str, clause: str) -> None:
    """With file and line where git gives them."""
    assert hunk_failure(message) == clause


def test_long_messages_are_clipped() -> None:
    """A clause fits a table."""
    assert len(hunk_failure("error: " + "x" * 1000)) == 300


# Against git.


def git(folder: Path, *arguments: str, text: str = "") -> str:
    """What a git command writes, in a repository without the user's settings."""
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, input=text.encode("utf-8"), capture_output=True, env=environ)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.decode("utf-8")


NAMES = [
    "a.py", "b/a.py", "a/b.py", "with space.py", "two  spaces/x y.py", "café.py", "tab\there.py", 'quote".py',
    "back\\slash.py", "docs/--- a", "@@.txt", "x.py.orig", "b", "new\nline.py", "crlf.txt", "empty",
]  # fmt: skip
LINES = [
    "x",
    "-- a/q",
    "++ b/q",
    "@@ -1 +1 @@",
    "diff --git a/x b/x",
    "",
    " ",
    "\\ No newline",
    "caf\u00e9",
    "```",
    "\ty",
    "z\r",
]


def fill(folder: Path, names: list[str], source: random.Random) -> None:
    """Write files of few, awkward lines, some links, some binary ones."""
    for name in names:
        path = folder / name
        if path.is_dir() or any(parent.is_file() for parent in path.parents if parent != folder):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        kind = source.randrange(10)
        if kind == 0:
            path.symlink_to("a.py")
        elif kind == 1:
            path.write_bytes(bytes(source.randrange(256) for _ in range(40)) + b"\0")
        else:
            lines = [source.choice(LINES) for _ in range(source.randrange(12))]
            path.write_bytes(("\n".join(lines) + source.choice(["", "\n"])).encode())
            path.chmod(source.choice([0o644, 0o644, 0o755]))


@needs_git
@pytest.mark.parametrize(
    "options", [(), ("--no-prefix",), ("-c", "diff.mnemonicPrefix=true"), ("-U0",), ("--full-index",)]
)
@pytest.mark.parametrize("seed", range(6))
def test_git_s_own_diffs_read_and_apply_as_git_has_them(tmp_path: Path, options: tuple[str, ...], seed: int) -> None:
    """Paths and kinds are those of git's name list; the text applied with -p1 makes the tree that was diffed."""
    source = random.Random(seed)
    git(tmp_path, "init", "-q")
    fill(tmp_path, source.sample(NAMES, 9), source)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "base")
    tracked = [name for name in git(tmp_path, "ls-files", "-z").split("\0") if name]
    for name in source.sample(tracked, min(3, len(tracked))):
        git(tmp_path, "rm", "-q", "-f", "--", name)
    moved = next((name for name in tracked if (tmp_path / name).is_file()), None)
    if moved is not None:
        git(tmp_path, "mv", "--", moved, "moved here.txt")
    fill(tmp_path, source.sample(NAMES, 6), source)
    git(tmp_path, "add", "-A")
    settings_, flags = (options, ()) if options[:1] == ("-c",) else ((), options)
    flags = (*flags, "--cached", "--binary", "-M", "HEAD")
    text = git(tmp_path, *settings_, "diff", *flags)
    fields = git(tmp_path, "diff", "--cached", "-M", "--name-status", "-z", "HEAD").split("\0")[:-1]
    expected = []
    while fields:
        letter = fields.pop(0)[0]
        expected.append((letter, *(fields.pop(0) for _ in range(2 if letter == "R" else 1))))
    answer = read(text)
    letters = {
        EditKind.ADDED: "A", EditKind.DELETED: "D", EditKind.MODIFIED: "M", EditKind.MODE: "M", EditKind.RENAMED: "R"
    }  # fmt: skip
    found = [
        (letters[file.kind], *dict.fromkeys(name for name in (file.old_path, file.new_path) if name is not None))
        for file in answer.files
    ]
    assert collapsed(found) == collapsed([("D", e[1]) if e[0] == "T" else e for e in expected])
    assert read(answer.text).files == answer.files
    wanted = git(tmp_path, "write-tree")
    git(tmp_path, "read-tree", "HEAD")
    git(tmp_path, "apply", "--cached", "--unidiff-zero", "-p1", "-", text=answer.text)
    assert git(tmp_path, "write-tree") == wanted


def collapsed(edits: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Edits less the second half of a change of type, which a diff spells as deletion and addition."""
    gone = {edit[1] for edit in edits if edit[0] == "D"}
    return sorted({edit for edit in edits if not (edit[0] == "A" and edit[1] in gone)})


SOUP = st.lists(
    st.sampled_from(
        [
            "diff --git a/x b/x", "diff --git a/y b/conftest.py", "--- a/x", "+++ b/x", "--- /dev/null",
            "+++ b/conftest.py", "+++ b/y", "@@ -1 +1 @@", "@@ -0,0 +1 @@", "@@ -1,2 +1,2 @@", "-a", "+b", " c", "",
            "\\ No newline at end of file", "new file mode 100644", "GIT binary patch", "literal 1",
            "IcmZPo000310RR91", "rename from x", "rename to y", "```", "index 1234567..89abcde 100644", "prose", "-- ",
            "old mode 100644", "new mode 100755", "@@ -1 +1,2 @@", "--- x", "+++ x", "--- a/z\t", "+++ b/z\t",
        ]
    ),
    max_size=40,
)  # fmt: skip


SECTIONS = [GIT_FORM, NEW_FILE, GONE, MOVED, COPIED, MODE, LINK, BINARY, PLAIN]
PIECES = st.sampled_from(
    [
        "--- a/x", "+++ b/x", "--- /dev/null", "+++ b/conftest.py", "@@ -1 +1 @@", "@@ -0,0 +1 @@", "@@ -1,3 +1,4 @@",
        "@@ -1,2 +1,3 @@", "-a", "+b", " c", "", "prose", "-- ", "rename old shop/price.py", "rename new conftest.py",
        "new file mode 100644", "diff --git a/conftest.py b/conftest.py", "diff --git a/x b/conftest.py", "```", "x\r",
        "+--- a/y", "Index: conftest.py", "index 1234567..89abcde 120000", "deleted file mode 100644", "copy to x y",
    ]
)  # fmt: skip


@st.composite
def changed_patches(draw: st.DrawFn) -> list[str]:
    """Lines of a patch of several kinds of section, with a few lines lost, doubled, put in or moved."""
    lines = "".join(draw(st.lists(st.sampled_from(SECTIONS), min_size=1, max_size=4))).removesuffix("\n").split("\n")
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, max(len(lines) - 1, 0)))
        match draw(st.integers(0, 3)):
            case 0 if len(lines) > 1:
                del lines[place]
            case 1:
                lines.insert(place, lines[place])
            case 2:
                lines.insert(place, lines[draw(st.integers(0, len(lines) - 1))])
            case _:
                lines.insert(place, draw(PIECES))
    return lines


@needs_git
@settings(max_examples=150, deadline=None)
@given(SOUP | changed_patches())
def test_git_applies_no_section_that_was_not_seen(lines: list[str]) -> None:
    """Every file that git would touch, in any variant, is among the names that protection and safety look at."""
    answer = read_patch("\n".join(lines) + "\n")
    if isinstance(answer, NoAnswer):
        return
    seen = {name for file in answer.files for name in file.names}
    for _, text in variants(answer):
        done = subprocess.run(
            ["git", "apply", "-p1", "--numstat", "-z", "-"], input=text.encode(), capture_output=True, cwd="/"
        )
        if done.returncode == 0:
            fields = [field for field in done.stdout.decode().split("\0") if field]
            # Without a mode line, git takes "/dev/null" for a file's name.
            touched = {field.split("\t")[-1] for field in fields} - {"", "dev/null"}
            assert touched <= seen, (text, touched)


@given(SOUP | changed_patches(), st.randoms(use_true_random=False))
def test_reading_is_stable(lines: list[str], source: random.Random) -> None:
    """What was read reads the same again, whole or in part."""
    answer = read_patch("\n".join(lines))
    if isinstance(answer, NoAnswer):
        return
    assert without_blank_ends(read(answer.text)) == without_blank_ends(answer)
    part = without(answer, [source.choice(answer.files).path])
    if part.files:
        assert without_blank_ends(read(part.text)) == without_blank_ends(part)


def without_blank_ends(answer: PatchAnswer) -> list[PatchedFile]:
    """The files of a patch; a blank line that keeps two sections apart is reckoned to neither."""
    return [replace(file, text=file.text.rstrip("\n")) for file in answer.files]


@given(st.text() | st.binary())
def test_no_input_makes_reading_raise(text: str | bytes) -> None:
    """Any text or bytes give an answer or the reason why there is none."""
    answer = read_patch(text)
    if isinstance(answer, PatchAnswer):
        assert variants(answer)[0] == ("as written", answer.text)
        unsafe(answer)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN + "@@ -1 +1 @@\n" * 50_000,
        "--- a/x\n+++ b/x\n" * 50_000 + PLAIN,
        PLAIN.replace("-1,3 +1,3", "-1,999999999 +1,999999999") + "\n" * 200_000,
        GIT_FORM.replace("price.py b/", "price.py" + " b/" * 50_000),
        BINARY + "literal 1\n" * 50_000,
    ],
    ids=["hunks", "names", "blanks", "spaces", "payload"],
)
def test_long_hostile_patches_are_read_at_once(text: str) -> None:
    """Nothing in reading grows faster than the text."""
    answer = read(text)
    assert variants(answer)
    unsafe(answer)


def test_bytes_of_other_encodings_arrive_unchanged() -> None:
    """A patch of a Latin-1 file, read from a file with surrogate escapes, is still that patch."""
    text = PLAIN.replace("return", "return 'caf\udce9' or")
    answer = read_patch(text)
    assert isinstance(answer, PatchAnswer)
    assert answer.text == text
