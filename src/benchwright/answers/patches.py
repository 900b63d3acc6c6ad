"""From the text of a patch to the files it edits: reading unified diffs, without touching a file system.

Patches come from models, agents and other harnesses.  What can be put right without guessing is put right and noted
(a missing final newline, names without prefixes, a markdown fence); what may be read in two ways is offered as
`variants`, to be tried in order on a fresh checkout.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from benchwright.answers.patch_hunks import Hunk, is_miscounted, recounted, with_header_line_ends
from benchwright.answers.patch_safety import unsafe_edits
from benchwright.answers.patch_sections import PatchedFile, is_only_header, patched_files, scan, starts_section
from benchwright.core.answers import NoAnswer
from benchwright.core.repositories import Edit
from benchwright.core.verdicts import Reason

MAX_PATCH_BYTES = 64 * 1024**2
"""Largest patch that is read; the longest reference patch of SWE-bench Verified has 21 kB."""

_DETAIL_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchAnswer:
    """A patch that has at least one file section."""

    text: str
    """The sections' texts one after the other: names with prefixes, a final newline, nothing in front."""
    files: tuple[PatchedFile, ...]
    """The file sections in their order; a file that is edited twice is there twice."""
    notes: tuple[str, ...] = ()
    """What was put right, one plain clause each."""


def read_patch(text: str | bytes | None) -> PatchAnswer | NoAnswer:
    """The patch in a text, or why there is none: ``EMPTY``, ``NOT_TEXT``, ``TOO_LARGE`` or ``NOT_A_PATCH``.

    Line ends stay as they are.  Nothing here says that the patch applies, or that it may: see `variants` and `unsafe`.
    """
    if text is None or not text.strip():
        return NoAnswer(reason=Reason.EMPTY, detail="the patch is empty")
    size = len(text) if isinstance(text, bytes) or len(text) * 4 <= MAX_PATCH_BYTES else _bytes_of(text)
    if size > MAX_PATCH_BYTES:
        return NoAnswer(
            reason=Reason.TOO_LARGE, detail=f"the patch has {size:,} bytes; at most {MAX_PATCH_BYTES:,} are read"
        )
    decoded = _decoded(text)
    if isinstance(decoded, NoAnswer):
        return decoded
    notes: list[str] = []
    lines = _lines(decoded, notes)
    files, prefixes_put = patched_files(lines)
    if not files:
        detail = "the text holds no file section of a unified diff ('--- a/x', '+++ b/x', '@@ … @@')"
        return NoAnswer(reason=Reason.NOT_A_PATCH, detail=detail)
    if prefixes_put:
        notes.append("names had no a/ and b/ in front; both were put there")
    return PatchAnswer(text=_joined(files), files=tuple(files), notes=tuple(notes))


def variants(answer: PatchAnswer) -> tuple[tuple[str, str], ...]:
    """What to try in order, each on a fresh tree, until one applies: a note for the record, and the patch's text.

    First the text as written.  Then with line ends LF where it has CRLF, and, should all lines have them, LF in
    headers only, for files that have CRLF themselves.  Last each of these with the counts of hunk headers corrected,
    where they are wrong.  No text comes twice.
    """
    lines = _split(answer.text)
    attempts = [("as written", lines)]
    if any(line.endswith("\r") for line in lines):
        attempts.append(("line ends made LF", [line.removesuffix("\r") for line in lines]))
        if all(line.endswith("\r") for line in lines):
            attempts.append(("line ends of headers made LF", with_header_line_ends(lines, _hunks(lines))))
    if any(map(is_miscounted, _hunks(lines))):
        for note, tried in tuple(attempts):
            corrected = recounted(tried, _hunks(tried))
            attempts.append((f"{note}, counts of hunks corrected", corrected))
    texts = {"".join(line + "\n" for line in tried): note for note, tried in reversed(attempts)}
    return tuple((note, text) for text, note in reversed(texts.items()))


def unsafe(answer: PatchAnswer) -> tuple[Edit, ...]:
    """Edits for which the whole patch must be refused (``PATCH_REJECTED``), each with the reason.

    Paths that are absolute, climb by ``..``, lie in a ``.git`` folder in any spelling that some file system takes for
    it, or hold control characters; links that can leave the repository and files below a link of the same patch;
    submodules; sections whose lines name different files; binary files without their content.
    """
    return unsafe_edits(answer.files)


