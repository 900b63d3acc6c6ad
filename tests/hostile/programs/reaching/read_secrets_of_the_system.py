"""Reads password hashes, private keys and kernel memory; right values only if nothing can be read.

expect: PASSED
"""

import glob
import os

REACHED = False
for pattern in (
    "/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/sudoers", "/etc/ssh/ssh_host_*_key", "/etc/ssl/private/*", "/proc/kcore",
    "/proc/kmsg", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/sd*", "/dev/vd*", "/dev/nvme*", "/dev/kmsg", "/sys/firmware/efi/efivars/*",
    "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/*", "/var/lib/docker/*", "/proc/1/root" + "/etc/shadow",
):
    for path in glob.glob(pattern):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            REACHED = REACHED or bool(os.read(descriptor, 1))
        except OSError:
            pass
        os.close(descriptor)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
