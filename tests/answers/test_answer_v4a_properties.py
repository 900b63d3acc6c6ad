"""V4A against a simple model: make a file, edit it, print the edit as a patch; applying the patch gives the edit."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.answers.v4a import V4AError, apply_v4a, parse_v4a, parse_v4a_operation

WORDS = (
    "",
    "a",
    "b",
    "a ",
    "\ta",
    "  a",
    "+a",
    "-a",
    "@@ a",
    "*** End Patch",
    "*** End of File",
    "é",
    "“a”",
    "a\rb",
    "日",
)
ALIKE = (["a"], ["a", "a "], ["a", "  a"], ['"a"', "“a”"], ["a", ""])
"""Lines that a loose comparison takes for the same."""
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Change:
    """In a file: so many lines from an index on make place for others."""

    at: int
    removed: int
    added: tuple[str, ...]


@dataclass(frozen=True)
class Edit:
    """A file and its changes, from the first to the last."""

    lines: tuple[str, ...]
    newline: str
    ends: bool
    """Whether the last line has a line end."""
    bom: bool
    changes: tuple[Change, ...]

    def before(self) -> bytes:
        """The file's bytes."""
        text = self.newline.join(self.lines) + (self.newline if self.lines and self.ends else "")
        return BOM * self.bom + text.encode()

    def after(self) -> bytes:
        """The edited file's bytes: written lines end as the others, and the last one too."""
        newline = self.newline if len(self.lines) > 1 or (self.lines and self.ends) else "\n"
        result, done = [], 0
        for change in self.changes:
            result += [(line, False) for line in self.lines[done : change.at]]
            result += [(line, True) for line in change.added]
            done = change.at + change.removed
        rest = self.lines[done:]
        result += [(line, False) for line in rest]
        text = newline.join(line for line, _ in result)
        if result and (self.ends or result[-1][1] or not rest):
            text += newline
        return BOM * self.bom + text.encode()


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """Files of few different lines, so that places are often alike, with changes that do not touch one another."""
    words = st.sampled_from(draw(st.sampled_from(ALIKE)) + draw(st.lists(st.sampled_from(WORDS), max_size=3)))
    lines = tuple(draw(st.lists(words, max_size=14)))
    ends = draw(st.booleans())
    if lines and not ends and not lines[-1]:
        ends = True  # an empty last line without an end is none
    changes: list[Change] = []
    at = 0
    while at < len(lines) and (not changes or draw(st.booleans())):
        at = draw(st.integers(at, len(lines) - 1))
        removed = draw(st.integers(0, min(3, len(lines) - at)))
        added = tuple(draw(st.lists(words, min_size=0 if removed else 1, max_size=3)))
        changes.append(Change(at, removed, added))
        at += removed + 1
    if not lines:
        changes = [Change(0, 0, tuple(draw(st.lists(words, min_size=1, max_size=3))))]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return Edit(lines=lines, newline=newline, ends=ends, bom=draw(st.booleans()), changes=tuple(changes))


def printed(edit: Edit, draw: st.DataObject) -> str:
    """The hunks of an edit, each with as much context as tells its place."""
    hunks, start = [], 0
    for index, change in enumerate(edit.changes):
        following = edit.changes[index + 1].at if index + 1 < len(edit.changes) else len(edit.lines)
        headers = [at for at in range(start, change.at) if _names_itself(edit.lines, at, start)]
        header = draw.draw(st.sampled_from([None, *headers]))
        place = _with_context(edit.lines, change, start if header is None else header + 1, (following, draw))
        if header is not None and edit.lines[header].strip() == edit.lines[place[0]].strip():
            header, place = None, _with_context(edit.lines, change, start, (following, draw))
        at_end = place[1] == len(edit.lines) and draw.draw(st.booleans())
        if at_end:
            place = min(place[0] + draw.draw(st.integers(0, 3)), change.at, place[1] - 1), place[1]
        hunks.append(_hunk(edit, change, place, ("" if header is None else f" {edit.lines[header]}", at_end)))
        start = place[1]
    return "".join(hunks)


def _names_itself(lines: tuple[str, ...], at: int, start: int) -> bool:
    """Whether a line can be a header: it has text, no white space at its end, and none before it is the same."""
    return bool(lines[at]) and lines[at] == lines[at].rstrip() and lines[at] not in lines[start:at]


def _with_context(
    lines: tuple[str, ...], change: Change, start: int, limits: tuple[int, st.DataObject]
) -> tuple[int, int]:
    following, draw = limits
    first = change.at
    last = min(change.at + change.removed + draw.draw(st.integers(0, 3)), following)
    while first == last and last < following:
        last += 1
    while first > start and not _is_first(lines, first, last, start):
        first -= 1
    return first, last


def _is_first(lines: tuple[str, ...], first: int, last: int, start: int) -> bool:
    wanted = lines[first:last]
    return all(lines[index : index + len(wanted)] != wanted for index in range(start, first))


def _hunk(edit: Edit, change: Change, place: tuple[int, int], form: tuple[str, bool]) -> str:
    first, last = place
    header, at_end = form
    kept_before = edit.lines[first : change.at]
    removed = edit.lines[change.at : change.at + change.removed]
    kept_behind = edit.lines[change.at + change.removed : last]
    marked = [f" {line}" for line in kept_before]
    marked += [f"-{line}" for line in removed]
    marked += [f"+{line}" for line in change.added]
    marked += [f" {line}" for line in kept_behind]
    return "".join(f"{line}\n" for line in [f"@@{header}", *marked, *(["*** End of File"] if at_end else [])])


@settings(max_examples=300)
@given(edits(), st.data())
def test_applying_a_printed_edit_gives_the_edit(edit: Edit, data: st.DataObject) -> None:
    """Whatever lines repeat, look like markers, differ in white space only, or end with what."""
    hunks = printed(edit, data)
    patch = parse_v4a(f"*** Begin Patch\n*** Update File: a/b.txt\n{hunks}*** End Patch\n")
    (change,) = apply_v4a(patch, {"a/b.txt": edit.before()}.get)
    assert change.content == edit.after()


@given(edits(), st.data())
def test_the_native_tool_makes_the_same_of_the_same_hunks(edit: Edit, data: st.DataObject) -> None:
    """The envelope says nothing that the operation does not say."""
    hunks = printed(edit, data)
    files = {"b.txt": edit.before()}
    (change,) = apply_v4a(parse_v4a_operation("update_file", "b.txt", hunks), files.get)
    assert change.content == edit.after()


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_an_added_file_has_the_printed_lines(lines: list[str]) -> None:
    """Every line of a new file is a whole one."""
    body = "".join(f"+{line}\n" for line in lines)
    (change,) = apply_v4a(parse_v4a(f"*** Begin Patch\n*** Add File: a\n{body}*** End Patch"), {}.get)
    assert change.content == "".join(f"{line}\n" for line in lines).encode()


PIECES = (
    *("*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Update File: a", "*** Delete File: a"),
    *("*** Move to: b", "*** End of File", "@@", "@@ a", " a", "-a", "+a", "", "a", "<<EOF", "EOF", "```", " ", "\\"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from([b"", b"a\n", b"a\nb\na", b"\xff\r\n"]))
def test_any_text_is_applied_or_refused_with_words(pieces: list[str], content: bytes) -> None:
    """No text makes anything else happen than changes or a message."""
    text = "\n".join(["*** Begin Patch", *pieces, "*** End Patch"])
    try:
        changes = apply_v4a(parse_v4a(text), {"a": content}.get)
    except V4AError as error:
        assert "No file was changed." in str(error)
    else:
        assert {change.path for change in changes} <= {"a", "b"}
