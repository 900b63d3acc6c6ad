import numpy as np


def task_func(values: list, width: int) -> np.ndarray:
    """
    Smooth a sequence of numbers by a running median. Each result is the median of the value at that position
    and of its neighbours up to (width - 1) / 2 places to either side. Near the ends, where there are fewer
    neighbours on one side, the median is taken over those that exist, so the result is as long as the input.

    Parameters:
    - values (list): The numbers, at least one.
    - width (int): The odd number of positions which a full window covers.

    Returns:
    - np.ndarray: The smoothed values as floats.

    Raises:
    - ValueError: If width is even or smaller than 1, or if values is empty or not one-dimensional.

    Requirements:
    - numpy

    Example:
    >>> task_func([1, 9, 2, 3, 30], 3).tolist()
    [5.0, 2.0, 3.0, 3.0, 16.5]
    """
    data = np.asarray(values, dtype=float)
    if data.ndim != 1 or data.size == 0:
        raise ValueError("values must be a non-empty one-dimensional sequence")
    if width < 1 or width % 2 == 0:
        raise ValueError("width must be a positive odd number")
    reach = width // 2
    return np.array([np.median(data[max(0, i - reach) : i + reach + 1]) for i in range(data.size)])
