import hashlib
import secrets
from typing import Optional

ALGORITHM = "sha256"
ROUNDS = 1200
SALT_BYTES = 16


def task_func(password: str, salt: Optional[bytes] = None) -> str:
    """
    Turn a password into text that may be stored. The text has four parts joined by "$": the word "pbkdf2",
    ROUNDS, the salt and the derived key, the last two in hexadecimal. The key is derived by PBKDF2-HMAC from
    the UTF-8 password with ALGORITHM and ROUNDS. Without a salt, SALT_BYTES fresh random bytes serve as salt.

    Parameters:
    - password (str): The password.
    - salt (bytes, optional): The salt. Default is None.

    Returns:
    - str: The text to store.

    Raises:
    - ValueError: If the password is empty, or if a given salt has fewer than 8 bytes.

    Requirements:
    - hashlib
    - secrets

    Example:
    >>> task_func("open sesame", b"saltsalt")[:36]
    'pbkdf2$1200$73616c7473616c74$da0e94d'
    """
    if not password:
        raise ValueError("the password is empty")
    if salt is None:
        salt = secrets.token_bytes(SALT_BYTES)
    elif len(salt) < 8:
        raise ValueError("the salt is too short")
    key = hashlib.pbkdf2_hmac(ALGORITHM, password.encode("utf-8"), salt, ROUNDS)
    return "$".join(["pbkdf2", str(ROUNDS), salt.hex(), key.hex()])
