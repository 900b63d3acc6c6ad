import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PASS_MARK = 60
PASS_COLOUR = "tab:green"
FAIL_COLOUR = "tab:red"


def task_func(scores: dict) -> plt.Axes:
    """
    Draw the scores of a class as a bar chart. There is one vertical bar per name, the highest score on the left
    and equal scores in alphabetical order. Bars of at least PASS_MARK have the PASS_COLOUR, others the
    FAIL_COLOUR. The chart has the title "Scores (mean M)", where M is the mean with one decimal, the label
    "Student" on the x axis and "Points" on the y axis, and the names as tick labels. Each call draws on a
    new figure.

    Parameters:
    - scores (dict): The points by name.

    Returns:
    - plt.Axes: The axes with the chart.

    Raises:
    - ValueError: If there are no scores.

    Requirements:
    - matplotlib

    Example:
    >>> axes = task_func({"Ann": 50, "Bo": 75})
    >>> axes.get_title()
    'Scores (mean 62.5)'
    >>> [int(bar.get_height()) for bar in axes.patches]
    [75, 50]
    """
    if not scores:
        raise ValueError("there are no scores")
    names = sorted(scores, key=lambda name: (-scores[name], name))
    heights = [scores[name] for name in names]
    colours = [PASS_COLOUR if height >= PASS_MARK else FAIL_COLOUR for height in heights]
    _, axes = plt.subplots()
    axes.bar(names, heights, color=colours)
    axes.set_title(f"Scores (mean {sum(heights) / len(heights):.1f})")
    axes.set_xlabel("Student")
    axes.set_ylabel("Points")
    return axes
