"""The system-call filters, interpreted here instruction by instruction."""

import struct

import pytest

from benchwright_guest import kernel, seccomp
from benchwright_guest.workspace import privileges

ALLOW, EPERM, ENOSYS, EAFNOSUPPORT, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x00050061, 0x80000000
ARCH = 0xC000003E


def judged(program: bytes | None, number: int, argument: int = 0, arch: int = ARCH) -> int:
    """What an x86-64 program answers to a call."""
    assert program is not None
    data = {0: number, 4: arch, 16: argument}
    instructions = list(struct.iter_unpack("<HBBI", program))
    position, accumulator = 0, 0
    while True:
        code, if_true, if_false, value = instructions[position]
        position += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            accumulator = data[value]
            continue
        holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
        position += if_true if holds else if_false


@pytest.mark.parametrize(
    ("number", "argument", "answer"),
    [
        (39, 0, ALLOW),  # getpid
        (157, 15, ALLOW),  # prctl(PR_SET_NAME)
        (157, 1, ALLOW),  # prctl(PR_SET_PDEATHSIG)
        (157, kernel.PR_SET_DUMPABLE, EPERM),
        (56, 0x3D0F00, ALLOW),  # clone, as for a thread
        (56, kernel.CLONE_NEWUSER | 17, EPERM),
        (435, 0, ENOSYS),  # clone3
        (101, 0, EPERM),  # ptrace
        (165, 0, EPERM),  # mount
        (425, 0, EPERM),  # io_uring_setup
        (41, 2, ALLOW),  # socket(AF_INET)
        (53, 1, ALLOW),  # socketpair(AF_UNIX)
        (41, 40, EAFNOSUPPORT),  # socket(AF_VSOCK)
        (53, 40, EAFNOSUPPORT),
        (0x40000000 + 39, 0, ENOSYS),  # the x32 entry
    ],
)
def test_each_call_gets_its_answer(number: int, argument: int, answer: int) -> None:
    """Calls an answer needs are allowed, calls into the kernel's depths are refused."""
    assert judged(seccomp.program("x86_64"), number, argument) == answer


def workspaces() -> bytes | None:
    """The filter of workspaces."""
    program: bytes | None = seccomp.program("x86_64", privileges.DENIED, dumpable_fixed=False)
    return program


@pytest.mark.parametrize(
    ("number", "argument", "answer"),
    [
        (157, kernel.PR_SET_DUMPABLE, ALLOW),
        (56, 0x3D0F00, ALLOW),  # clone, as for a thread
        (56, kernel.CLONE_NEWUSER | 17, EPERM),
        (435, 0, ENOSYS),  # clone3
        (101, 0, ALLOW),  # ptrace
        (161, 0, ALLOW),  # chroot
        (165, 0, EPERM),  # mount
        (300, 0, EPERM),  # fanotify_init
        (425, 0, EPERM),  # io_uring_setup
        (41, 2, ALLOW),  # socket(AF_INET)
        (41, 40, EAFNOSUPPORT),  # socket(AF_VSOCK)
    ],
)
def test_workspaces_leave_debuggers_alone(number: int, argument: int, answer: int) -> None:
    """What a repository's tests need, such as tracing, is allowed; the kernel's depths are closed there too."""
    assert judged(workspaces(), number, argument) == answer


def test_another_architecture_ends_the_process() -> None:
    """Numbers of the 32-bit entry mean other calls, so it is closed altogether."""
    assert judged(seccomp.program("x86_64"), 39, arch=0x40000003) == KILL
    assert judged(workspaces(), 39, arch=0x40000003) == KILL


def test_machines_without_a_table_have_no_filter() -> None:
    """Nothing is guessed."""
    assert seccomp.program("riscv64") is None
