"""Frames of the private channel between a child and the host.

The host first sends ``KEY_BYTES`` bytes of key, then the job as one length-prefixed JSON document.  A frame of the
child is ``length (4 bytes, big endian) | signature (16 bytes) | payload (JSON, UTF-8)``.  The signature is
keyed BLAKE2b over ``sequence (8 bytes) | payload`` with the job's key; the sequence counts from 0.  The host
accepts frames of one job in order and stops at the first whose signature is wrong, which is evidence in itself.
"""

import hashlib
import struct

KEY_BYTES = 32
SIGNATURE_BYTES = 16
HEADER = struct.Struct(">I")
SEQUENCE = struct.Struct(">Q")
MAX_FRAME_BYTES = 1 << 20


def sign(key, sequence, payload):
    """Signature of one payload."""
    return hashlib.blake2b(SEQUENCE.pack(sequence) + payload, key=key, digest_size=SIGNATURE_BYTES).digest()
