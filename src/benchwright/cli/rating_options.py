"""Options of the commands that rate models: ``bw rank`` and ``bw site build``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from benchwright.app.ranking import Imports, Ties

F = TypeVar("F", bound=Callable[..., Any])

_MOST_ROUNDS = 20_000
"""Forty times the default.  The draws of that many take 0.4 GB with 1,140 problems, and more rounds change nothing that
is printed."""


def rating_options(function: F) -> F:
    """``--model-facts --imports --ties --rounds --no-rating``."""
    for option in reversed(
        (
            click.option(
                "--model-facts",
                type=click.Path(path_type=Path),
                default=None,
                help="File of what you know of models: dates, sizes, openness (TOML or JSON).",
            ),
            click.option(
                "--imports",
                type=click.Choice([one.value for one in Imports]),
                default=Imports.WITHOUT.value,
                show_default=True,
                help="Imports in tables of their own, among own runs (flagged), or alone.",
            ),
            click.option(
                "--ties",
                type=click.Choice([one.value for one in Ties]),
                default=Ties.HALF.value,
                show_default=True,
                help="Equal outcomes of two models on a problem: half a win for each, or not counted.",
            ),
            click.option(
                "--rounds",
                type=click.IntRange(1, _MOST_ROUNDS),
                default=500,
                show_default=True,
                help="Rounds of the bootstrap.",
            ),
            click.option("--no-rating", is_flag=True, help="Scores and counts only."),
        )
    ):
        function = option(function)
    return function
