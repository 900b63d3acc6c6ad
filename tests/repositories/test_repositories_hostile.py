"""Code of a candidate that attacks what is around it while its tests run, and honest work in the same place."""

import dataclasses
import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from forgeries import REAL_OUT
from little_repositories import LIMITS, Bench, Graded

from benchwright.core.execution import MIB
from benchwright.core.verdicts import Outcome
from left_behind import processes_with

pytestmark = pytest.mark.namespaces

FindBench = Callable[..., Bench]
BOTH = pytest.mark.parametrize("sandbox", ["namespace", "docker"])
SOON_SECONDS = 20.0

TRYING = """
import json

DONE = {}


def attempt(name, function):
    try:
        DONE[name] = [True, repr(function())]
    except BaseException as error:
        DONE[name] = [False, type(error).__name__ + ": " + str(error)]


def tell():
    os.write(FORGED_OUT, ("\\nTRIED " + json.dumps(DONE) + "\\n").encode())

"""


def attack(here: Bench, program: str, *, right: bool = True) -> Graded:
    """Grade a patch whose package runs a program when it is imported; its attempts are written to the log."""
    name = "boxes/__init__.py"
    files = {name: f"{REAL_OUT}{TRYING}{program}\ntell()\n\n{here.repository.text(name)}"}
    return here.grade(here.repository.fix(files) if right else here.repository.wrong(files))


def tried(graded: Graded) -> Mapping[str, Any]:
    """What became of the attempts, by their names: whether they worked, and what they gave."""
    found = re.search(r"^TRIED (.*)$", graded.log, re.MULTILINE)
    assert found is not None, (graded.verdict, graded.log)
    told: dict[str, Any] = json.loads(found[1])
    return told


def worked(graded: Graded) -> dict[str, str]:
    """The attempts that worked."""
    return {name: said for name, (done, said) in tried(graded).items() if done}


@pytest.fixture(params=["namespace", "docker"])
def here(bench: FindBench, request: pytest.FixtureRequest) -> Iterator[Bench]:
    """The repository; after the attack, honest work there resolves."""
    found = bench("boxes", request.param)
    yield found
    after = found.grade(found.problem.reference_patch)
    assert after.verdict.outcome is Outcome.PASSED, after.verdict


NETWORK = """
import socket

def connect(host, port, family=socket.AF_INET):
    with socket.socket(family) as connection:
        connection.settimeout(2)
        connection.connect((host, port))

attempt("the internet", lambda: connect("1.1.1.1", 53))
attempt("the internet by IPv6", lambda: connect("2606:4700:4700::1111", 53, socket.AF_INET6))
attempt("a name", lambda: socket.getaddrinfo("pypi.org", 443))
attempt("this machine", lambda: connect("127.0.0.1", {port}))
attempt("this machine by its name", lambda: connect({host!r}, {port}))
attempt("an abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\\0" + {abstract!r}))
attempt("the engine", lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"))
"""


def test_network(here: Bench) -> None:
    """Nothing outside can be reached: no address, no name, no socket of this machine."""
    abstract = f"little-{os.getpid()}"
    with socket.create_server(("0.0.0.0", 0)) as server, socket.socket(socket.AF_UNIX) as other:
        other.bind(f"\0{abstract}")
        other.listen()
        program = NETWORK.format(port=server.getsockname()[1], host=_own_address(), abstract=abstract)
        graded = attack(here, program)
    assert not worked(graded)
    assert graded.verdict.outcome is Outcome.PASSED, "an attempt that failed does no harm"


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


HOST = """
import glob, os

def look(word):
    seen = []
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if word in file.read():
                    seen.append(path)
        except OSError:
            pass
    if not seen:
        raise LookupError("nowhere")
    return seen

attempt("a file of the host", lambda: open({secret!r}).read())
attempt("by way of process 1", lambda: open("/proc/1/root" + {secret!r}).read())
attempt("by way of the parent", lambda: open("/proc/%d/root%s" % (os.getppid(), {secret!r})).read())
attempt("a variable of the host", lambda: os.environ[{variable!r}])
attempt("a variable of a process", lambda: look({variable!r}.encode()))
attempt("a process of the host", lambda: look(("pyte" + "st_" + "host").encode()))
attempt("passwords", lambda: open("/etc/shadow").read())
attempt("keys", lambda: os.listdir(os.path.expanduser("~/.ssh")))
attempt("memory", lambda: open("/dev/mem", "rb").read(1))
attempt("kernel memory", lambda: open("/proc/kcore", "rb").read(4)[3])
"""


