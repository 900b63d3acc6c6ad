"""Names of files as diffs spell them: quoted or plain, with prefixes or without."""

import re

DEV_NULL = "/dev/null"
"""What a diff writes in place of the side that does not exist."""

_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {
    b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b'"': b'"', b"\\": b"\\"
}  # fmt: skip
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
# git's own prefixes (diff.noprefix, diff.mnemonicPrefix in git-config(1)): commit, index, object, working tree.
_PREFIXES = frozenset({("a", "b"), ("b", "a"), ("i", "w"), ("c", "i"), ("c", "w"), ("o", "w"), ("w", "i"), ("1", "2")})
_LONE_PREFIXES = frozenset({"a", "b"})


def unquoted(name: str) -> str:
    """The path behind a name of a header line: C-style quotes undone, a time stamp after a tab cut off.

    Bytes that are not UTF-8 become lone surrogates, as `os.fsdecode` has them.
    """
    found = _QUOTED.match(name)
    if found is None:
        return name.split("\t", 1)[0]
    inner = found[0][1:-1].encode("utf-8", "surrogatepass")
    return _ESCAPE.sub(_unescaped, inner).decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    text: bytes = found[1]
    # As git does, only the lowest eight bits count.
    return _LETTERS[text] if text in _LETTERS else bytes([int(text, 8) & 0xFF])


def git_names(rest: str) -> tuple[str, str] | None:
    """Both names, still quoted, behind ``diff --git``; None when nothing tells where the first one ends.

    Without quotes and with spaces the line can be read in one way only if both halves are equally long, which they
    are unless the file is renamed; then other lines of the header have the names.
    """
    first = _QUOTED.match(rest)
    if first is not None:
        second = rest[first.end() + 1 :]
        return (first[0], second) if rest[first.end() : first.end() + 1] == " " and second else None
    if rest.endswith('"') and ' "' in rest:
        cut = rest.index(' "')
        return rest[:cut], rest[cut + 1 :]
    middle = len(rest) // 2
    if len(rest) % 2 and rest[middle] == " " and stripped(rest[:middle]) == stripped(rest[middle + 1 :]):
        return rest[:middle], rest[middle + 1 :]
    halves = rest.split(" ")
    return (halves[0], halves[1]) if len(halves) == 2 and all(halves) else None


def is_prefixed(old: str, new: str) -> bool | None:
    """Whether the first folder of both names is a prefix such as ``a/`` and ``b/`` and no folder of the repository.

    None where it may be either: both names alike, or only one there, and the first folder called like a prefix.
    """
    if old == new or DEV_NULL in (old, new):
        there = new if old == DEV_NULL else old
        if _first(there) == ".":
            return True
        return None if _first(there) in _LONE_PREFIXES else False
    if not _first(old) or not _first(new):
        return False
    return (_first(old), _first(new)) in _PREFIXES or stripped(old) == stripped(new)


def stripped(path: str) -> str:
    """A path without its first folder."""
    return path.partition("/")[2]


def with_prefix(name: str, prefix: str) -> str:
    """A name of a header line, quoted or not, with a prefix put in front; ``/dev/null`` stays."""
    if unquoted(name) == DEV_NULL:
        return name
    return f'"{prefix}{name[1:]}' if name.startswith('"') else prefix + name


def _first(path: str) -> str:
    """The first folder, or nothing when the path has none."""
    head, slash, _ = path.partition("/")
    return head if slash else ""
