"""The few kernel calls that the standard library lacks, through libc; each raises OSError with the call's name."""

import ctypes
import os
import platform
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_NEWCGROUP = 0x02000000
NEW_NAMESPACES = (
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP
)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MS_NOATIME, MS_NODIRATIME, MS_RELATIME = 1024, 2048, 1 << 21
MNT_DETACH = 2

PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
_libc.syscall.restype = ctypes.c_long

# System call numbers: x86_64 and aarch64 (include/uapi/asm-generic/unistd.h and arch/x86 tables).
_NUMBERS = {
    "x86_64": {"pivot_root": 155, "capset": 126, "pidfd_open": 434},
    "aarch64": {"pivot_root": 41, "capset": 91, "pidfd_open": 434},
}
MACHINE = platform.machine()


def _check(result, name):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (name, os.strerror(number)))
    return result


def _number(name):
    try:
        return _NUMBERS[MACHINE][name]
    except KeyError:
        raise OSError(38, "no system call table for machine %s" % MACHINE) from None


def unshare(flags):
    """Leave namespaces for new ones."""
    _check(_libc.unshare(flags), "unshare")


def setns(fd, kind):
    """Enter the namespace an open descriptor names."""
    _check(_libc.setns(fd, kind), "setns")


def mount(source, target, kind, flags=0, options=""):
    """Mount; the arguments are those of mount(2)."""
    result = _libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode(), flags, options.encode() if options else None
    )
    _check(result, "mount %s" % target)


def detach(target):
    """Take a mount away even if it is in use."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), "umount2")


def pivot_root(new_root, put_old):
    """Make another mount the root of this mount namespace."""
    number = _number("pivot_root")
    _check(_libc.syscall(number, os.fsencode(new_root), os.fsencode(put_old)), "pivot_root")


def sethostname(name):
    """Name this machine within its uts namespace."""
    data = name.encode()
    _check(_libc.sethostname(data, len(data)), "sethostname")


def prctl(option, *values):
    """prctl(2) with up to four numbers."""
    padded = [*values, 0, 0, 0, 0][:4]
    _check(_libc.prctl(option, *[ctypes.c_ulong(v) for v in padded]), "prctl %d" % option)


def drop_bounding_set():
    """Give up every capability that a later exec could bring back."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return  # past the kernel's last capability


def drop_capabilities():
    """Give up all capabilities this process has."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0))
    data = ctypes.create_string_buffer(b"\0" * 24)
    _check(_libc.syscall(_number("capset"), header, data), "capset")


def pidfd_open(pid):
    """A descriptor that turns readable when the process ends."""
    return _check(_libc.syscall(_number("pidfd_open"), pid, 0), "pidfd_open")


def bring_loopback_up():
    """Set the interface ``lo`` of a new network namespace up."""
    import fcntl
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(probe.fileno(), 0x8914, request)  # SIOCSIFFLAGS