def test_files_and_variables_of_the_host(here: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is there, whatever way one takes."""
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    monkeypatch.setenv("LITTLE_SECRET", "pytest_host")
    graded = attack(here, HOST.format(secret=str(secret), variable="LITTLE_SECRET"))
    assert not worked(graded)


SYSTEM = """
import ctypes, os, signal, time

libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def write(path, text="1"):
    with open(path, "w") as file:
        file.write(text)

attempt("the clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
attempt("a mount", lambda: call("mount", b"none", b"/mnt", b"tmpfs", 0, None))
attempt("an unmount", lambda: call("umount2", b"/.benchwright", 2))
attempt("a new root", lambda: call("pivot_root", b"/", b"/"))
attempt("a host name", lambda: call("sethostname", b"mine", 4))
attempt("a restart", lambda: call("reboot", 0x1234567))
attempt("a kernel setting", lambda: write("/proc/sys/kernel/core_pattern", "|/tmp/x"))
attempt("a request to the kernel", lambda: write("/proc/sysrq-trigger", "b"))
attempt("a device", lambda: os.mknod("/tmp/device", 0o060600, os.makedev(8, 0)))
with open("/proc/self/mounts") as file:
    groups = [line.split()[1] for line in file if line.split()[2] in ("cgroup", "cgroup2")]
for group in groups:
    for name in ("memory.max", "memory.limit_in_bytes", "pids.max", "cgroup.procs"):
        if os.path.exists(group + "/" + name):
            attempt(group + "/" + name, lambda: write(group + "/" + name, "max"))
    attempt("a group in " + group, lambda: os.mkdir(group + "/mine"))
"""


def test_the_system(here: Bench) -> None:
    """Root inside cannot change what is not its own."""
    before = time.time()
    graded = attack(here, SYSTEM)
    assert not worked(graded)
    assert time.time() >= before
    assert graded.verdict.outcome is Outcome.PASSED


REPORTS = """
import os, shutil, socket

def write(path):
    with open(path, "w") as file:
        file.write("{}")

attempt("a new file", lambda: write("/.benchwright/report.json"))
attempt("the witness", lambda: write("/.benchwright/witness/for_pytest.py"))
attempt("a witness more", lambda: write("/.benchwright/witness/for_me.py"))
attempt("no socket", lambda: os.unlink("/.benchwright/report.sock"))
attempt("another socket", lambda: socket.socket(socket.AF_UNIX).bind("/.benchwright/other.sock"))
attempt("another name", lambda: os.rename("/.benchwright/report.sock", "/.benchwright/old.sock"))
attempt("other rights", lambda: os.chmod("/.benchwright/report.sock", 0))
attempt("no folder", lambda: os.rename("/.benchwright", "/tmp/old"))
"""
REWARDS = """
for path in ("/testbed/report.json", "/testbed/results.json", "/tmp/record.json", "/etc/verdict.json",
             "/testbed/reward.txt", "/tmp/patch.diff", "/testbed/.git/verdict"):
    with open(path, "w") as file:
        file.write('{"resolved": true, "reward": 1}')
"""


def test_the_place_of_the_report(here: Bench) -> None:
    """It can be read, and connected to, and not changed."""
    graded = attack(here, REPORTS)
    assert not worked(graded)
    assert graded.verdict.outcome is Outcome.PASSED


@pytest.mark.parametrize("right", [True, False])
def test_a_verdict_that_is_written_before_there_is_one(here: Bench, right: bool) -> None:
    """Files that look like one are nobody's evidence: honest work is resolved, and other work is not."""
    graded = attack(here, REWARDS, right=right)
    assert (graded.verdict.outcome is Outcome.PASSED) is right


KILLS = {
    "parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "group": "os.killpg(0, signal.SIGKILL)",
    "everything": "os.kill(-1, signal.SIGKILL)",
    "first process": "os.kill(1, signal.SIGKILL)",
    "stop of the parent": "os.kill(os.getppid(), signal.SIGSTOP)",
}


@pytest.mark.parametrize("name", KILLS)
def test_kills(here: Bench, name: str) -> None:
    """Killing what runs the tests does not resolve anything, and is not put down to the machine."""
    if name == "stop of the parent":
        here = dataclasses.replace(here, limits=dataclasses.replace(LIMITS, wall_seconds=3.0))
    graded = attack(here, f"import signal\ntell()\n{KILLS[name]}\n", right=False)
    assert graded.verdict.outcome in (Outcome.FAILED, Outcome.OVER_LIMIT), graded.verdict


FORK_BOMB = """
import os, time

made = 0

def bomb():
    global made
    while made < 100000:
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
            os._exit(0)
        made += 1

attempt("no end of processes", bomb)
DONE["made"] = [made > 1000, str(made)]
"""


def test_a_fork_bomb(here: Bench) -> None:
    """It meets the limit of processes, and nothing of it is left."""
    graded = attack(here, FORK_BOMB, right=False)
    assert graded.verdict.outcome in (Outcome.FAILED, Outcome.OVER_LIMIT)
    assert not worked(graded)
    assert int(tried(graded)["made"][1]) <= LIMITS.processes


SURVIVORS = """
import os, signal, subprocess, sys

SCRIPT = '''
import os, signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
os.setsid()
if os.fork() == 0:
    time.sleep(600)
'''
subprocess.Popen([sys.executable, "-c", SCRIPT, {mark!r}], start_new_session=True)
subprocess.Popen(["sh", "-c", "trap '' TERM HUP INT; sleep 600 & sleep 600", {mark!r}], stdout=FORGED_OUT)
"""


def test_survivors(here: Bench) -> None:
    """Processes that detach themselves, ignore signals and hold the log open are gone when the verdict is there."""
    mark = f"little-survivor-{os.getpid()}"
    graded = attack(here, SURVIVORS.format(mark=mark))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict
    assert not processes_with(mark)


FULL = """
import os

written = 0

def fill():
    global written
    block = b"x" * 2**20
    for folder in ("/testbed", "/tmp", "/dev/shm", "/root"):
        for number in range(40):
            try:
                with open("%s/fill-%d" % (folder, number), "wb", buffering=0) as file:
                    while True:
                        written += file.write(block)
                        if written > 2**30:
                            return
            except OSError:
                break

attempt("fill", fill)
DONE["written"] = [written > 2**30, str(written)]
for folder in ("/testbed", "/tmp", "/dev/shm", "/root"):
    for number in range(40):
        try:
            os.unlink("%s/fill-%d" % (folder, number))
        except OSError:
            pass
"""


@BOTH
def test_a_full_disk(bench: FindBench, sandbox: str) -> None:
    """What may be written has an end, and the next workspace is empty."""
    here = bench("boxes", sandbox)
    graded = attack(here, FULL, right=False)
    assert graded.verdict.outcome in (Outcome.FAILED, Outcome.OVER_LIMIT)
    if sandbox == "namespace":  # the engine has no quota for this; it looks every few seconds
        assert int(tried(graded)["written"][1]) <= 3 * LIMITS.scratch_bytes + 64 * MIB
    assert here.grade(here.problem.reference_patch).verdict.outcome is Outcome.PASSED


ESCAPES = """
import os

attempt("a link", lambda: os.symlink("/", "/testbed/tests/root"))
for name in ("test_sizes.py", "test_stacks.py"):
    try:
        os.unlink("/testbed/tests/" + name)
    except OSError:
        pass
    os.symlink({target!r}, "/testbed/tests/" + name)
DONE.clear()
"""


@BOTH
def test_hidden_tests_are_not_written_through_links(bench: FindBench, sandbox: str, tmp_path: Path) -> None:
    """A link that setup.py puts where they go does not lead them to files of this machine, nor out of the tests."""
    here = bench("boxes", sandbox)
    target = tmp_path / "target"
    target.write_text("as it was")
    program = f"{REAL_OUT}{TRYING}{ESCAPES.format(target=str(target))}"
    graded = here.grade(here.repository.fix({"setup.py": program}))
    assert target.read_text() == "as it was"
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict


def test_the_repositorys_git_is_not_run_by_the_harness(here: Bench) -> None:
    """Hooks, filters and file-system monitors that an installation sets up are run by nobody."""
    program = (
        "import os, subprocess\n"
        "os.makedirs('/testbed/.git/hooks', exist_ok=True)\n"
        "for name in ('post-checkout', 'pre-applypatch', 'post-index-change', 'fsmonitor-watchman'):\n"
        "    with open('/testbed/.git/hooks/' + name, 'w') as file:\n"
        "        file.write('#!/bin/sh\\ntouch /tmp/hooked\\n')\n"
        "    os.chmod('/testbed/.git/hooks/' + name, 0o755)\n"
        "subprocess.call(['git', 'config', 'core.fsmonitor', '.git/hooks/fsmonitor-watchman'], cwd='/testbed')\n"
    )
    seen = "import os\nassert not os.path.exists('/tmp/hooked')\n"
    name = "boxes/__init__.py"
    graded = here.grade(here.repository.fix({"setup.py": program, name: seen + here.repository.text(name)}))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict


_NO_TESTS = "import os, shutil\nshutil.rmtree('/testbed/tests')\n"
EVASIONS = {
    "a full disk": (
        "import os\n"
        "for size in (2**20, 4096, 1):\n"
        "    for number in range(10000):\n"
        "        try:\n"
        "            with open('/testbed/fill-%d-%d' % (size, number), 'wb', buffering=0) as file:\n"
        "                while file.write(b'x' * size) == size:\n"
        "                    pass\n"
        "        except OSError:\n"
        "            break\n"
    ),
    "no tests folder": _NO_TESTS,
    "a file for the tests folder": f"{_NO_TESTS}open('/testbed/tests', 'w').close()\n",
    "a circle for the tests folder": f"{_NO_TESTS}os.symlink('tests', '/testbed/tests')\n",
    "a device for the tests folder": f"{_NO_TESTS}os.symlink('/dev/null', '/testbed/tests')\n",
    "processes for the tests folder": f"{_NO_TESTS}os.symlink('/proc/1', '/testbed/tests')\n",
    "the shared folder for the tests folder": (f"{_NO_TESTS}os.symlink('/.benchwright', '/testbed/tests')\n"),
    "folders in the way": (
        "import os\n"
        "for name in ('test_sizes.py', 'test_stacks.py'):\n"
        "    path = '/testbed/tests/' + name\n"
        "    if os.path.exists(path):\n"
        "        os.unlink(path)\n"
        "    os.makedirs(path + '/x' * 100)\n"
        "    os.chmod(path, 0)\n"
    ),
    "pipes in the way": (
        "import os\n"
        "for name in ('test_sizes.py', 'test_stacks.py'):\n"
        "    path = '/testbed/tests/' + name\n"
        "    if os.path.exists(path):\n"
        "        os.unlink(path)\n"
        "    os.mkfifo(path)\n"
    ),
    "no repository": "import os\nos.rename('/testbed', '/gone')\n",
    "another repository": "import os\nos.rename('/testbed', '/gone')\nos.symlink('/etc', '/testbed')\n",
    "no environment": "import shutil\nshutil.rmtree('/opt/env')\n",
    "no programs": "import os\nfor name in os.listdir('/usr/bin'):\n    os.unlink('/usr/bin/' + name)\n",
    "no libraries": "import shutil\nshutil.rmtree('/usr/lib', True)\nshutil.rmtree('/usr/lib64', True)\n",
    "a limit of its own": "import resource, os\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n",
    "no temporary folder": "import shutil, os\nshutil.rmtree('/tmp', True)\nopen('/tmp', 'w').close()\n",
}
"""What a candidate's setup.py may do so that its run is taken for the machine's fault, and left out of the score."""


@BOTH
@pytest.mark.parametrize("name", EVASIONS)
def test_nobody_gets_out_of_the_score(bench: FindBench, name: str, sandbox: str) -> None:
    """Whatever the candidate's own code breaks in its workspace, the verdict is about the candidate."""
    here = bench("boxes", sandbox)
    graded = here.grade(here.repository.wrong({"setup.py": EVASIONS[name]}))
    assert graded.verdict.outcome in (Outcome.FAILED, Outcome.OVER_LIMIT), graded.verdict
