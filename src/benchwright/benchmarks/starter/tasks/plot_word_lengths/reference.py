import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def task_func(text: str) -> tuple:
    """
    Draw a histogram of the word lengths in a text. Words are runs of letters, digits and underscores. There is
    one bin of width 1 per length, centred on it, from the shortest to the longest length that occurs. The title
    is "Word lengths", the labels are "Length" and "Words", and a dashed vertical line stands at the mean
    length with the label "mean", which a legend shows. Each call draws on a new figure.

    Parameters:
    - text (str): The text.

    Returns:
    - tuple: The matplotlib Axes, and a numpy array with the number of words per bin as integers.

    Raises:
    - ValueError: If the text has no words.

    Requirements:
    - re
    - matplotlib
    - numpy

    Example:
    >>> axes, counts = task_func("a fish ate an ant")
    >>> counts.tolist()
    [1, 1, 2, 1]
    """
    lengths = np.array([len(word) for word in re.findall(r"\w+", text)])
    if lengths.size == 0:
        raise ValueError("the text has no words")
    edges = np.arange(lengths.min(), lengths.max() + 2) - 0.5
    _, axes = plt.subplots()
    counts, _, _ = axes.hist(lengths, bins=edges)
    axes.axvline(lengths.mean(), linestyle="--", color="black", label="mean")
    axes.set(title="Word lengths", xlabel="Length", ylabel="Words")
    axes.legend()
    return axes, counts.astype(int)
