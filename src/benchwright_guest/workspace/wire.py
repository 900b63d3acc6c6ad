"""Messages between host and guest: a JSON object each, with descriptors attached."""

import array
import json
import socket

_MOST_BYTES = 1 << 17
_MOST_DESCRIPTORS = 4


def send(control, message, descriptors=()):
    """Send one message."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    control.sendmsg([json.dumps(message).encode()], [rights] if descriptors else [])


def receive(control):
    """The next message and its descriptors, which no command inherits; (None, []) when the other side has hung up."""
    descriptors = array.array("i")
    room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * descriptors.itemsize)
    try:
        # Not socket.recv_fds, which ignores the flags it is given.
        data, ancillary, _, _ = control.recvmsg(_MOST_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return None, []
    for _, _, content in ancillary:
        descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    return (json.loads(data.decode()) if data else None), list(descriptors)
