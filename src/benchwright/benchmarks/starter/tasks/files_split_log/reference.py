import os
import re

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
LINE_PATTERN = re.compile(r"^\S+ \S+ \[(\w+)\] ")


def task_func(log_path: str, output_folder: str) -> dict:
    """
    Distribute the lines of a log file over one file per level. A line that matches LINE_PATTERN with one of
    LEVELS starts an entry of that level; any other line continues the entry above it and goes where that one
    goes. Lines ahead of the first entry are dropped. The files are called after the level in lower case with
    the ending ".log", exist only for levels which occur, and keep the lines unchanged and in their order.
    The output folder is created if it does not exist; the files in it are replaced. All files are UTF-8.

    Parameters:
    - log_path (str): The path of the log file.
    - output_folder (str): The path of the folder for the new files.

    Returns:
    - dict: The number of entries (not lines) of each level that occurs, in the order of LEVELS.

    Raises:
    - FileNotFoundError: If the log file does not exist.

    Requirements:
    - os
    - re

    Example:
    >>> with open("example.log", "w") as log: _ = log.write("2024-05-01 10:00 [INFO] up\\n")
    >>> task_func("example.log", "example_levels")
    {'INFO': 1}
    """
    with open(log_path, encoding="utf-8") as log:
        lines = log.readlines()
    chunks = {}
    counts = {}
    level = None
    for line in lines:
        match = LINE_PATTERN.match(line)
        if match and match.group(1) in LEVELS:
            level = match.group(1)
            counts[level] = counts.get(level, 0) + 1
        if level is not None:
            chunks.setdefault(level, []).append(line)
    os.makedirs(output_folder, exist_ok=True)
    for name, part in chunks.items():
        with open(os.path.join(output_folder, name.lower() + ".log"), "w", encoding="utf-8") as output:
            output.writelines(part)
    return {name: counts[name] for name in LEVELS if name in counts}
