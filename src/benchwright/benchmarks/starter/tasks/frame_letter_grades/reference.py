import numpy as np
import pandas as pd

LOWER_EDGES = [0, 50, 65, 80]
LETTERS = ["D", "C", "B", "A"]
HIGHEST_SCORE = 100
NO_SCORE = "missing"


def task_func(scores: pd.DataFrame) -> pd.DataFrame:
    """
    Add a column grade to a table of scores. The entries of LETTERS belong to the entries of LOWER_EDGES: a
    grade holds from its lower edge, inclusive, up to the next edge, exclusive; the last one reaches up to and
    includes HIGHEST_SCORE. A row without a score has the grade NO_SCORE. The given frame is not changed, and
    its rows and index are kept.

    Parameters:
    - scores (pd.DataFrame): A table with a numeric column score, which may hold missing values.

    Returns:
    - pd.DataFrame: A copy of the table with the additional last column grade.

    Raises:
    - ValueError: If a score lies below the first edge or above HIGHEST_SCORE.

    Requirements:
    - numpy
    - pandas

    Example:
    >>> scores = pd.DataFrame({"name": ["Ann", "Bo", "Cy"], "score": [80, 49.5, None]})
    >>> task_func(scores)["grade"].tolist()
    ['A', 'D', 'missing']
    """
    values = scores["score"].to_numpy(dtype=float)
    known = ~np.isnan(values)
    if np.any((values[known] < LOWER_EDGES[0]) | (values[known] > HIGHEST_SCORE)):
        raise ValueError("a score lies outside the scale")
    grades = np.full(len(values), NO_SCORE, dtype=object)
    grades[known] = np.array(LETTERS, dtype=object)[np.digitize(values[known], LOWER_EDGES) - 1]
    return scores.assign(grade=grades)
