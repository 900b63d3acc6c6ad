"""The file system of a workspace: an overlay of its layers, a private /dev, /proc and /sys, and nothing else."""

import os
import stat

from benchwright_guest import kernel

from .refusal import part

_STAGING = "/tmp"  # covered by a tmpfs in our own mount namespace, so nothing of the host's /tmp is touched
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = (
    ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"), ("ptmx", "pts/ptmx"),
)  # fmt: skip
# The places of /proc that reach the whole machine, as container engines treat them.
_READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs")
_MASKED = (
    "acpi", "asound", "interrupts", "kcore", "key-users", "keys", "latency_stats", "sched_debug", "scsi", "timer_list",
)  # fmt: skip
_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV
_SEALED = _QUIET | kernel.MS_NOEXEC
_GID_TTY = 5
_HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n"
_INODE_BYTES = 4096  # as many files as there would be blocks: each costs the kernel memory that no size limits

# statvfs flag -> mount flag: a remount must keep what the kernel has locked
_KEPT = (
    (os.ST_NOSUID, kernel.MS_NOSUID), (os.ST_NODEV, kernel.MS_NODEV), (os.ST_NOEXEC, kernel.MS_NOEXEC),
    (os.ST_NOATIME, kernel.MS_NOATIME), (os.ST_NODIRATIME, kernel.MS_NODIRATIME),
    (os.ST_RELATIME, kernel.MS_RELATIME),
)  # fmt: skip


def build(config):
    """Mount everything and make it the root; needs a mount namespace of our own and the right to mount.

    Returns a descriptor of the folder that takes what is written.
    """
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    layers = [_open_folder(path) for path in config["layers"]]
    upper, work = [None if path is None else _open_folder(path) for path in (config["upper"], config["work"])]
    shared = [(inside, _open_folder(path)) for inside, path in config["shared"].items()]
    devices = [(name, os.open("/dev/" + name, os.O_PATH)) for name in _DEVICES if os.path.exists("/dev/" + name)]
    system = os.open("/sys/devices/system", os.O_PATH) if os.path.isdir("/sys/devices/system") else None
    texts = {"hosts": _HOSTS, "hostname": "sandbox\n", "resolv.conf": _resolvers(config["network"])}
    owner = config["uid"] if config["mapped"] else 0
    scratch = _scratch(config["scratch_bytes"], texts, owner)
    if upper is None:
        upper, work = _open_folder(_STAGING + "/upper"), _open_folder(_STAGING + "/work")
    _overlay(layers, upper, work, not config["mapped"])
    os.chdir(_STAGING + "/root")
    _enter(owner)
    for name, descriptor in devices:
        _bind(descriptor, "/dev/" + name)
    os.mkdir("/dev/shm")
    _bind(scratch["shm"], "/dev/shm", _SEALED)
    _terminals(owner)
    for name in texts:
        _bind(scratch[name], _ready_file("/etc/" + name, owner), _QUIET)
    _guard_proc(scratch["empty"])
    _system(system, owner)
    for inside, descriptor in shared:
        _ready_parents(inside, owner)
        _bind(descriptor, inside, _QUIET | kernel.MS_RDONLY)
    kernel.detach("/dev/.old")
    os.rmdir("/dev/.old")
    others = [work, system] + [descriptor for _, descriptor in shared + devices] + list(scratch.values())
    for descriptor in layers + [one for one in others if one is not None]:
        os.close(descriptor)
    return upper


def _open_folder(path):
    return os.open(path, os.O_PATH | os.O_DIRECTORY)


