"""A folder as a tar archive: POSIX pax format, with GNU's form for files that have holes.

Written by hand, since nothing of a Python can be imported where this runs.  Names are bytes, as they are in the
folder; Python's ``tarfile``, GNU tar and libarchive read it.
"""

import array
import errno
import os
import stat

from . import files, walk

_BLOCK = 512
_CHUNK = 1 << 20
_OCTAL_SIZE = 1 << 33  # sizes from here on are written in base 256
_HOLE_BYTES = 1 << 16  # smaller holes are written out
_LINKED_BYTES, _LINKED_NAMES = 4096, 16  # with more of either, other names of a file are links to the first one
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO)
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EWOULDBLOCK)
_END = bytes(2 * _BLOCK)


def archive(path, most, left_out=b".git"):
    """The archive of a folder in pieces; an empty one when there is no such folder.

    Args:
        path: The folder.
        most: Bytes of a file from which on it comes without its content, as a hole.
        left_out: What is left out at the top.
    """
    try:
        top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        yield _END
        return
    try:
        if files.is_of_workspace(top):
            links = {}
            for entry in walk.entries(top):
                if entry.path == left_out:
                    entry.enter = False
                else:
                    yield from _member(entry, links, most)
        yield _END
    finally:
        os.close(top)


def _member(entry, links, most):
    mode = entry.status.st_mode
    if stat.S_ISDIR(mode):
        yield _header(entry.path + b"/", entry.status, b"5")
    elif stat.S_ISLNK(mode):
        try:
            target = os.readlink(entry.name, dir_fd=entry.folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINVAL):
                raise
        else:
            yield _header(entry.path, entry.status, b"2", target=target)
    elif stat.S_ISREG(mode):
        yield from _file(entry, links, most)
    else:
        yield b""


def _file(entry, links, most):
    try:
        source = os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=entry.folder)
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        return
    try:
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode):
            return
        first = _first_name(entry.path, status, links)
        if first is not None:
            yield _header(entry.path, status, b"1", target=first)
            return
        segments = _segments(source, status) if status.st_size <= most else array.array("Q", (status.st_size, 0))
        if segments is None:
            yield _header(entry.path, status, b"0", size=status.st_size)
            yield from _content(source, 0, status.st_size)
            yield _padding(status.st_size)
        else:
            yield from _sparse(source, entry.path, status, segments)
    finally:
        os.close(source)


def _first_name(path, status, links):
    """The name under which a file is in the archive already; what is not is remembered if it has other names."""
    if status.st_nlink < 2 or (status.st_size <= _LINKED_BYTES and status.st_nlink <= _LINKED_NAMES):
        return None
    key = status.st_dev, status.st_ino
    if key in links:
        return links[key]
    links[key] = path
    return None


def _segments(source, status):
    """Where a file has data, as offsets and sizes in turn; None for one without large holes."""
    if status.st_blocks * _BLOCK + _HOLE_BYTES > status.st_size:
        return None
    found, end = array.array("Q"), 0
    while True:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # nothing but a hole
        if start >= status.st_size:
            break
        end = min(os.lseek(source, start, os.SEEK_HOLE), status.st_size)
        if found and start - (found[-2] + found[-1]) < _HOLE_BYTES:
            found[-1] = end - found[-2]
        else:
            found.extend((start, end - start))
    if list(found) == [0, status.st_size]:
        return None
    found.extend((status.st_size, 0))
    return found


def _sparse(source, path, status, segments):
    """A file with holes in the form of GNU's pax format 1.0: a map, then the data."""
    numbers = b"".join(b"%d\n" % number for number in segments)
    table = b"%d\n%s" % (len(segments) // 2, numbers)
    table += _padding(len(table))
    data = sum(segments[1::2])
    records = {
        b"GNU.sparse.major": b"1", b"GNU.sparse.minor": b"0",
        b"GNU.sparse.name": path, b"GNU.sparse.realsize": b"%d" % status.st_size,
    }  # fmt: skip
    yield _header(path, status, b"0", size=len(table) + data, records=records)
    yield table
    for index in range(0, len(segments), 2):
        yield from _content(source, segments[index], segments[index + 1])
    yield _padding(data)


def _content(source, offset, size):
    """Bytes of a file; zeros where it got shorter."""
    end = offset + size
    while offset < end:
        most = min(_CHUNK, end - offset)
        chunk = os.pread(source, most, offset) or bytes(most)
        offset += len(chunk)
        yield chunk


def _padding(size):
    return bytes(-size % _BLOCK)


def _header(path, status, kind, size=0, target=b"", records=None):
    """The header of a member, after one with records for what does not fit into it."""
    records = dict(records or {})
    for key, value in ((b"path", path), (b"linkpath", target)):
        if len(value) > 100 and b"GNU.sparse.name" not in records:
            records[key] = value
    made = _block(path, stat.S_IMODE(status.st_mode), status, size, kind, target)
    if records:
        body = b"".join(_record(key, value) for key, value in records.items())
        made = _block(b"././@PaxHeader", 0o644, status, len(body), b"x", b"") + body + _padding(len(body)) + made
    return made


def _record(key, value):
    """``length key=value``, where the length counts itself."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _block(path, mode, status, size, kind, target):
    parts = [
        path[:100].ljust(100, b"\0"),
        b"%07o\0" % mode,
        b"%07o\0" % min(status.st_uid, 0o7777777),
        b"%07o\0" % min(status.st_gid, 0o7777777),
        b"%011o\0" % size if size < _OCTAL_SIZE else b"\x80" + size.to_bytes(11, "big"),
        b"%011o\0" % min(max(int(status.st_mtime), 0), _OCTAL_SIZE - 1),
        b" " * 8,  # the checksum counts itself as spaces
        kind,
        target[:100].ljust(100, b"\0"),
        b"ustar\0" + b"00",
    ]
    block = b"".join(parts).ljust(_BLOCK, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]
