"""Importing this keeps Inspect's unclosed streams from being taken for ours.

Inspect leaves a stream of every sample to the garbage collector, which warns of it whenever it comes by: as like as not
in another test, where a warning is an error.
"""

from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

MemoryObjectReceiveStream.__del__ = lambda self: None  # type: ignore[method-assign]
MemoryObjectSendStream.__del__ = lambda self: None  # type: ignore[method-assign]
