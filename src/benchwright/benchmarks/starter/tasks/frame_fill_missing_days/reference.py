import pandas as pd


def task_func(readings: pd.DataFrame) -> pd.DataFrame:
    """
    Complete a table of daily readings so that every calendar day from the first to the last occurs exactly
    once, in ascending order. The value of a day that was absent lies on the straight line between its
    neighbours. When a date occurs more than once in the input, the row furthest down counts. Rows may be
    in any order, and the given frame is not changed.

    Parameters:
    - readings (pd.DataFrame): The columns date (text such as "2024-05-01") and value (numbers).

    Returns:
    - pd.DataFrame: The columns date (timestamps), value (floats) and filled (True for days which were absent),
      with the index 0, 1, 2 and so on.

    Raises:
    - ValueError: If there is no row.

    Requirements:
    - pandas

    Example:
    >>> readings = pd.DataFrame({"date": ["2024-05-04", "2024-05-01"], "value": [7, 1]})
    >>> task_func(readings)["value"].tolist()
    [1.0, 3.0, 5.0, 7.0]
    >>> task_func(readings)["filled"].tolist()
    [False, True, True, False]
    """
    if readings.empty:
        raise ValueError("there are no readings")
    values = pd.Series(
        readings["value"].to_numpy(dtype=float), index=pd.to_datetime(readings["date"].to_numpy())
    )
    values = values[~values.index.duplicated(keep="last")].sort_index()
    days = pd.date_range(values.index[0], values.index[-1], freq="D")
    complete = values.reindex(days).interpolate()
    return pd.DataFrame({"date": days, "value": complete.to_numpy(), "filled": ~days.isin(values.index)})
