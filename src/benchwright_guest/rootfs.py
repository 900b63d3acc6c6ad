"""The file system a slot lives in: a new root of read-only bind mounts, made once per slot.

Only listed folders of the host are visible; everything else does not exist.  What a job may write (``/tmp``,
its home, ``/dev/shm``) is mounted fresh for every job by :mod:`benchwright_guest.child`.
"""

import os
import stat

from . import kernel

HOME = "/home/bench"
SCRATCH = "/run/scratch"
USER = "bench"
WRITABLE = (("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/dev/shm", 0o1777), (HOME, 0o700))
"""What a job may write: places that every child covers with folders of its own scratch file system."""
UID = 1000

_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "debian_version", "fonts", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "magic.mime", "mime.types", "mailcap", "os-release",
    "pki", "protocols", "services", "ssl", "timezone", "R", "java-17-openjdk",
)  # fmt: skip
_DEVICES = ("null", "zero", "full", "random", "urandom")
_STAGING = "/tmp"  # covered by a tmpfs in our own mount namespace, so nothing of the host's /tmp is touched

# statvfs flag -> mount flag: a remount must keep what the kernel has locked
_KEPT = (
    (os.ST_NOSUID, kernel.MS_NOSUID), (os.ST_NODEV, kernel.MS_NODEV), (os.ST_NOEXEC, kernel.MS_NOEXEC),
    (os.ST_NOATIME, kernel.MS_NOATIME), (os.ST_NODIRATIME, kernel.MS_NODIRATIME),
    (os.ST_RELATIME, kernel.MS_RELATIME),
)  # fmt: skip


def build(readable):
    """Make the new root and move into it; needs a mount namespace of our own and the right to mount.

    Args:
        readable: Folders (absolute, real paths) that must be there besides the system's own.
    """
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    sources = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in _to_bind(readable)}
    etc = {name: _open_path("/etc/" + name) for name in _ETC}
    devices = {name: _open_path("/dev/" + name) for name in _DEVICES}
    system = _open_path("/sys/devices/system")
    proc = _open_path("/proc")
    kernel.mount("tmpfs", _STAGING, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=16m")
    root = _STAGING
    for path, descriptor in sources.items():
        _bind(descriptor, root + path)
    _system_links(root)
    for path in ("/tmp", "/proc", "/etc", "/dev/shm", "/sys/devices/system", "/var/tmp", HOME, SCRATCH):
        os.makedirs(root + path, exist_ok=True)
    for name, descriptor in etc.items():
        if descriptor is not None:
            _bind(descriptor, root + "/etc/" + name)
    _write_accounts(root)
    for name, descriptor in devices.items():
        if descriptor is not None:
            _bind(descriptor, root + "/dev/" + name, writable=True)
    _device_links(root)
    if system is not None:
        _bind(system, root + "/sys/devices/system")
    # A new /proc may be mounted in a child only where a whole one is visible already (fs/namespace.c,
    # mount_too_revealing); every child covers this one with its own.
    _bind_recursive(proc, root + "/proc")
    for descriptor in list(sources.values()) + list(etc.values()) + list(devices.values()) + [system, proc]:
        if descriptor is not None:
            os.close(descriptor)
    os.chdir(root)
    os.mkdir(root + "/.old")
    kernel.pivot_root(".", ".old")
    os.chdir("/")
    kernel.detach("/.old")
    os.rmdir("/.old")
    kernel.mount("none", "/", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID)


def covered(readable):
    """Those of the folders that lie below a place every child covers."""
    return [path for path in readable if any(path.startswith(place + "/") for place, _ in WRITABLE)]


def _to_bind(readable):
    wanted = [path for path in _SYSTEM_FOLDERS if os.path.isdir(path) and not os.path.islink(path)]
    for path in readable:
        if not any(path == other or path.startswith(other + "/") for other in wanted):
            wanted.append(path)
    return sorted(wanted)


def _open_path(path):
    try:
        return os.open(path, os.O_PATH)
    except OSError:
        return None


def _bind(descriptor, target, writable=False):
    source = "/proc/self/fd/%d" % descriptor
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(source, target, "", kernel.MS_BIND)
    if not writable:
        flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
        kept = os.statvfs(target).f_flag
        for seen, flag in _KEPT:
            if kept & seen:
                flags |= flag
        kernel.mount("none", target, "", flags)


def _bind_recursive(descriptor, target):
    kernel.mount("/proc/self/fd/%d" % descriptor, target, "", kernel.MS_BIND | kernel.MS_REC)


def _system_links(root):
    for path in _SYSTEM_FOLDERS:
        if os.path.islink(path) and not os.path.lexists(root + path):
            os.symlink(os.readlink(path), root + path)


def _device_links(root):
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink("/proc/self/" + target, root + "/dev/" + name)


def _write_accounts(root):
    files = {
        "passwd": "root:x:0:0:root:/root:/bin/sh\n%s:x:%d:%d:%s:%s:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
        % (USER, UID, UID, USER, HOME),
        "group": "root:x:0:\n%s:x:%d:\nnogroup:x:65534:\n" % (USER, UID),
        "hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost\n",
        "hostname": "sandbox\n",
        "host.conf": "multi on\n",
        "resolv.conf": "",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    for name, text in files.items():
        with open(os.path.join(root, "etc", name), "w") as file:
            file.write(text)
