"""Denylists of system calls, as classic BPF programs: the one of answers, and what others are made of.

Namespaces and the lack of capabilities already forbid most of this; the filter takes away the kernel surface
itself (new user namespaces, io_uring, bpf, ptrace).  Refused calls fail with EPERM, as they would for a process
without rights; ``clone3`` fails with ENOSYS so that libc falls back to ``clone``, whose flags can be seen.
"""

import ctypes
import struct

from . import kernel

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_PRCTL = {"x86_64": 157, "aarch64": 167}
_SOCKET = {"x86_64": (41, 53), "aarch64": (198, 199)}
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, netlink.  Others, above all ``AF_VSOCK``, are not kept apart by network namespaces."""

# name: (x86_64, aarch64); numbers from the kernel's syscall tables
_NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "syslog": (103, 116),
    "lookup_dcookie": (212, 18), "vhangup": (153, 58), "mbind": (237, 235), "migrate_pages": (256, 238),
    "fanotify_init": (300, 262), "clock_adjtime": (305, 266), "quotactl_fd": (443, 443), "nfsservctl": (180, 42),
    "set_mempolicy": (238, 237), "move_pages": (279, 239), "open_tree_attr": (467, 467),
    "mincore": (27, 232), "cachestat": (451, 451),
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
}  # fmt: skip

DENIED_TO_ANSWERS = (
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp",
    "process_madvise", "pidfd_getfd",
    "mount", "umount2", "pivot_root", "chroot",
    "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr",
    "unshare", "setns",
    "add_key", "request_key", "keyctl",
    "bpf", "perf_event_open", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    "name_to_handle_at", "open_by_handle_at",
    "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "acct", "quotactl",
    "settimeofday", "clock_settime", "adjtimex", "syslog",
    "lookup_dcookie", "vhangup", "mbind", "migrate_pages",
)  # fmt: skip
"""What no answer needs."""

_LD_ABS, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARGUMENT = 0, 4, 16


def _instruction(code, value, if_true=0, if_false=0):
    return struct.pack("<HBBI", code, if_true, if_false, value)


FIRST_PROCESS = {
    "prlimit64": 0, "sched_setaffinity": 0, "sched_setscheduler": 0, "sched_setparam": 0, "sched_setattr": 0,
    "setpriority": 1, "ioprio_set": 1,
}  # fmt: skip
"""Calls that change another process, and which of their arguments names it."""


def program(machine, denied=DENIED_TO_ANSWERS, dumpable_fixed=True, first_spared=False):
    """A filter for a machine as packed ``struct sock_filter``s; None where we have no table.

    Besides the calls denied, it refuses new namespaces and sockets of families that network namespaces do not keep
    apart, with ``dumpable_fixed`` the call by which a process lets others look into it (``PR_SET_DUMPABLE``), and with
    ``first_spared`` calls that set limits or priorities of process 1.
    """
    if machine not in _AUDIT_ARCH:
        return None
    column = 0 if machine == "x86_64" else 1
    body = [
        _instruction(_LD_ABS, _OFFSET_ARCH),
        _instruction(_JEQ, _AUDIT_ARCH[machine], 1, 0),
        _instruction(_RET, _KILL),
        _instruction(_LD_ABS, _OFFSET_NUMBER),
    ]
    if machine == "x86_64":  # the x32 numbers would pass by the table
        body += [_instruction(_JGE, 0x40000000, 0, 1), _instruction(_RET, _ERRNO | _ENOSYS)]
    body += [_instruction(_JEQ, _CLONE3, 0, 1), _instruction(_RET, _ERRNO | _ENOSYS)]
    for name in denied:
        body += [_instruction(_JEQ, _NUMBERS[name][column], 0, 1), _instruction(_RET, _ERRNO | _EPERM)]
    if first_spared:
        for name, argument in FIRST_PROCESS.items():
            body += _not_of_first(_NUMBERS[name][column], argument)
    body += _socket_families(machine)
    if dumpable_fixed:
        body += [
            _instruction(_JEQ, _PRCTL[machine], 0, 3),
            _instruction(_LD_ABS, _OFFSET_ARGUMENT),
            _instruction(_JEQ, kernel.PR_SET_DUMPABLE, 0, 5),  # else allowed
            _instruction(_RET, _ERRNO | _EPERM),
        ]
    # No new namespaces by clone, whose first argument is flags (clone3, whose flags cannot be seen, does not exist).
    body += [
        _instruction(_JEQ, _CLONE[machine], 0, 3),
        _instruction(_LD_ABS, _OFFSET_ARGUMENT),
        _instruction(_JSET, kernel.NEW_NAMESPACES, 0, 1),
        _instruction(_RET, _ERRNO | _EPERM),
        _instruction(_RET, _ALLOW),
    ]
    return b"".join(body)


def _not_of_first(number, argument):
    """Instructions that refuse a call whose argument is 1; other calls, whose number is loaded, fall through."""
    return [
        _instruction(_JEQ, number, 0, 4),
        _instruction(_LD_ABS, _OFFSET_ARGUMENT + 8 * argument),
        _instruction(_JEQ, 1, 0, 1),
        _instruction(_RET, _ERRNO | _EPERM),
        _instruction(_RET, _ALLOW),
    ]


def _socket_families(machine):
    """Instructions that let only sockets of `_FAMILIES` be made; other calls, whose number is loaded, fall through."""
    socket, pair = _SOCKET[machine]
    block = [
        _instruction(_JEQ, socket, 1, 0),
        _instruction(_JEQ, pair, 0, len(_FAMILIES) + 3),
        _instruction(_LD_ABS, _OFFSET_ARGUMENT),
    ]
    for index, family in enumerate(_FAMILIES):
        block.append(_instruction(_JEQ, family, len(_FAMILIES) - index, 0))
    return [*block, _instruction(_RET, _ERRNO | _EAFNOSUPPORT), _instruction(_RET, _ALLOW)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install(code):
    """Put the filter on this process for good; needs no_new_privs or a capability."""
    buffer = ctypes.create_string_buffer(code, len(code))
    value = _Program(len(code) // 8, ctypes.addressof(buffer))
    kernel.prctl(kernel.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, ctypes.addressof(value))
