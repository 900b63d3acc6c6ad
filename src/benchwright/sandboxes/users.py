"""Which users of this machine the users inside a sandbox are."""

import os
from dataclasses import dataclass
from pathlib import Path

BASE_UID = 0x7000_0000
"""As root: the user (and group) of this machine that is root inside; owns the files of every layer.

It and the ids after it are nobody on any machine: far above what login, container and directory services hand out
(the last by systemd is 0x6FFFFFFF), and below 2^31, which some programs take for negative.
"""
ID_COUNT = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMapping:
    """How ids inside follow from ids of this machine: 0 inside is ``uid``, 1 is the next, and so on."""

    uid: int
    gid: int
    count: int
    """How many ids there are inside."""

    @property
    def ranged(self) -> bool:
        """Whether there is a range of ids, which only root can have; else this user alone, as root."""
        return self.count > 1


def user_mapping() -> UserMapping:
    """The mapping for workspaces that this process makes; their layers must belong to its ``uid`` and ``gid``.

    Root gets the range that starts at `BASE_UID`, unless this process is in a user namespace without these ids.
    """
    if os.geteuid() == 0 and all(_has_ids(Path("/proc/self", name)) for name in ("uid_map", "gid_map")):
        return UserMapping(uid=BASE_UID, gid=BASE_UID, count=ID_COUNT)
    return UserMapping(uid=os.geteuid(), gid=os.getegid(), count=1)


def _has_ids(id_map: Path) -> bool:
    rows = [[int(word) for word in line.split()] for line in id_map.read_text().splitlines()]
    return any(first <= BASE_UID and first + count >= BASE_UID + ID_COUNT for first, _, count in rows)
