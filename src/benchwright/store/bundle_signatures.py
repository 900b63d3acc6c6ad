"""The form of signature files: nothing before, between and after what the programs write."""

import base64
import binascii
import re

from benchwright.store.bundle import SIGNATURES

_SSH, _MINISIGN = SIGNATURES
_ARMOR = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]+\n-----END SSH SIGNATURE-----\n?")
"""PROTOCOL.sshsig of OpenSSH."""
_COMMENT, _TRUSTED = b"untrusted comment: ", b"trusted comment: "
_ALGORITHMS = (b"Ed", b"ED")
_SIGNATURE_BYTES, _GLOBAL_BYTES = 74, 64
"""Of minisign: two bytes of the algorithm, eight of the key's id, 64 of the signature; and the one over the comment."""


def flaw_of_form(name: str, signature: bytes) -> str:
    """Why a file is no signature of the kind that its name says, as a clause; empty when it has the form of one."""
    if name == _MINISIGN:
        return "" if minisign_id(signature) else "it has not the form of a minisign signature"
    return "" if _ARMOR.fullmatch(signature) else "it is no SSH signature, or has something before or after it"


def minisign_id(signature: bytes) -> str:
    """The key id that a minisign signature names, the last byte first; empty for what is none, or has more than one."""
    lines = signature.split(b"\n")
    if len(lines) != 5 or lines[4] or not lines[0].startswith(_COMMENT) or not lines[2].startswith(_TRUSTED):
        return ""
    try:
        first, second = (base64.b64decode(line, validate=True) for line in (lines[1], lines[3]))
    except (binascii.Error, ValueError):
        return ""
    if len(first) != _SIGNATURE_BYTES or first[:2] not in _ALGORITHMS or len(second) != _GLOBAL_BYTES:
        return ""
    return first[2:10][::-1].hex().upper()
