from pathlib import Path

BACKUP_SUFFIX = ".bak"


def task_func(folder: str, keep: int) -> list:
    """
    Delete old backups in a folder. Backups are the regular files directly in the folder whose name ends in
    BACKUP_SUFFIX. The keep most recently modified ones stay; of two that were modified at the same time, the
    one whose name comes later in the alphabet is the more recent one. Nothing else in the folder is touched.

    Parameters:
    - folder (str): The path of the folder.
    - keep (int): How many backups stay; 0 deletes all of them.

    Returns:
    - list: The names of the deleted files in alphabetical order.

    Raises:
    - ValueError: If keep is negative.
    - NotADirectoryError: If folder is not an existing folder.

    Requirements:
    - pathlib

    Example:
    >>> import tempfile
    >>> task_func(tempfile.mkdtemp(), 3)
    []
    """
    if keep < 0:
        raise ValueError("keep must not be negative")
    root = Path(folder)
    if not root.is_dir():
        raise NotADirectoryError(folder)
    backups = [path for path in root.iterdir() if path.is_file() and path.name.endswith(BACKUP_SUFFIX)]
    backups.sort(key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    removed = backups[keep:]
    for path in removed:
        path.unlink()
    return sorted(path.name for path in removed)
