import re
from collections import Counter

STOP_WORDS = frozenset({"a", "an", "and", "in", "is", "it", "of", "on", "or", "the", "to"})
WORD_PATTERN = re.compile(r"[a-z']+")


def task_func(text: str, limit: int = 3) -> list:
    """
    Rank the words of a text by how often they occur. Upper and lower case are not distinguished, a word is
    whatever WORD_PATTERN matches in the lower-case text, and the words in STOP_WORDS are never ranked.
    The most frequent word comes first, and words with equal counts are in alphabetical order.
    A text without any ranked word gives an empty list.

    Parameters:
    - text (str): The text to examine.
    - limit (int): The largest number of words to return. Default is 3.

    Returns:
    - list: Tuples of a word (lower case) and its count, at most limit of them.

    Raises:
    - ValueError: If limit is smaller than 1.

    Requirements:
    - re
    - collections.Counter

    Example:
    >>> task_func("The cat and the dog. A cat!", 2)
    [('cat', 2), ('dog', 1)]
    >>> task_func("to the")
    []
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    words = WORD_PATTERN.findall(text.lower())
    counts = Counter(word for word in words if word not in STOP_WORDS)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ranked[:limit]
