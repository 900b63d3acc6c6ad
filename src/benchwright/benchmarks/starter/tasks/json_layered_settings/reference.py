import copy
import json
from pathlib import Path

DEFAULT_SETTINGS = {"theme": "light", "editor": {"tabs": 4, "wrap": True}, "plugins": ["spell"]}


def task_func(paths: list) -> dict:
    """
    Read settings that are layered over DEFAULT_SETTINGS. Each file holds a JSON object; a later file has
    precedence over an earlier one and over the defaults. Where both layers hold an object, the objects are
    combined by the same rule at every depth. Any other value, a list too, replaces what is below, except that
    null removes the setting. Files that do not exist are passed over, and DEFAULT_SETTINGS is never changed.

    Parameters:
    - paths (list): The paths of the files (str), the one with the highest precedence last.

    Returns:
    - dict: The settings that hold.

    Raises:
    - ValueError: If a file is not JSON, or does not hold an object.

    Requirements:
    - copy
    - json
    - pathlib

    Example:
    >>> task_func(["no_such_settings.json"])["editor"]
    {'tabs': 4, 'wrap': True}
    """

    def combine(below, above):
        for name, value in above.items():
            if value is None:
                below.pop(name, None)
            elif isinstance(value, dict):
                base = below.get(name)
                below[name] = combine(base if isinstance(base, dict) else {}, value)
            else:
                below[name] = value
        return below

    settings = copy.deepcopy(DEFAULT_SETTINGS)
    for path in map(Path, paths):
        if not path.exists():
            continue
        layer = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(layer, dict):
            raise ValueError(f"{path} does not hold an object")
        settings = combine(settings, layer)
    return settings
