"""The commands in shell text, as an integrity check reads them: what would be run, with which words, fed with what.

Quotes, ``;``, ``&&``, ``|``, ``&``, line feeds, comments, ``$(…)``, backquotes, here-documents, redirections and
assignments are understood as bash has them; text that bash would refuse is read as far as it makes sense, never
refused.  Nothing is executed and no file is looked at: globs and loops stay as written.  Time is linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST_TEXT = 200_000
"""Characters of one text that are read; people do not type more, and files that are written are data anyway."""
SUBSTITUTED = "$(…)"
"""Stands in a word for what another command would print."""

_DEEPEST = 20  # of nested $(…); what is nested deeper is read as words
_LONGEST_VALUE = 10_000  # characters; a variable with more stays as it is written
_PLAIN = re.compile(r"[^\s\\'\"$`;&|()<>#]+|#")
_IN_DOUBLE = re.compile(r"[^\\\"$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?!$-]")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=(.*)", re.DOTALL)
_REDIRECTION = re.compile(r"<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[;&|]")
_KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "esac", "!", "{", "}"})
_ABOUT_WORDS = frozenset({"for", "select", "case", "function"})  # what follows them is data, up to a separator
_DECLARATIONS = frozenset({"export", "declare", "local", "readonly", "typeset"})
_SPEAKERS = frozenset({"echo", "printf"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command."""

    words: tuple[str, ...]
    """Program and arguments without quotes; keywords and assignments in front are left out."""
    text: str
    """As it is written."""
    stdin: str = ""
    """What it is fed with, as far as the text says so: a here-document, or what ``echo`` in front of a pipe prints."""
    files: tuple[str, ...] = ()
    """Files that are read or written by redirection."""
    output: str = ""
    """The file among them that its output goes to."""
    background: bool = False
    """Whether nobody waits for it."""


@dataclass(slots=True, kw_only=True)
class _Building:
    """A command while it is read."""

    start: int
    words: list[str] = field(default_factory=list)
    word: list[str] | None = None
    operator: str = ""
    """A redirection that waits for its word."""
    operand_start: int = 0
    text: str = ""
    stdin: str = ""
    files: list[str] = field(default_factory=list)
    output: str = ""
    background: bool = False
    source: "_Building | None" = None
    """What a pipe feeds it with."""

    def built(self) -> Command:
        return Command(
            words=tuple(self.words),
            text=self.text,
            stdin=self.stdin or (self.source.said() if self.source else ""),
            files=tuple(self.files),
            output=self.output,
            background=self.background,
        )

    def said(self) -> str:
        """What it prints, as far as that stands in the text."""
        if self.words and self.words[0] in _SPEAKERS:
            return " ".join(self.words[1:]).replace("\\n", "\n")
        return self.stdin if self.words[:1] in (["cat"], ["tee"]) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A here-document whose body is still to come."""

    end: str
    strips_tabs: bool
    expands: bool
    reader: _Building


class _Variables:
    """Values of variables; a text that doubles one again and again grows no further than `LONGEST_TEXT`."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._left = LONGEST_TEXT

    def put(self, name: str, value: str) -> None:
        """A variable is set."""
        self._values.pop(name, None)
        if len(value) <= _LONGEST_VALUE:
            self._values[name] = value

    def expanded(self, name: str, written: str) -> str:
        """What stands for a variable: its value, or how it is written when that is not known."""
        value = self._values.get(name)
        if value is None or len(value) > self._left:
            return written
        self._left -= len(value)
        return value


def commands(text: str) -> tuple[Command, ...]:
    """All simple commands that would be run, those inside substitutions included, in the order in which they end."""
    reader = _Reader(text[:LONGEST_TEXT], _Variables(), 0)
    reader.read("")
    return tuple(building.built() for building in reader.found)


