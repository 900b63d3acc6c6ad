import math

import numpy as np

SCALE = 1.4826
LIMIT = 3.5


def task_func(readings: list) -> dict:
    """
    Find outliers among sensor readings by the median absolute deviation. The deviation of a reading is its
    absolute distance from the median; the spread is SCALE times the median of all deviations. A reading is an
    outlier when its deviation is greater than LIMIT times the spread. When the spread is zero, every reading
    that differs from the median is an outlier. Readings that are None or not a number are disregarded.

    Parameters:
    - readings (list): Numbers, None and NaN in any order.

    Returns:
    - dict: "median" and "spread" (floats) and "outliers" (the positions in readings of the outliers,
      ascending, as ints).

    Raises:
    - ValueError: If no usable reading is left.

    Requirements:
    - math
    - numpy

    Example:
    >>> task_func([10, 11, None, 10, 12, 50])
    {'median': 11.0, 'spread': 1.4826, 'outliers': [5]}
    """
    usable = [(i, float(x)) for i, x in enumerate(readings) if x is not None and not math.isnan(x)]
    if not usable:
        raise ValueError("there is no usable reading")
    values = np.array([x for _, x in usable])
    median = float(np.median(values))
    deviations = np.abs(values - median)
    spread = float(SCALE * np.median(deviations))
    outliers = [i for (i, _), deviation in zip(usable, deviations) if deviation > LIMIT * spread]
    return {"median": median, "spread": spread, "outliers": outliers}
