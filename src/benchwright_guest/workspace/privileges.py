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

# Tracing, chroot and reading other processes' memory stay allowed, for debuggers and their tests, as in Docker's
# default profile.  What is in the page cache would tell one workspace of another.
DENIED = (
    "mount", "umount2", "pivot_root", "mount_setattr",
    "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "open_tree_attr",
    "unshare", "setns",
    "add_key", "request_key", "keyctl",
    "bpf", "perf_event_open", "userfaultfd", "fanotify_init",
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    "open_by_handle_at", "lookup_dcookie",
    "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
    "syslog", "vhangup", "nfsservctl", "process_madvise",
    "mbind", "set_mempolicy", "migrate_pages", "move_pages",
    "mincore", "cachestat",
)  # fmt: skip


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
    code = seccomp.program(kernel.MACHINE, DENIED, dumpable_fixed=False, first_spared=True)
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
