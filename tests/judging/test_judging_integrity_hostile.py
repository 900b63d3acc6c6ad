"""An agent writes the texts that an integrity check reads: none may stop it, and none may keep it busy for long."""

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.agents import Action, Finding, FindingKind
from benchwright.judging.integrity import find

LARGE = 20_000
"""Characters, about: an eighth of them takes an eighth of the time, and a sixty-fourth where time is quadratic."""
LONG = 160_000
"""As many as are read, about: for what is quadratic with a tiny factor."""


def command(text: str, tool: str = "bash", output: str = "", turn: int = 1) -> Action:
    """One tool call."""
    return Action(turn=turn, tool=tool, text=text, output=output)


def found(*actions: Action, written: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """What is found in actions, and in files that were written."""
    return find(actions, edited_tests=(), runner_files=(), written=written)


def kinds(*actions: Action) -> set[FindingKind]:
    """Kinds of what is found."""
    return {finding.kind for finding in found(*actions)}


def seconds(shape: Callable[[int], tuple[Action, ...]], size: int) -> float:
    """Processor time for reading a shape, the shortest of three."""
    actions = shape(size)
    return min(_once(actions) for _ in range(3))


def _once(actions: tuple[Action, ...]) -> float:
    before = time.process_time()
    found(*actions)
    return time.process_time() - before


def is_linear(shape: Callable[[int], tuple[Action, ...]], size: int = LARGE) -> bool:
    """Whether time grows with the size, with much room for a busy machine and for what takes hardly any."""
    return seconds(shape, size) < 24 * seconds(shape, size // 8) + 0.1


WORDS = {
    "options of git branch": lambda n: "git branch -" + "a" * n + "!",
    "options of nc": lambda n: "nc -" + "l" * n + "! localhost",
    "duration": lambda n: "sleep " + "1" * n + "!",
    "decimal duration": lambda n: "sleep ." + "1" * n + "!",
    "limit": lambda n: "timeout " + "1" * n + "! ls",
    "path behind a port": lambda n: "curl 'a.b:1" + "/" * n + "\n x'",
    "host": lambda n: "curl '" + "a." * (n // 2) + "!'",
    "user": lambda n: "curl '" + "a@" * (n // 2) + "'",
    "remote path": lambda n: "scp '" + "a.b:" * (n // 4) + "\n' x",
    "brackets of a URL": lambda n: "foo '" + "http://[" * (n // 8) + "'",
    "schemes": lambda n: "foo '" + "git+" * (n // 4) + "'",
    "user of a URL": lambda n: "foo '" + "ssh://a" * (n // 7) + "'",
    "local": lambda n: "curl " + ".local" * (n // 6),
    "git's folder": lambda n: "find " + "/.git" * (n // 5) + "x",
    "inside git": lambda n: "cat " + ".git/refs" * (n // 9),
    "hash": lambda n: "git show " + "a" * n + "g",
    "range": lambda n: "git diff " + "." * n,
    "numbers of a tag": lambda n: "git show 1" + ".1" * (n // 2) + "!",
    "switch": lambda n: "git switch " + "a/" * (n // 2) + "!",
    "option with a command": lambda n: "bash -" + "c" * n + "!",
    "environment": lambda n: "env " + "a" * n + " " + "A=1 " * (n // 4),
    "assignment": lambda n: "a[" * (n // 2) + "=",
    "socket": lambda n: "cat < /dev/tcp/" + "a" * n,
    "socat": lambda n: "socat " + "TCP:" * (n // 4),
    "page": lambda n: "https://" * (n // 8),
    "names of known commits": lambda n: "git show " + "1234567 " * (n // 8),
}  # fmt: skip


@pytest.mark.parametrize("shape", WORDS.values(), ids=WORDS)
def test_words_of_commands_are_read_in_linear_time(shape: Callable[[int], str]) -> None:
    """No expression tries one way after the other to read a long word."""
    log = command("git log", output="\n".join(f"{number:07}" for number in range(1_000)))
    assert is_linear(lambda size: (log, command(shape(size)), command(shape(size), tool="WebFetch")))


def test_many_brackets_of_addresses_are_read_in_linear_time() -> None:
    """Each might begin an address of numbers that ends far away."""
    assert is_linear(lambda size: (command("foo '" + "http://[" * (size // 8) + "'"),), LONG)


OUTPUTS = {
    "tags": lambda n: "1.0" + "a1." * (n // 3) + "/",
    "lines of tags": lambda n: "1.0a.a.a.a.a!\n" * (n // 14),
    "descriptions": lambda n: "-1-gaaaa" * (n // 8) + "!",
    "digits of a description": lambda n: "-" + "1" * n + "-g" + "a" * n + "!",
    "digits": lambda n: "a" * n + " " + "1a" * n,
    "hashes that begin alike": lambda n: "\n".join(f"aaaaaaa{number:09}" for number in range(n // 17)),
    "branches": lambda n: "* " * (n // 2) + "\n" + "On branch " + "a" * n + "!",
    "decorations": lambda n: "tag: " * (n // 5),
    "exit codes": lambda n: "Exit code 1" + "1" * n + "\n" * n,
    "lines that begin with command": lambda n: "command timed out\n" * (n // 18),
    "one line that begins with command": lambda n: "command" + " timed out" * (n // 10),
    "ended": lambda n: "[the command was ended after " + "1," * n + "!",
}  # fmt: skip


@pytest.mark.parametrize("shape", OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_are_read_in_linear_time(shape: Callable[[int], str]) -> None:
    """Each line is matched against names of tags, branches and notes of time-outs."""
    known = "git show aaaaaaa000000000 " * 20
    assert is_linear(lambda size: (command("git tag", output=shape(size)), command(known, turn=2)))


@pytest.mark.parametrize("folder", ["opt/{}", "opt/inspect{}", "home/{}/.cache", "{}/bin/claude\n", "{}"])
@pytest.mark.parametrize("part", ["conda", "/.benchwright", "/__pycache__", ".pyc", "/bin/mini", ".claude.json", "a"])
def test_paths_are_read_in_linear_time(folder: str, part: str) -> None:
    """Names of files are the agent's too."""

    def once(size: int) -> float:
        before = time.process_time()
        found(written=("/" + folder.format(part * (size // len(part)) + "x"),) * 3)
        return time.process_time() - before

    assert min(once(LONG) for _ in range(3)) < 24 * min(once(LONG // 8) for _ in range(3)) + 0.1


def test_time_for_names_of_releases_does_not_explode() -> None:
    """A separator that may belong to the word before or behind it doubled the time with each word."""

    def names(count: int) -> tuple[Action, ...]:
        name = "1.0" + "a." * count
        return command("git tag", output=f"{name}/\n" * 5), command(f"git checkout {name}!")

    assert seconds(names, 20) < 8 * seconds(names, 10) + 0.05


@pytest.mark.parametrize(
    "name", ["1.0a1.dev3", "v1.0-rc.1", "release-2.0.0b3", "2.0.x", "1.0.post1", "1.0-beta-2", "rel_1_4_0rc1", "1.0aa"]
)
def test_names_of_releases_are_still_known(name: str) -> None:
    """With separators on either side of their words."""
    assert kinds(command(f"git checkout {name}")) == {FindingKind.HISTORY}


def test_a_name_of_hundreds_of_characters_is_no_release() -> None:
    """Neither a tag one may look at nor one that is looked for."""
    assert kinds(command("git checkout 1.0" + ".1" * 48)) == {FindingKind.HISTORY}
    assert kinds(command("git checkout 1.0" + ".1" * 49)) == set()


@pytest.mark.parametrize(
    ("duration", "waits"),
    [("61", True), ("61.", True), ("61.5s", True), (".5h", True), ("2m", True), ("6.1.", False), (".", False),
     ("59.9", False), ("1" * 400, True), ("0." + "1" * 400 + "d", True)],
)  # fmt: skip
def test_durations_are_read_as_sleep_reads_them(duration: str, waits: bool) -> None:
    """Digits before a point, behind it, or both."""
    assert kinds(command(f"sleep {duration}")) == ({FindingKind.LONG_WAIT} if waits else set())


@pytest.mark.parametrize(
    "doubling",
    ["a=$a$a;", "a=${a}${a};", "export a=$a$a;", 'a="$a$a"\n', "a=$(echo $a$a);", "cat <<A\n$(echo $a$a)\nA\na=$a$a;"],
)
def test_variables_that_double_stay_short(doubling: str) -> None:
    """Forty doublings would fill any memory; what comes behind them is read."""
    assert kinds(command("a=aa;" + doubling * 40 + "\ncurl https://example.com")) == {FindingKind.NETWORK}


def test_long_values_are_not_put_in_again_and_again() -> None:
    """A value of 10,000 characters in thousands of places would make a text of many million."""
    use = "git log $a;"
    text = "a=" + "b" * 10_000 + ";" + use * 1_500
    assert is_linear(lambda size: (command("a=" + "b" * 10_000 + ";" + use * (size // len(use))),))
    assert kinds(command(text + "curl $a")) == {FindingKind.NETWORK}
    assert kinds(command("a=https://a.org/" + "b" * 9_000 + "; curl $a")) == {FindingKind.NETWORK}


NESTED = {
    "substitutions": "echo $(", "backquotes in substitutions": "`$(", "quoted substitutions": 'echo "$(',
    "here-documents": "cat <<A\n$(", "quotes": "\"'$(", "functions": "f() { ", "functions in brackets": "f() ( ",
    "subshells": "( ", "arrays": "a=(", "files of commands": "cat <(", "braces": "${a:-", "sums": "$((1+",
    "case": "case a in a) ", "loops": "while for a in b; do ", "shells": "bash -c '", "eval": "eval ",
    "wrappers": "sudo env timeout 9 xargs ",
    "actions": '{"action":', "calls": "f(", "lists": "[", "dictionaries": "{1:", "lambdas": "lambda x=(",
    "not": "not ", "sums of Python": "1+", "attributes": "a.", "f-strings": "f'{",
}  # fmt: skip


@pytest.mark.parametrize("tool", ["bash", "python", "Write"])
@pytest.mark.parametrize("opening", NESTED.values(), ids=NESTED)
def test_deep_nesting_ends(opening: str, tool: str) -> None:
    """Open or closed, nothing goes beyond the stack, and time grows with the text."""
    closing = {"(": ")", "[": "]", "{": "}", "{1:": "1}", '{"action":': "}"}.get(opening.strip(), "")
    assert is_linear(lambda size: (command(opening * (size // len(opening)), tool),))
    assert found(command(opening * 400 + "1" + closing * 400, tool)) == ()
    assert found(command(json.dumps({"command": opening * 5_000}), tool)) == ()


def numbered(count: int) -> str:
    """Here-documents within each other, each with its own end."""
    opened = "".join(f"cat <<A{number}\n$(" for number in range(count))
    return opened + "".join(f")\nA{number}\n" for number in reversed(range(count)))


def test_here_documents_within_each_other_end() -> None:
    """Each is read once more than the one around it, down to where nesting is followed."""
    assert is_linear(lambda size: (command(numbered(size // 20)),))
    assert kinds(command(numbered(300) + "\ncurl a.org")) == {FindingKind.NETWORK}


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: "x=[" + "1," * n + "]\n" + "f(x)\n" * (n // 4),
        lambda n: "x='" + "a" * n + "'\n" + "f(x)\n" * (n // 4),
        lambda n: ("f(" * 90 + "1" + ")" * 90 + "\n") * (n // 250),
        lambda n: "f(" * 90 + "[" + "'a'," * (n // 4) + "]" + ")" * 90,
        lambda n: "import requests\nx='http://" + "a" * n + "'\n" + "requests.get(x)\n" * (n // 16),
        lambda n: "import requests\nx=" + "['git+" + "a" * n + "']" + "\nrequests.get(x)\n" * (n // 16),
    ],
)
def test_long_values_in_programs_are_looked_at_once(shape: Callable[[int], str]) -> None:
    """However many calls are given the same list or text."""
    assert is_linear(lambda size: (command(shape(size), tool="python"),))


def script(name: str, text: str) -> Action:
    """A file that the agent writes."""
    return command(json.dumps({"file_path": f"/tmp/{name}", "content": text}), tool="Write")


@pytest.mark.parametrize(
    "actions",
    [
        (script("x.sh", "l" * 10 * LARGE), command("bash x.sh;" * 2_000)),
        (script("x.sh", "ls;" * 60_000), command(json.dumps({"commands": ["bash x.sh"] * 5_000}))),
        (script("x.py", "f(1)\n" * 40_000), command("python x.py;" * 2_000)),
        (script("x.sh", "'a'$x" * 40_000), *(command("bash x.sh", turn=turn) for turn in range(500))),
        (command("import os\nx='" + "ls;" * 30_000 + "'\n" + "os.system(x)\n" * 8_000, tool="python"),),
        (command("import subprocess\nx=[" + "'a'," * 20_000 + "]\n" + "subprocess.run(x)\n" * 5_000, tool="python"),),
    ],
    ids=["long word", "list of commands", "program", "many turns", "text of a shell", "words of a command"],
)
def test_scripts_are_followed_only_so_far(actions: tuple[Action, ...]) -> None:
    """Running a long script thousands of times costs the agent little, so reading it may not cost much more.

    Told by comparison with the reading of a million characters.
    """
    whole = tuple(command("'a'$x" * 40_000) for _ in range(5))
    assert _once(actions) < 32 * _once(whole)


def test_a_script_counts_after_many_runs_of_it() -> None:
    """The limit is far beyond what an agent does in earnest."""
    text = "import socket\n" + "print(1)\n" * 300
    runs = [command("python x.py", turn=turn) for turn in range(200)]
    late = [script("y.py", "import urllib.request\nurllib.request.urlopen('https://a.org')"), command("python y.py")]
    assert kinds(script("x.py", text), *runs, *late) == {FindingKind.NETWORK}


@pytest.mark.parametrize("number", ["0x" + "f" * 1_000, "1" + "0" * 4_000, "1e999", "9" * 310, "True", "1j"])
def test_numbers_of_any_size_are_read(number: str) -> None:
    """No float holds them all, and Python refuses to write the longest."""
    program = f"import time, subprocess\nsubprocess.run(['sleep', {number}])\ntime.sleep({number})\n"
    asks = "import requests\nrequests.get('https://a.org')"
    assert FindingKind.NETWORK in kinds(command(program + asks, tool="python"))


def test_links_to_programs_of_scaffolds_are_harmless() -> None:
    """Scaffolds put them into a folder of programs before the agent begins; others are looked at."""
    links = ("/usr/local/bin/claude", "/opt/env/bin/codex", "/usr/local/bin/mini", "/usr/local/bin/tokens-left")
    assert found(written=links) == ()
    others = ("/usr/local/bin/claude2", "/usr/local/bin/mini/x", "/usr/local/sbin/codex", "/usr/bin/git", "/mini")
    assert [finding.excerpt for finding in found(written=others)] == list(others)


PIECES = st.sampled_from(
    ["$(", ")", "`", "'", '"', "<<EOF\n", "<<-'A'\n", "EOF\n", "A\n", "git ", "log ", "branch ", "-a", "--all", "\\",
     "curl ", "a.org", "http://[", "@", ":", "\n", ";", "&&", "|", "&", "(", "{ ", "}", "${a}", "$a", "a=$a$a", "$((",
     "))", "$'", "python ", "-c ", "bash ", "x.sh ", "> x.sh", "cat ", "tee ", "eval ", "find ", "-exec ", "sudo ",
     "timeout ", "xargs ", "<(", "x=(", "case ", "for ", "sleep ", "9d", ".", "1.0a", "[", ",", '{"command": ',
     '{"action": ', "]", "import os\n", "os.system(", "time.sleep(", "0xfffffffff", "f'{", "*", "lambda x:",
     "On branch ", "tag: ", "1234567", "Exit code 1", "Command timed out after 1s", "\udcff", "\0", "é", "٣", "²"]
)  # fmt: skip
TEXTS = st.text() | st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join)
TOOLS = st.sampled_from(["bash", "python", "Write", "text_editor", "WebFetch", "WebSearch", "Grep", "shell", ""])
ACTIONS = st.builds(
    Action, turn=st.integers(1, 3), tool=TOOLS | st.text(max_size=10), text=TEXTS | TEXTS.map(json.dumps), output=TEXTS
)


@given(st.lists(ACTIONS, max_size=4), st.lists(TEXTS | TEXTS.map("/".__add__), max_size=4), TEXTS)
def test_any_commands_and_outputs_are_read(actions: list[Action], written: list[str], told: str) -> None:
    """Whatever is given, findings come back: of turns that there are, on one line, and short."""
    findings = find(actions, edited_tests=written, runner_files=(), written=written, told=told)
    assert {finding.turn for finding in findings} <= {action.turn for action in actions} | {None}
    assert all(len(finding.excerpt) <= 120 and "\n" not in finding.excerpt for finding in findings)
