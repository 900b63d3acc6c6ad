import numpy as np


def task_func(points: list) -> list:
    """
    Find, for each point, the other point that is closest to it by the straight-line distance. A point is
    never its own neighbour, even if another point has the same coordinates. Among several equally close
    points the one with the lowest index is chosen. Points may have any number of coordinates.

    Parameters:
    - points (list): At least two points, each a sequence of the same number of coordinates.

    Returns:
    - list: For each point a tuple of the index of the neighbour (int) and the distance to it (float, rounded
      to 6 decimals).

    Raises:
    - ValueError: If points is not a table of numbers with two or more rows.

    Requirements:
    - numpy

    Example:
    >>> task_func([(0, 0), (3, 4), (3, 5)])
    [(1, 5.0), (2, 1.0), (1, 1.0)]
    """
    table = np.asarray(points, dtype=float)
    if table.ndim != 2 or len(table) < 2:
        raise ValueError("at least two points are needed")
    distances = np.sqrt(((table[:, np.newaxis, :] - table[np.newaxis, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    return [(int(other), round(float(distances[i, other]), 6)) for i, other in enumerate(nearest)]
