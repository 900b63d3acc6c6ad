"""Data for pages as scripts that assign to one global, since a page opened from a file may not read other files.

What a script holds may come from anybody.  Every character that could end a script element, begin a comment, or end a
line of JavaScript is written as an escape, so that the text stays text wherever the script is placed.
"""

import base64
import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt

_ESCAPES = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029\u007f"})


def script(name: str, value: Any) -> bytes:
    """A script that puts plain data under a name, where the pages look for it; the same data gives the same bytes.

    Lone surrogates, which answers may hold, are escapes as well: the script is always valid UTF-8.
    Raises ``ValueError`` for numbers that JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)
    key = json.dumps(name, ensure_ascii=True).translate(_ESCAPES)
    # A lone surrogate can stand in no UTF-8 file; in a JavaScript string its escape means the same.
    return f"(window.BW_DATA=window.BW_DATA||{{}})[{key}]={text};\n".encode("utf-8", errors="backslashreplace")


def short_digest(*parts: str) -> str:
    """Ten hexadecimal digits that stand for these texts in file names and addresses."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", errors="surrogatepass")).hexdigest()[:10]


def packed(codes: npt.NDArray[np.uint16], kinds: int) -> dict[str, Any]:
    """Codes below ``kinds`` in as few bits each as will do (1, 2, 4, 8 or 16), lowest bits first, as base64."""
    bits = next(bits for bits in (1, 2, 4, 8, 16) if kinds <= 1 << bits)
    flat = codes.reshape(-1)
    if bits >= 8:
        data = flat.astype("<u1" if bits == 8 else "<u2").tobytes()
    else:
        each = 8 // bits
        padded = np.zeros(-(-flat.size // each) * each, dtype=np.uint8)
        padded[: flat.size] = flat
        shifts = (np.arange(each, dtype=np.uint8) * bits).astype(np.uint8)
        data = np.bitwise_or.reduce(padded.reshape(-1, each) << shifts, axis=1).astype(np.uint8).tobytes()
    return {"bits": bits, "data": base64.b64encode(data).decode("ascii")}
