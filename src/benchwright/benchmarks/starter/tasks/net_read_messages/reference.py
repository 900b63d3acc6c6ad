import json
import socket

CHUNK_BYTES = 16
MAX_MESSAGE_BYTES = 200


def task_func(connection: socket.socket) -> list:
    """
    Receive messages from a connected socket until the other side closes it. A message is a JSON value in UTF-8
    on a line of its own, ended by a line feed. Blank lines are passed over. At most CHUNK_BYTES are received at
    a time, so that a message, or a single character, may arrive in several pieces. The socket is closed in
    every case, after an error too.

    Parameters:
    - connection (socket.socket): The connected stream socket.

    Returns:
    - list: The messages in their order.

    Raises:
    - ValueError: If a line is not JSON, or has more than MAX_MESSAGE_BYTES bytes without its line feed.
    - EOFError: If the other side closes within a line.

    Requirements:
    - json
    - socket

    Example:
    >>> ours, theirs = socket.socketpair()
    >>> theirs.sendall(b'{"n": 1}\\n[2]\\n')
    >>> theirs.close()
    >>> task_func(ours)
    [{'n': 1}, [2]]
    """
    messages = []
    pending = b""
    with connection:
        while True:
            chunk = connection.recv(CHUNK_BYTES)
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b"\n")
            if any(len(line) > MAX_MESSAGE_BYTES for line in [*lines, pending]):
                raise ValueError("a message is too long")
            messages += [json.loads(line.decode("utf-8")) for line in lines if line.strip()]
    if pending:
        raise EOFError("the connection was closed within a message")
    return messages
