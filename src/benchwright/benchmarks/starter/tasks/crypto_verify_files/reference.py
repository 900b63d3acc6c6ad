import hashlib
from pathlib import Path

MANIFEST_NAME = "SHA256SUMS"


def task_func(folder: str) -> dict:
    """
    Compare the files in a folder with the file MANIFEST_NAME in it. Each line of the manifest that is not blank
    holds a hexadecimal SHA-256 digest in either case, white space and the name of a file, which may itself
    contain spaces. A listed file is "ok", "changed" or "missing"; a file directly in the folder that is not
    listed is "extra". Folders and the manifest itself are not reported.

    Parameters:
    - folder (str): The path of the folder.

    Returns:
    - dict: The state of each file by its name, in alphabetical order of the names.

    Raises:
    - FileNotFoundError: If the manifest does not exist.
    - ValueError: If a line of the manifest cannot be understood.

    Requirements:
    - hashlib
    - pathlib

    Example:
    >>> import os
    >>> os.makedirs("parcel", exist_ok=True)
    >>> _ = Path("parcel/SHA256SUMS").write_text("00ff  gone.txt")
    >>> task_func("parcel")
    {'gone.txt': 'missing'}
    """
    root = Path(folder)
    states = {path.name: "extra" for path in root.iterdir() if path.is_file()}
    for line in (root / MANIFEST_NAME).read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        parts = line.strip().split(maxsplit=1)
        if len(parts) != 2:
            raise ValueError(f"cannot understand the line {line!r}")
        digest, name = parts
        if not (root / name).is_file():
            states[name] = "missing"
        elif hashlib.sha256((root / name).read_bytes()).hexdigest() == digest.lower():
            states[name] = "ok"
        else:
            states[name] = "changed"
    states.pop(MANIFEST_NAME, None)
    return {name: states[name] for name in sorted(states)}
