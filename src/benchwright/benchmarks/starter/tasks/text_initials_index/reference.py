import unicodedata
from collections import defaultdict


def task_func(names: list) -> dict:
    """
    Build an index of names by their initial. Accents are disregarded and the initial is in upper case, so
    that "Émile" and "eva" are both found under "E". A name which does not start with one of the letters
    A to Z after that is found under "#". White space around a name is removed, and a blank name is left out.

    Parameters:
    - names (list): The names as strings, in any order; a name may occur more than once.

    Returns:
    - dict: Initials in ascending order, each with the ascending list of its distinct names.

    Requirements:
    - unicodedata
    - collections.defaultdict

    Example:
    >>> task_func(["Émile", "eva", "Bo", " "])
    {'B': ['Bo'], 'E': ['eva', 'Émile']}
    >>> task_func([])
    {}
    """
    groups = defaultdict(set)
    for name in names:
        stripped = name.strip()
        if not stripped:
            continue
        first = unicodedata.normalize("NFD", stripped)[0].upper()
        groups[first if "A" <= first <= "Z" and len(first) == 1 else "#"].add(stripped)
    return {initial: sorted(groups[initial]) for initial in sorted(groups)}
