"""Telling what the kernel refuses, which is a fact of the machine, from what broke just now."""

import errno
import os

_PASSING = (errno.EAGAIN, errno.EINTR, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Refused(Exception):
    """The kernel refuses a part of the isolation; the message names it."""


def part(what, call, *arguments):
    """Make a call that is a part of the isolation; raises `Refused` if the kernel does not grant it."""
    try:
        return call(*arguments)
    except OSError as error:
        if error.errno in _PASSING:
            raise
        raise Refused("%s (%s)" % (what, os.strerror(error.errno))) from error
