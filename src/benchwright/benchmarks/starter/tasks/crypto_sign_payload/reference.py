import hashlib
import hmac
import json

ALGORITHM = "sha256"
SIGNATURE_FIELD = "signature"


def task_func(payload: dict, key: bytes) -> dict:
    """
    Sign a message. The signature is the hexadecimal HMAC, under ALGORITHM and the given key, of the payload
    written as UTF-8 JSON with sorted keys, with no white space around separators and with characters outside
    ASCII left as they are. A SIGNATURE_FIELD which the payload already has takes no part in this and is
    replaced. The given payload is not changed.

    Parameters:
    - payload (dict): What JSON can represent.
    - key (bytes): The secret.

    Returns:
    - dict: A copy of the payload with the SIGNATURE_FIELD in addition.

    Raises:
    - ValueError: If the key is empty.
    - TypeError: If the payload holds something that JSON cannot represent.

    Requirements:
    - hashlib
    - hmac
    - json

    Example:
    >>> task_func({"b": 1, "a": "x"}, b"secret")["signature"][:16]
    '0da57a8ea118b51c'
    """
    if not key:
        raise ValueError("the key must not be empty")
    signed = {name: value for name, value in payload.items() if name != SIGNATURE_FIELD}
    text = json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hmac.new(key, text.encode("utf-8"), getattr(hashlib, ALGORITHM)).hexdigest()
    return {**signed, SIGNATURE_FIELD: digest}
