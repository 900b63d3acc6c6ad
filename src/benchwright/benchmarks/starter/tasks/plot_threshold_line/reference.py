from datetime import datetime

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

THRESHOLD = 30.0
DATE_FORMAT = "%d.%m.%Y"


def task_func(rows: list) -> plt.Figure:
    """
    Draw temperatures over time with their alarm threshold. The axes hold two lines: the readings in order of
    time, labelled "temperature" and with the marker "o", and a horizontal line at THRESHOLD, labelled
    "threshold". A legend shows both. The title is "N alarms", where N counts the readings greater than
    THRESHOLD ("1 alarm" if there is one). The label of the y axis is "Celsius". Each call draws on a new figure.

    Parameters:
    - rows (list): Pairs of a date, written as DATE_FORMAT says, and a temperature, in any order.

    Returns:
    - plt.Figure: The figure, which has one pair of axes.

    Raises:
    - ValueError: If there are no rows, or if a date cannot be read.

    Requirements:
    - datetime
    - matplotlib
    - pandas

    Example:
    >>> figure = task_func([("02.07.2024", 31.5), ("01.07.2024", 28.0)])
    >>> figure.axes[0].get_title()
    '1 alarm'
    """
    if not rows:
        raise ValueError("there are no rows")
    readings = pd.Series({datetime.strptime(day, DATE_FORMAT): value for day, value in rows}).sort_index()
    alarms = int((readings > THRESHOLD).sum())
    figure, axes = plt.subplots()
    axes.plot(readings.index.to_pydatetime(), readings.to_numpy(), marker="o", label="temperature")
    axes.axhline(THRESHOLD, color="red", label="threshold")
    axes.set_title(f"{alarms} alarm{'' if alarms == 1 else 's'}")
    axes.set_ylabel("Celsius")
    axes.legend()
    return figure
