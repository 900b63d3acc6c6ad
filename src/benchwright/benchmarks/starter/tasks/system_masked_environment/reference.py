import os
import platform

SECRET_WORDS = ("KEY", "TOKEN", "PASSWORD", "SECRET")
MASK = "***"


def task_func(prefix: str = "") -> dict:
    """
    Describe the environment of the process for a bug report. Of the environment variables those whose name
    starts with the prefix are listed; when a name contains one of SECRET_WORDS, in any case, MASK is shown in
    place of the value, unless the value is empty. The entries of PATH that are not existing folders are
    listed separately, in their order and without empty ones.

    Parameters:
    - prefix (str): What the names start with. The default "" lists all variables.

    Returns:
    - dict: "system" (the name of the operating system as platform gives it), "variables" (a dict ordered by
      name) and "broken_path" (a list of str).

    Requirements:
    - os
    - platform

    Example:
    >>> os.environ["DEMO_TOKEN"] = "abc"
    >>> task_func("DEMO_")["variables"]
    {'DEMO_TOKEN': '***'}
    """
    variables = {}
    for name in sorted(os.environ):
        if not name.startswith(prefix):
            continue
        value = os.environ[name]
        secret = any(word in name.upper() for word in SECRET_WORDS)
        variables[name] = MASK if secret and value else value
    entries = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    broken = [entry for entry in entries if not os.path.isdir(entry)]
    return {"system": platform.system(), "variables": variables, "broken_path": broken}
