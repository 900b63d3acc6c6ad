"""What is really run behind wrappers: ``sudo``, ``timeout 9``, ``bash -c``, ``xargs``, ``find -exec``, ``python -c``.

Scripts that the agent wrote earlier are read when they are run; the repository's own are not, for they are not its
doing.
"""

import itertools
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchwright.judging.integrity_python import Program, read_program
from benchwright.judging.integrity_shell import LONGEST_TEXT, SUBSTITUTED, Command, commands

_DEEPEST = 20  # of wrappers and scripts within each other
# Of one tool call, for scripts that run themselves, or a long one, again and again:
_MOST = 2_000  # commands
_MOST_CHARACTERS = 3 * LONGEST_TEXT  # of texts and words
_MOST_FOLLOWED = 20 * LONGEST_TEXT  # characters of scripts that are read in one sample; that takes some 10 s


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A program that would be run."""

    program: str
    """Its name without a folder."""
    arguments: tuple[str, ...]
    text: str
    """The command as the agent wrote it, wrappers and all."""
    code: Program | None = None
    """What Python is given to run."""
    files: tuple[str, ...] = ()
    """Files of redirections."""
    background: bool = False
    at_most: float | None = None
    """Seconds after which ``timeout`` ends it."""


class _Wrapper:
    """A program that runs the command behind its own options."""

    def __init__(self, with_value: str = "", operands: int = 0) -> None:
        self.with_value = frozenset(with_value.split())
        """Options that take the next word."""
        self.operands = operands
        """Words of its own in front of the command."""


_WRAPPERS: Mapping[str, _Wrapper] = {
    "sudo": _Wrapper("-u -g -h -p -C -D -U --user --group"),
    "env": _Wrapper("-u -C --unset --chdir"),
    "timeout": _Wrapper("-s -k --signal --kill-after", operands=1),
    "time": _Wrapper("-f -o"),
    "nice": _Wrapper("-n"),
    "ionice": _Wrapper("-c -n"),
    "stdbuf": _Wrapper("-i -o -e"),
    "strace": _Wrapper("-e -o -p -s"),
    "xargs": _Wrapper("-I -n -P -d -L -s -a -E"),
    "parallel": _Wrapper("-j -a"),
    "watch": _Wrapper("-n"),
    "chroot": _Wrapper(operands=1),
    "flock": _Wrapper("-w", operands=1),
    **dict.fromkeys(("nohup", "exec", "command", "builtin", "setsid", "unbuffer", "busybox", "coproc"), _Wrapper()),
}
_FEEDS_WORDS = frozenset({"xargs", "parallel"})  # the command behind it gets more words than the text shows
# Programs whose verb `run` is a wrapper.
_RUNNERS = frozenset({"conda", "mamba", "micromamba", "uv", "poetry", "pdm", "pipenv", "hatch"})
_RUN = _Wrapper("-n -p --name --prefix --cwd --with --python --extra --group --directory --project")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "su"})
_SOURCES = frozenset({"source", "."})
_PYTHON = re.compile(r"(python|pypy)[\d.]*")
_PYTHON_OPTIONS = frozenset({"-W", "-X"})  # that take the next word
_OPTION_WITH_COMMAND = re.compile(r"-[a-zA-Z]*c")
_ENVIRONMENT = re.compile(r"[A-Za-z_]\w*=")
_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_STARTS_COMMANDS = re.compile(
    r"os\.(system|popen)|subprocess\.(run|call|Popen|check_output|check_call|getoutput|getstatusoutput)"
)


class Scripts:
    """Files that an agent wrote in one sample, by their names."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._left = _MOST_FOLLOWED

    def note(self, path: str, text: str) -> None:
        """A file was written; the last text counts."""
        self._texts[posixpath.basename(path)] = text

    def text(self, path: str) -> str:
        """What was last written to a file of that name; nothing when the agent wrote none, or has run too much."""
        text = self._texts.get(posixpath.basename(path), "")
        self._left -= min(len(text), LONGEST_TEXT)
        return text if self._left >= 0 else ""


def runs_of_shell(texts: Sequence[str], scripts: Scripts) -> tuple[Run, ...]:
    """What a shell would run that is given some texts one by one; files that the texts write are noted."""
    reading = _Reading(scripts)
    return tuple(run for text in texts for run in reading.shell(text, 0))


def runs_of_words(words: Sequence[str], scripts: Scripts) -> tuple[Run, ...]:
    """What a program and its arguments would run."""
    return tuple(_Reading(scripts).command(_command(words), 0))


def runs_of_python(code: str, scripts: Scripts) -> tuple[Run, ...]:
    """What a Python program would run, itself first."""
    return tuple(_Reading(scripts).python(code, Command(words=("python",), text=code), 0))


def _command(words: Sequence[str]) -> Command:
    return Command(words=tuple(words), text=shlex.join(words))