class _Reader:
    def __init__(self, text: str, variables: _Variables, depth: int) -> None:
        self.text = text
        self.place = 0
        self.found: list[_Building] = []
        self._variables = variables
        self._depth = depth
        self._documents: list[_Document] = []

    def read(self, stop: str, *, data: bool = False) -> None:
        """Read commands up to a character that ends them; ``data``: they are words of an array, no commands."""
        now = _Building(start=self.place)
        while self.place < len(self.text):
            char = self.text[self.place]
            if char == stop:
                break
            if char == "\n":
                now = self._ended(now, data)
                self.place += 1
                self._read_documents()
                now.start = self.place
            elif char.isspace():
                self._end_word(now)
                self.place += 1
            elif char == "#" and now.word is None:
                self._skip_to("\n")
            elif not self._redirects(now):
                now = self._separated(now, data) or now
        self._ended(now, data)
        self.place += 1

    def _separated(self, now: _Building, data: bool) -> _Building | None:
        """The next command behind a separator; None when there is none here, and a piece of a word was read."""
        char = self.text[self.place]
        if char == "(" and now.word is not None and now.word[-1:] and now.word[-1].endswith("="):
            self._nested(now.word, ")", 1, data=True)
            return None
        if char in "()":
            following = self._ended(now, data)
            self.place += 1
            if char == "(" and self._depth < _DEEPEST:
                self._inside(")", data=data)
                following.start = self.place
            return following
        separator = _SEPARATOR.match(self.text, self.place)
        if separator is None:
            self._piece(now)
            return None
        now.background = separator[0] == "&"
        following = self._ended(now, data)
        self.place = following.start = separator.end()
        if separator[0] in ("|", "|&"):
            following.source = now
        return following

    def _ended(self, now: _Building, data: bool) -> _Building:
        """Finish a command and give a fresh one."""
        self._end_word(now)
        now.text = self.text[now.start : self.place].strip()
        now.words = list(self._without_prefix(now.words))
        if (now.words or now.files) and not data:
            self.found.append(now)
        return _Building(start=self.place + 1)

    def _without_prefix(self, words: list[str]) -> Iterator[str]:
        first = 0
        while first < len(words):
            if words[first] in _ABOUT_WORDS:
                return
            assignment = _ASSIGNMENT.fullmatch(words[first])
            if assignment:
                self._variables.put(assignment[1], assignment[2])
            elif words[first] not in _KEYWORDS:
                break
            first += 1
        if words[first:] and words[first] in _DECLARATIONS:
            for word in words[first + 1 :]:
                if assignment := _ASSIGNMENT.fullmatch(word):
                    self._variables.put(assignment[1], assignment[2])
        yield from words[first:]

    def _end_word(self, now: _Building) -> None:
        if now.word is None:
            return
        word, now.word = "".join(now.word), None
        operator, now.operator = now.operator, ""
        if not operator:
            now.words.append(word)
        elif operator in ("<<", "<<-"):
            written = self.text[now.operand_start : self.place]
            expands = not any(mark in written for mark in "'\"\\")
            self._documents.append(_Document(end=word, strips_tabs=operator == "<<-", expands=expands, reader=now))
        elif operator == "<<<":
            now.stdin = word
        elif not word.isdigit() and word != "-":
            now.files.append(word)
            if ">" in operator:
                now.output = word

    # Redirections

    def _redirects(self, now: _Building) -> bool:
        found = _REDIRECTION.match(self.text, self.place)
        if found is None:
            return False
        if now.word is not None and "".join(now.word).isdigit():
            now.word = None  # the number of a descriptor
        self._end_word(now)
        self.place = found.end()
        if found[0] in ("<", ">") and self.text.startswith("(", self.place):
            now.word = []
            self._nested(now.word, ")", 1)
            return True
        now.operator = found[0]
        while self.text[self.place : self.place + 1] in (" ", "\t"):
            self.place += 1
        now.operand_start = self.place
        return True

    def _read_documents(self) -> None:
        documents, self._documents = self._documents, []
        for document in documents:
            lines = []
            while self.place < len(self.text):
                end = self.text.find("\n", self.place)
                end = len(self.text) if end < 0 else end
                line = self.text[self.place : end]
                line = line.lstrip("\t") if document.strips_tabs else line
                self.place = end + 1
                if line == document.end:
                    break
                lines.append(line + "\n")
            document.reader.stdin = "".join(lines)
            if document.expands:
                self._expand(document.reader.stdin)

    def _expand(self, body: str) -> None:
        """Take in the commands that a here-document runs while it is read."""
        inner = _Reader(body, self._variables, self._depth + 1)
        word: list[str] = []
        while inner.place < len(body):
            inner._in_double(word)
        self.found += inner.found

    # Pieces of words

    def _piece(self, now: _Building) -> None:
        """Read one quoted or unquoted stretch of a word."""
        if self.text.startswith("\\\n", self.place):
            self.place += 2
            return
        if now.word is None:
            now.word = []
        char = self.text[self.place]
        if char == "\\":
            now.word.append(self.text[self.place + 1 : self.place + 2])
            self.place += 2
        elif char == "'":
            self._single(now.word)
        elif char == '"':
            self._double(now.word)
        elif char == "$":
            self._dollar(now.word)
            self._split(now)
        elif char == "`":
            self._nested(now.word, "`", 1)
        else:
            plain = _PLAIN.match(self.text, self.place)
            now.word.append(plain[0] if plain else char)
            self.place += len(plain[0]) if plain else 1

    def _split(self, now: _Building) -> None:
        """An unquoted variable that alone makes up a word becomes as many words as its value has."""
        if now.word is not None and len(now.word) == 1 and not now.operator and " " in now.word[0]:
            *before, last = now.word[0].split() or [""]
            now.words += before
            now.word = [last]

    def _single(self, word: list[str]) -> None:
        end = self.text.find("'", self.place + 1)
        if end < 0:  # an apostrophe in prose, or a text that was cut
            word.append("'")
            self.place += 1
        else:
            word.append(self.text[self.place + 1 : end])
            self.place = end + 1

    def _double(self, word: list[str]) -> None:
        self.place += 1
        if self.text.find('"', self.place) < 0:
            word.append('"')
            return
        while self.place < len(self.text) and self.text[self.place] != '"':
            self._in_double(word)
        self.place += 1

    def _in_double(self, word: list[str]) -> None:
        char = self.text[self.place]
        if char == "\\":
            escaped = self.text[self.place + 1 : self.place + 2]
            word.append(escaped if escaped in '$`"\\' else "" if escaped == "\n" else char + escaped)
            self.place += 2
        elif char == "$":
            self._dollar(word)
        elif char == "`":
            self._nested(word, "`", 1)
        else:
            run = _IN_DOUBLE.match(self.text, self.place)
            word.append(run[0] if run else char)
            self.place += len(run[0]) if run else 1

    def _dollar(self, word: list[str]) -> None:
        following = self.text[self.place + 1 : self.place + 2]
        if self.text.startswith("$((", self.place):
            self._skip_behind("))", word)
        elif following == "(":
            self._nested(word, ")", 2)
        elif following == "{":
            self._braces(word)
        elif following == "'":
            self.place += 1
            self._single(word)
        else:
            name = _NAME.match(self.text, self.place + 1)
            word.append(self._variables.expanded(name[0], f"${name[0]}") if name else "$")
            self.place += 1 + (len(name[0]) if name else 0)

    def _braces(self, word: list[str]) -> None:
        start = self.place
        self._skip_behind("}", [])
        inside = self.text[start + 2 : self.place - 1]
        word.append(self._variables.expanded(inside, "${" + inside + "}"))

    def _nested(self, word: list[str], stop: str, opening: int, *, data: bool = False) -> None:
        """Take in the commands of a substitution; ``opening`` characters introduce it."""
        if self._depth >= _DEEPEST:
            word.append(self.text[self.place : self.place + opening])
            self.place += opening
            return
        self.place += opening
        self._inside(stop, data=data)
        word.append(SUBSTITUTED)

    def _inside(self, stop: str, *, data: bool) -> None:
        self._depth += 1
        self.read(stop, data=data)
        self._depth -= 1

    def _skip_to(self, mark: str) -> None:
        end = self.text.find(mark, self.place)
        self.place = len(self.text) if end < 0 else end

    def _skip_behind(self, mark: str, word: list[str]) -> None:
        start = self.place
        self._skip_to(mark)
        self.place = min(len(self.text), self.place + len(mark))
        word.append(self.text[start : self.place])
