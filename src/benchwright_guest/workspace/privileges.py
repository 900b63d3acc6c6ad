"""What process 1 and every command of a workspace may do: few capabilities, no new ones, fewer system calls.

The capabilities are those of a container in Docker's default setting without ``MKNOD``, ``NET_RAW``, ``SETFCAP``
and ``AUDIT_WRITE``, over the workspace's own user namespace only.
"""

import ctypes
import os
import struct

from benchwright_guest import kernel, seccomp

from .refusal import Refused, part

# CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, SYS_CHROOT
KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 18)

_libc = ctypes.CDLL(None, use_errno=True)

_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_EPERM, _ENOSYS = 1, 38

# name: (x86_64, aarch64); numbers from the kernel's syscall tables.  Tracing, chroot and reading other processes'
# memory stay allowed, for debuggers and their tests, as in Docker's default profile.
_DENIED = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "mount_setattr": (442, 442),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "open_tree_attr": (467, 467),
    "unshare": (272, 97), "setns": (308, 268),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265), "lookup_dcookie": (212, 18),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "syslog": (103, 116), "vhangup": (153, 58), "nfsservctl": (180, 42), "process_madvise": (440, 440),
    "mbind": (237, 235), "set_mempolicy": (238, 237), "migrate_pages": (256, 238), "move_pages": (279, 239),
}  # fmt: skip

_LD_ABS, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENT = 0, 4, 16
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def give_up():
    """Keep only what commands may have, for this process and all its children."""
    for capability in range(64):
        if capability not in KEPT:
            try:
                kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
            except OSError:
                break  # past the kernel's last capability
    _keep(KEPT)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    code = program(kernel.MACHINE)
    if code is None:
        raise Refused("a filter of system calls, which there is none of for %s" % kernel.MACHINE)
    part("a filter of system calls", seccomp.install, code)


def _keep(capabilities):
    bits = sum(1 << number for number in capabilities)
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0))
    data = ctypes.create_string_buffer(struct.pack("<6I", bits, bits, 0, 0, 0, 0))
    if _libc.capset(header, data) < 0:
        number = ctypes.get_errno()
        raise OSError(number, "capset: %s" % os.strerror(number))


def program(machine):
    """The filter for a machine as packed ``struct sock_filter``s; None where we have no table."""
    if machine not in _AUDIT_ARCH:
        return None
    column = 0 if machine == "x86_64" else 1
    body = [
        _step(_LD_ABS, _ARCH),
        _step(_JEQ, _AUDIT_ARCH[machine], 1, 0),
        _step(_RET, _KILL),
        _step(_LD_ABS, _NUMBER),
    ]
    if machine == "x86_64":  # the x32 numbers would pass by the table
        body += [_step(_JGE, 0x40000000, 0, 1), _step(_RET, _ERRNO | _ENOSYS)]
    body += [_step(_JEQ, _CLONE3, 0, 1), _step(_RET, _ERRNO | _ENOSYS)]
    for numbers in _DENIED.values():
        body += [_step(_JEQ, numbers[column], 0, 1), _step(_RET, _ERRNO | _EPERM)]
    body += seccomp.socket_families(machine)
    # No new namespaces by clone, whose first argument is flags (clone3, whose flags cannot be seen, does not exist).
    body += [
        _step(_JEQ, _CLONE[machine], 0, 3),
        _step(_LD_ABS, _ARGUMENT),
        _step(_JSET, kernel.NEW_NAMESPACES, 0, 1),
        _step(_RET, _ERRNO | _EPERM),
        _step(_RET, _ALLOW),
    ]
    return b"".join(body)


def _step(code, value, if_true=0, if_false=0):
    return struct.pack("<HBBI", code, if_true, if_false, value)