def _resolvers(network):
    if not network or not os.path.exists("/etc/resolv.conf"):
        return ""
    with open("/etc/resolv.conf", encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _mount(source, target, kind, flags, options=""):
    part("a mount of %s at %s" % (kind or "a folder", target), kernel.mount, source, target, kind, flags, options)


def _scratch(size, texts, owner):
    """The tmpfs that holds what is written, and what else needs a place; descriptors of its parts by name."""
    options = "mode=755,size=%d,nr_inodes=%d" % (size, size // _INODE_BYTES + 1024)
    _mount("tmpfs", _STAGING, "tmpfs", _QUIET, options)
    parts = {}
    for name, mode in (("upper", 0o755), ("work", 0o755), ("root", 0o755), ("shm", 0o1777), ("empty", 0o555)):
        path = os.path.join(_STAGING, name)
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
    for name in ("shm", "empty"):
        parts[name] = _open_folder(os.path.join(_STAGING, name))
    for name, text in texts.items():
        path = os.path.join(_STAGING, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.chown(path, owner, owner)
        parts[name] = os.open(path, os.O_PATH)
    return parts


def _overlay(layers, upper, work, unprivileged):
    # Named by descriptors: no path of the host shows inside, none can be too long or hold a colon or comma.  Renaming
    # a folder of a layer fails with EXDEV, as in container engines, so that what is written is a plain layer.
    options = "lowerdir=%s,upperdir=%d,workdir=%d,xino=off,index=off,metacopy=off" % (
        ":".join(str(descriptor) for descriptor in reversed(layers)),
        upper,
        work,
    )
    options += ",userxattr" if unprivileged else ",redirect_dir=off"
    os.chdir("/proc/self/fd")
    _mount("overlay", _STAGING + "/root", "overlay", _QUIET, options)


def _enter(owner):
    """Make the current folder the root; the old one stays reachable at /dev/.old for binding."""
    for name in ("proc", "dev", "sys", "etc"):
        _ready_folder(name, owner)
    _mount("proc", "proc", "proc", _SEALED)
    _mount("tmpfs", "dev", "tmpfs", kernel.MS_NOSUID, "mode=755,size=64k,nr_inodes=1k,uid=%d,gid=%d" % (owner, owner))
    os.mkdir("dev/.old")
    kernel.pivot_root(".", "dev/.old")
    os.chdir("/")


def _ready_folder(name, owner):
    try:
        if stat.S_ISDIR(os.lstat(name).st_mode):
            return
        os.unlink(name)
    except FileNotFoundError:
        pass
    os.mkdir(name, 0o755)
    os.chown(name, owner, owner)


def _ready_parents(path, owner):
    folder = "/"
    for name in path.split("/"):
        folder = os.path.join(folder, name)
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o755)
            os.chown(folder, owner, owner)


def _ready_file(path, owner):
    """A regular file to mount over; a link there could lead anywhere."""
    try:
        if stat.S_ISREG(os.lstat(path).st_mode):
            return path
        os.unlink(path)
    except FileNotFoundError:
        pass
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644))
    os.chown(path, owner, owner)
    return path


def _bind(descriptor, target, flags=0):
    source = "/proc/self/fd/%d" % descriptor
    if not os.path.lexists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(source, target, "", kernel.MS_BIND)
    if flags:
        kept = os.statvfs(target).f_flag
        for seen, flag in _KEPT:
            if kept & seen:
                flags |= flag
        _mount("none", target, "", flags | kernel.MS_REMOUNT | kernel.MS_BIND)


def _terminals(owner):
    os.mkdir("/dev/pts")
    # A plain user has a single group id inside; then terminals belong to that.
    options = "newinstance,ptmxmode=0666,mode=620" + (",gid=%d" % (owner + _GID_TTY) if owner else "")
    _mount("devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, options)
    for name, target in _LINKS:
        os.symlink(target, "/dev/" + name)
        os.lchown("/dev/" + name, owner, owner)


def _guard_proc(empty):
    for name in _READ_ONLY:
        path = "/proc/" + name
        if os.path.exists(path):
            _mount(path, path, "", kernel.MS_BIND | kernel.MS_REC)
            _mount("none", path, "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | _SEALED)
    for name in _MASKED:
        path = "/proc/" + name
        if os.path.isdir(path):
            _bind(empty, path, _SEALED | kernel.MS_RDONLY)
        elif os.path.exists(path):
            _mount("/dev/null", path, "", kernel.MS_BIND)


def _system(descriptor, owner):
    """Of /sys only what programs read to count processors and memory nodes."""
    _mount("tmpfs", "/sys", "tmpfs", _SEALED, "mode=755,size=4k,nr_inodes=16,uid=%d,gid=%d" % (owner, owner))
    if descriptor is not None:
        os.makedirs("/sys/devices/system")
        _bind(descriptor, "/sys/devices/system", _SEALED | kernel.MS_RDONLY)
    _mount("none", "/sys", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | _SEALED)
