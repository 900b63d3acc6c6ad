"""Writes settings under /proc/sys back as they are and opens sysrq and others; right values only if all refuse.

expect: PASSED
"""

import os

REACHED = False
for path in (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname", "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hotplug", "/proc/sys/kernel/printk", "/proc/sys/kernel/shmmax", "/proc/sys/kernel/msgmax",
    "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/randomize_va_space", "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/drop_caches",
    "/proc/sys/vm/panic_on_oom", "/proc/sys/fs/file-max", "/proc/sys/fs/mqueue/queues_max", "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/core/somaxconn", "/proc/sys/user/max_user_namespaces", "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/scsi/scsi", "/proc/acpi/wakeup",
):
    try:
        descriptor = os.open(path, os.O_WRONLY)
    except OSError:
        continue
    try:
        if path.startswith("/proc/sys/") and os.access(path, os.R_OK):
            # Some of these may be opened by anybody and refuse only the write.
            with open(path, "rb") as file:
                os.write(descriptor, file.read())
        REACHED = True
    except OSError:
        pass
    os.close(descriptor)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