def without(answer: PatchAnswer, paths: Collection[str]) -> PatchAnswer:
    """The patch less every section that changes one of the paths; its text is empty when none is left."""
    dropped = frozenset(paths)
    files = tuple(file for file in answer.files if dropped.isdisjoint(file.touched))
    return replace(answer, text=_joined(files), files=files)


_HUNK_FAILURES = (
    (r"^error: patch failed: (?P<path>.+):(?P<line>\d+)$", "the hunk at line {line} of {path} does not fit the file"),
    (r"^error: corrupt patch at (?:.*:|line )(?P<line>\d+)$", "the patch is malformed at its line {line}"),
    (r"^error: patch fragment without header at (?:.*:|line )(?P<line>\d+)\b.*$",
     "a hunk at line {line} of the patch belongs to no file"),
    (r"^error: (?P<path>.+): No such file or directory$", "{path} does not exist in the repository"),
    (r"^error: (?P<path>.+): already exists in (?:working directory|index)$", "{path} exists already"),
    (r"^error: cannot apply binary patch to '(?P<path>.+)' without full index line$",
     "the patch does not hold the content of the binary file {path}"),
    (r"^error: affected file '(?P<path>.+)' is beyond a symbolic link$", "{path} lies behind a symbolic link"),
    (r"^error: (?P<path>.+): patch does not apply$", "the patch does not fit {path}"),
)  # fmt: skip
_FAILURE_PATTERNS = tuple((re.compile(pattern, re.MULTILINE), sentence) for pattern, sentence in _HUNK_FAILURES)


def hunk_failure(message: str) -> str:
    """One plain clause, with file and line where given, for what ``git apply`` wrote to standard error."""
    found = [
        (match.start(), sentence.format(**match.groupdict()))
        for pattern, sentence in _FAILURE_PATTERNS
        if (match := pattern.search(message)) is not None
    ]
    if found:
        clause = min(found)[1]
    else:
        errors = [line for line in message.splitlines() if line.startswith(("error: ", "fatal: "))]
        first = next(iter(errors or message.strip().splitlines()), "")
        clause = first.removeprefix("error: ").removeprefix("fatal: ") or "git apply gave no reason"
    return clause if len(clause) <= _DETAIL_CHARACTERS else clause[: _DETAIL_CHARACTERS - 1] + "…"


def _joined(files: Sequence[PatchedFile]) -> str:
    """The sections' texts; a blank line keeps a plain section apart from the header of one without hunks."""
    texts: list[str] = []
    for file in files:
        if texts and file.text.startswith("--- ") and is_only_header(texts[-1]):
            texts.append("\n")
        texts.append(file.text)
    return "".join(texts)


def _hunks(lines: Sequence[str]) -> list[Hunk]:
    return [hunk for section in scan(lines) for hunk in section.hunks]


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _decoded(text: str | bytes) -> str | NoAnswer:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            return NoAnswer(reason=Reason.NOT_TEXT, detail=f"byte {error.start} of the patch is not UTF-8")
    if "\0" in text:
        return NoAnswer(reason=Reason.NOT_TEXT, detail=f"character {text.index(chr(0))} of the patch is NUL")
    try:
        text.encode("utf-8", "surrogateescape")  # bytes of files in other encodings, as Python carries them
    except UnicodeEncodeError as error:
        return NoAnswer(reason=Reason.NOT_TEXT, detail=f"character {error.start} of the patch is a lone surrogate")
    return text


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _lines(text: str, notes: list[str]) -> list[str]:
    """The lines from the first file section on, less markdown fences and what stands between them."""
    if not text.endswith("\n"):
        notes.append("the final newline was missing")
    lines = _split(text.removeprefix("\ufeff"))
    first = next((index for index in range(len(lines)) if starts_section(lines, index)), len(lines))
    if any(line.strip() for line in lines[:first] if not _is_fence(line)):
        notes.append("text in front of the first file section was left out")
    kept, fenced = _outside_fences(lines[first:])
    if fenced or any(_is_fence(line) for line in lines[:first]):
        notes.append("a markdown fence was left out")
    return kept


def _is_fence(line: str) -> bool:
    # No line of a diff begins with a backtick or a tilde: content has one of " +-\\" in front.
    return line.startswith(("```", "~~~"))


def _outside_fences(lines: Sequence[str]) -> tuple[list[str], bool]:
    """Lines less fence lines; what follows a closing fence counts again from the next file section on."""
    kept: list[str] = []
    fenced = open_again = False
    for index, line in enumerate(lines):
        if _is_fence(line):
            fenced, open_again = True, True
        elif not open_again or starts_section(lines, index):
            open_again = False
            kept.append(line)
    return kept, fenced
