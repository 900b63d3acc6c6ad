"""The shell of the bash tool: what goes on from call to call, and what nothing an agent does can end.

Sessions run in the namespace sandbox and on this machine, which stands for a sandbox that is not ours; those that would
do harm run in the namespace alone.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.util import SandboxEnvironment
from sandboxing_pieces import place
from scaffold_pieces import HostEnvironment

from benchwright.bridge.sandboxing.base import live
from benchwright.bridge.scaffolds import bash_tool
from benchwright.bridge.scaffolds.bash_tool import Shell
from benchwright.core.errors import SandboxFault

LIMIT = 2000
EVAL = "bash: eval: line 2:"
Session = list[tuple[str, str]]


class Place:
    """Where shells are begun, each in a folder of its own."""

    def __init__(self, runner: asyncio.Runner, environment: SandboxEnvironment, folder: str) -> None:
        self.runner = runner
        self.environment = environment
        self._folder = folder
        self._shells = 0

    def begin(self) -> "Begun":
        """A new shell."""
        self._shells += 1
        folder = f"{self._folder}/{self._shells}"
        self.runner.run(self.environment.exec(["mkdir", "-p", folder], cwd="/"))
        return Begun(self, Shell(self.environment, folder, output_bytes=LIMIT), folder)


class Begun:
    """A shell."""

    def __init__(self, place: Place, shell: Shell, folder: str) -> None:
        self._place = place
        self.shell = shell
        self.folder = folder

    def __call__(self, command: str, seconds: int = 20) -> str:
        """What the model is shown of a command."""
        return self._place.runner.run(self.shell.run(command, seconds=seconds))


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """One event loop for all."""
    with asyncio.Runner() as opened:
        yield opened


@pytest.fixture(scope="module")
def inside(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A namespace sandbox."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found:
        environments = runner.run(found.provider.sample_init("t", found.config, {}))
        yield Place(runner, environments["default"], "/testbed")
        runner.run(found.provider.sample_cleanup("t", found.config, environments, False))


@pytest.fixture(params=[pytest.param("namespace", marks=pytest.mark.namespaces), "host"])
def begin(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Begun]:
    """Begins a shell, in either place."""
    if request.param == "namespace":
        there: Place = request.getfixturevalue("inside")
        return there.begin
    monkeypatch.setattr(bash_tool, "STATE", str(tmp_path / "state-"))
    return Place(runner, HostEnvironment(), str(tmp_path)).begin


SESSIONS: dict[str, Session] = {
    "folder": [("pwd", "{folder}"), ("cd /usr; cd bin", "[no output]"), ("pwd; cd -", "/usr/bin\n/usr")],
    "variables": [
        ('x=1; export Y="a b\nc\t\'\\\\"; declare -i n=4; readonly R=5; z=', "[no output]"),
        ('echo "$x|$Y|$R|${z-unset}"; env | grep -c ^Y=; env | grep -c ^x=', "1|a b\nc\t'\\|5|\n1\n0\n[exit code 1]"),
        ("n+=1; echo $n", "5"),
        ("unset x; R=6; echo no", "bash: line 1: R: readonly variable\n[exit code 1]"),
        ("echo ${x-gone}$R", "gone5"),
    ],
    "arrays": [
        ('a=(1 "2 3" ""); declare -A m=([k]=v ["k 2"]="v 2"); declare -n r=m', "[no output]"),
        ('echo "${#a[@]} ${a[1]} ${m[k 2]} ${r[k]}"', "3 2 3 v 2 v"),
    ],
    "a variable of the image that was unset": [("unset HOME", "[no output]"), ("echo ${HOME-gone}", "gone")],
    "functions": [
        ('f() { echo "f $1"; }; g() { cat <<X\nhere $1\nX\n}; export -f f; readonly -f g', "[no output]"),
        ("f 1; g 2; bash -c 'f 3'; g() { :; }", "f 1\nhere 2\nf 3\nbash: line 1: g: readonly function\n[exit code 1]"),
    ],
    "functions with odd bodies": [
        ("shopt -s extglob", "[no output]"),
        ("p() { case $1 in +(a|b)) echo yes;; *) echo no;; esac; }; q-r() { echo odd; }", "[no output]"),
        ("shopt -u extglob", "[no output]"),
        ("p abab; q-r; shopt extglob", "no\nodd\nextglob        \toff\n[exit code 1]"),
        ("shopt -s extglob; p abab", "yes"),
    ],
    "aliases": [("alias hi='echo hello'", "[no output]"), ("hi you; alias", "hello you\nalias hi='echo hello'")],
    "options": [
        ("set -o pipefail; set -f; umask 027; shopt -s nullglob", "[no output]"),
        ("false | true; echo $? *; umask; shopt -q nullglob && echo on", "1 *\n0027\non"),
    ],
    "set -e": [
        ("set -e; false; echo no", "[exit code 1]"),
        ("echo yes; false; echo no", "yes\n[exit code 1]"),
        ("set +e; false; echo on", "on"),
    ],
    "set -u": [
        ("set -u", "[no output]"),
        ("echo $nope", "bash: line 1: nope: unbound variable\n[exit code 127]"),
        ("echo on", "on"),
    ],
    "options that would end every call": [
        ("set -n; echo no", "[no output]"),
        ("echo on; set -t", "on"),
        ("echo on; echo on", "on\non"),
    ],
    "exit": [("x=7; cd /; exit 3", "[exit code 3]"), ("echo $x; pwd", "7\n/")],
    "exit in a function": [
        ("x=outer; f() { local x=inner IFS=,; cd /; exit 1; }; f", "[exit code 1]"),
        ('echo $x; pwd; printf %q "$IFS"', "outer\n/\n$' \\t\\n'"),
    ],
    "exec": [("x=1", "[no output]"), ("x=2; exec echo gone", "gone"), ("echo $x", "1")],
    "a syntax error": [
        ("x=1\nif then", f"{EVAL} syntax error near unexpected token `then'\n{EVAL} `if then'\n[exit code 2]"),
        ("echo $x", "1"),
    ],
    "lines are counted from 1": [("true\nnosuch", "bash: line 2: nosuch: command not found\n[exit code 127]")],
    "a folder that is removed": [
        ("mkdir d; cd d; rmdir ../d; pwd", "{folder}/d"),
        ("pwd", "[The folder {folder}/d is no longer there; the shell is in {folder}.]\n{folder}"),
        ("pwd", "{folder}"),
    ],
    "no PATH": [
        ("unset PATH; nosuch", "bash: line 1: nosuch: No such file or directory\n[exit code 127]"),
        ("echo ${PATH-gone}; PATH=/usr/bin:/bin", "gone"),
        ("echo a | cat", "a"),
    ],
    "a separator": [
        ("IFS=,", "[no output]"),
        ("v=a,b; echo $v; unset IFS", "a b"),
        ("echo ${IFS-gone}", "gone"),
    ],
    "builtins made into functions": [
        ('cd() { builtin cd "$@" && echo moved; }; printf() { echo mine; }', "[no output]"),
        ("cd /; printf x; unset -f cd printf", "moved\nmine"),
        ("cd /usr; pwd", "/usr"),
    ],
    "builtin itself": [("x=1", "[no output]"), ("builtin() { :; }; x=2", "[no output]"), ("echo $x", "1")],
    "a trap of the agent's": [("trap 'echo bye' EXIT; x=1", "bye"), ("echo $x", "1")],
    "a kill of itself": [("x=1", "[no output]"), ("kill -9 $$", "[exit code 137]"), ("echo $x", "1")],
    "standard input": [("cat; read y; echo $?", "1")],
    "streams in order": [("echo a; echo b >&2; echo c", "a\nb\nc")],
    "nothing": [("", "[no output]"), ("# a comment", "[no output]"), ("printf '\\n\\n'", "[no output]")],
    "characters": [("w='日本'; echo \"$w\" é", "日本 é"), ("echo $w", "日本")],
    "a background process": [
        ("(sleep 0.2; echo late > late) > log 2>&1 & echo begun", "begun"),
        ("while [ ! -e late ]; do sleep 0.05; done; cat late", "late"),
    ],
    "one that talks on": [
        ("(sleep 0.2; echo unheard; echo also; echo done > said) & echo begun", "begun"),
        ("while [ ! -e said ]; do sleep 0.05; done; cat said", "done"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session(begin: Callable[[], Begun], name: str) -> None:
    """Each call goes on where the last one ended."""
    shell = begin()
    for command, expected in SESSIONS[name]:
        assert shell(command) == expected.replace("{folder}", shell.folder), command


def test_a_command_that_takes_too_long_is_ended(begin: Callable[[], Begun]) -> None:
    """With what it has said; the state is as it was before, and the shell goes on.  So in the very first call."""
    shell = begin()
    assert shell("x=1; echo one; sleep 60", 1) == "one\n[the command was ended after 1 s]"
    assert shell("echo ${x-unset}; pwd; x=2") == f"unset\n{shell.folder}"
    assert shell("x=3; cd /; sleep 60 | sleep 60", 1) == "[the command was ended after 1 s]"
    assert shell("echo $x; pwd") == f"2\n{shell.folder}"


def test_long_output_is_clipped_in_the_middle(begin: Callable[[], Begun]) -> None:
    """Head and tail, and how much is missing between them."""
    shown = begin()("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last; exit 5")
    assert shown.startswith("first\nxxxx")
    assert shown.endswith("xxxx\nlast\n[exit code 5]")
    assert len(shown) < LIMIT + 80
    (missing,) = re.findall(r"\[… ([\d,]+) bytes left out …\]", shown)
    assert int(missing.replace(",", "")) == 5_000_012 - LIMIT


def test_binary_output_is_made_harmless(begin: Callable[[], Begun]) -> None:
    """No control character, and no byte that is no text, reaches the model as such."""
    assert begin()("printf 'a\\0b\\x1b[31mred\\x1b[0m\\x07\\xff\\x80|10%%\\r20%%\\r\\n'") == "a␀bred␇��|10%\n20%\r"


def test_a_long_command(begin: Callable[[], Begun]) -> None:
    """Longer than the kernel takes in one piece, and every character in its place."""
    text = "".join(f"é{number}\n" for number in range(60_000))
    shell = begin()
    assert shell(f"cat > big <<'EOF'\n{text}EOF\nwc -c < big; tail -n 1 big") == f"{len(text.encode())}\né59999"


def test_a_state_that_was_damaged_is_begun_anew(begin: Callable[[], Begun]) -> None:
    """One damaged file leaves the state before it; without any, the shell says that it begins anew."""
    shell = begin()
    state = shell.shell._state
    shell("x=1")
    shell("x=2")
    shell(f"x=3; trap 'echo junk > {state}.1; printf \"9\\0junk\\0\" >> {state}.1' EXIT")  # the newer one
    assert shell("echo $x") == "2"
    lost = f"[The saved state of the shell was lost; it began anew in {shell.folder}.]"
    shell(f"trap 'echo > {state}.0; echo > {state}.1' EXIT")
    assert shell("echo ${x-unset}; x=4") == f"{lost}\nunset"
    assert shell("echo $x") == "4"
    shell(f"trap 'rm {state}*' EXIT")
    assert shell("echo ${x-unset}") == f"{lost}\nunset"


def test_a_shell_does_not_show_itself(begin: Callable[[], Begun]) -> None:
    """Nothing of ours is exported, and the command is not among the arguments, where ``pkill -f`` would find it."""
    shell = begin()
    shell("export mine=1")
    assert shell("env | grep -ci benchwright; env | grep -c __bw; env | grep mine") == "0\n0\nmine=1"
    assert shell("a=needle; tr '\\0' ' ' < /proc/$$/cmdline | grep -c needle") == "0\n[exit code 1]"


def test_two_shells_are_apart(begin: Callable[[], Begun]) -> None:
    """Each has files of its own."""
    one, other = begin(), begin()
    one("x=1")
    assert (other("echo ${x-unset}"), one("echo $x")) == ("unset", "1")


@pytest.mark.namespaces
class TestInOurSandbox:
    """What is not done on this machine."""

    def test_killing_everything(self, inside: Place) -> None:
        """What went on behind is gone, and the shell goes on."""
        shell = inside.begin()
        shell("x=1; sleep 300 > /dev/null 2>&1 & echo $! > pid")
        assert shell("kill -9 -1; echo still") == "still"
        assert shell("echo $x; kill -0 $(cat pid) 2> /dev/null || echo ended") == "1\nended"

    def test_two_hundred_megabytes(self, inside: Place) -> None:
        """They do not stay in the sandbox, and few of them leave it."""
        shown = inside.begin()("head -c 200000000 /dev/zero | tr '\\0' x")
        assert f"[… {200_000_000 - LIMIT:,} bytes left out …]" in shown

    def test_a_fork_without_end(self, inside: Place) -> None:
        """It is ended with its time, and the shell goes on."""
        shell = inside.begin()
        shell("x=1; f() { f | f & }")
        shell("f; wait; sleep 60", 2)
        shell("kill -9 -1")
        assert shell("echo $x") == "1"

    def test_a_full_disk(self, inside: Place) -> None:
        """The state before is kept, and there is no other harm."""
        shell = inside.begin()
        shell("x=1")
        shell("head -c 1000000000 /dev/zero > full; x=2")
        assert shell("echo $x") in ("1", "2")
        assert shell("rm full; x=3") == "[no output]"
        assert shell("echo $x") == "3"


@pytest.mark.namespaces
def test_without_programs(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An agent that removes /usr is told that nothing can be run any more; that is no fault of the sandbox."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found:
        environments = runner.run(found.provider.sample_init("t", found.config, {}))
        there = Place(runner, environments["default"], "/testbed")
        shell = there.begin()
        shell("rm -rf /usr /tmp 2> /dev/null")
        assert "[exit code 12" in shell("echo hello")
        environment = live(there.environment)
        assert environment is not None
        assert environment.fault is None
        environment.workspace.close()
        with pytest.raises(SandboxFault):
            shell("echo hello")
        runner.run(found.provider.sample_cleanup("t", found.config, environments, False))


def test_a_silent_foreign_sandbox(runner: asyncio.Runner) -> None:
    """One that does not even answer after the command's time is told like a command that takes too long."""

    class Silent(HostEnvironment):
        async def exec(self, *arguments: Any, **options: Any) -> Any:
            raise TimeoutError

    shell = Shell(Silent(), "/", output_bytes=LIMIT)
    assert runner.run(shell.run("true", seconds=9)) == "[the command was ended after 9 s]"