class _Reading:
    """Reads what one tool call was given; scripts that run each other are followed only so far."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._left = _MOST
        self._characters = _MOST_CHARACTERS

    def _takes(self, texts: Iterable[str]) -> bool:
        """Whether texts are still to be read after all that was."""
        if self._left >= 0 and self._characters >= 0:
            self._characters -= sum(min(len(text), LONGEST_TEXT) + 1 for text in texts)
        return self._left >= 0 and self._characters >= 0

    def shell(self, text: str, depth: int) -> Iterator[Run]:
        """What a script runs."""
        if depth > _DEEPEST or not self._takes([text]):
            return
        for command in commands(text):
            if not self._takes(command.words):
                return
            self._note_written(command)
            yield from self.command(command, depth + 1)

    def _note_written(self, command: Command) -> None:
        if not command.stdin:
            return
        if command.words[:1] == ("cat",) and command.output:
            self._scripts.note(command.output, command.stdin)
        elif command.words[:1] == ("tee",):
            for path in command.words[1:]:
                self._scripts.note(path, command.stdin)

    def command(self, command: Command, depth: int, at_most: float | None = None) -> Iterator[Run]:
        """What a command runs: itself, or what stands behind a wrapper."""
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return
        words = command.words
        program = posixpath.basename(words[0]) if words else ""
        arguments = words[1:]
        if program in _RUNNERS and arguments[:1] == ("run",):
            yield from self.command(replace(command, words=_unwrapped(_RUN, arguments[1:])[1]), depth + 1, at_most)
        elif program in _WRAPPERS:
            own, rest = _unwrapped(_WRAPPERS[program], arguments)
            limit = seconds(own[0]) if program == "timeout" and own else at_most
            given = (SUBSTITUTED,) if program in _FEEDS_WORDS and rest else ()
            yield from self.command(replace(command, words=rest + given), depth + 1, limit)
        elif (script := self._script(words, command)) is not None:
            yield from self.shell(script, depth + 1)
        elif _PYTHON.fullmatch(program):
            yield from self._python(arguments, command, depth, at_most)
        elif program.endswith(".py") and (code := self._scripts.text(program)):
            yield from self.python(code, command, depth)
        else:
            yield Run(
                program=program,
                arguments=arguments,
                text=command.text,
                files=command.files,
                background=command.background,
                at_most=at_most,
            )
            if program == "find":
                for words in _executed(arguments):
                    yield from self.command(replace(command, words=words), depth + 1)

    def _script(self, words: Sequence[str], command: Command) -> str | None:
        """The text that a shell is given to run; None for what is no shell."""
        program = posixpath.basename(words[0]) if words else ""
        if program == "eval":
            return " ".join(words[1:])
        if program in _SOURCES:
            return self._scripts.text(words[1]) if len(words) > 1 else ""
        if program.endswith((".sh", ".bash")):
            return self._scripts.text(program)
        if program not in _SHELLS:
            return None
        for place, word in enumerate(words[1:], 2):
            if _OPTION_WITH_COMMAND.fullmatch(word):
                return "".join(words[place : place + 1])
            if not word.startswith("-") and program != "su":
                return self._scripts.text(word)
        return command.stdin

    def _python(self, arguments: tuple[str, ...], command: Command, depth: int, at_most: float | None) -> Iterator[Run]:
        place = 0
        while place < len(arguments):
            word, behind = arguments[place], arguments[place + 1 :]
            if word == "-m":
                return self.command(replace(command, words=behind), depth + 1, at_most)
            if _OPTION_WITH_COMMAND.fullmatch(word):
                return self.python("".join(behind[:1]), command, depth)
            if not word.startswith("-"):
                return self.python(self._scripts.text(word), command, depth, arguments[place:])
            place += 2 if word in _PYTHON_OPTIONS else 1
        return self.python(command.stdin, command, depth)

    def python(self, code: str, command: Command, depth: int, arguments: tuple[str, ...] = ()) -> Iterator[Run]:
        """A Python program, and the commands that it starts itself."""
        program = read_program(code if self._takes([code]) else "")
        yield Run(
            program="python",
            arguments=arguments,
            text=command.text,
            code=program,
            files=command.files,
            background=command.background,
        )
        for call in program.calls:
            if _STARTS_COMMANDS.fullmatch(call.name):
                if call.words:
                    if self._takes(call.words):
                        yield from self.command(_command(call.words), depth + 1)
                elif call.texts:
                    yield from self.shell(call.texts[0], depth + 1)


def _executed(arguments: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The commands that ``find`` runs for what it finds."""
    starts = [place for place, word in enumerate(arguments) if word in _EXEC]
    for start, end in itertools.pairwise([*starts, len(arguments)]):
        yield arguments[start + 1 : end]


def _unwrapped(wrapper: _Wrapper, words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Operands of the wrapper, and the command behind them."""
    place = 0
    while place < len(words) and (words[place].startswith("-") or _ENVIRONMENT.match(words[place])):
        if words[place] == "--":
            place += 1
            break
        place += 2 if words[place] in wrapper.with_value else 1
    return words[place : place + wrapper.operands], words[place + wrapper.operands :]


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(duration: str) -> float | None:
    """A duration as ``sleep`` and ``timeout`` take it; None when it is none."""
    if duration in ("infinity", "inf"):
        return float("inf")
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)", duration)
    return float(found[1]) * _UNITS[found[2]] if found else None
