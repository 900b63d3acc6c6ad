"""What ratings cost, whether they are where the likelihood is largest, and how wide their intervals are.

Results are simulated: models of normal ability, problems of normal difficulty, a logistic in their difference.  The
process keeps to one core.  Exit status 1 when 100 models on 1,140 problems with 500 rounds take more than 20 seconds,
items of 200 models more than 5, or the slope of a likelihood is not flat.
"""

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from measuring import machine_facts

from benchwright.stats.bradley_terry import strengths
from benchwright.stats.items import items
from benchwright.stats.ratings import Ratings, Ties, rate

PROBLEMS = 1140
LIMIT_RATINGS, LIMIT_ITEMS = 20.0, 5.0


def simulated(models: int, problems: int, rng: np.random.Generator) -> np.ndarray:
    """Who (row) solves what (column)."""
    abilities, difficulties = rng.normal(0, 1.2, models), rng.normal(0.5, 2.0, problems)
    return (rng.random((models, problems)) < 1 / (1 + np.exp(difficulties - abilities[:, None]))).astype(np.float64)


def wins(shares: np.ndarray, ties: Ties) -> np.ndarray:
    """How often each row won against each column, written down once more."""
    won = shares @ (1 - shares).T
    if ties is Ties.HALF:
        won = won + (shares @ shares.T + (1 - shares) @ (1 - shares).T) / 2
    np.fill_diagonal(won, 0)
    return won


def steepest(won: np.ndarray) -> float:
    """Largest slope of the log likelihood at the ratings found, in wins of a model."""
    counts, logs = won + 0.5 / (len(won) - 1), strengths(won)
    np.fill_diagonal(counts, 0)
    chances = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
    return float(np.abs(counts.sum(axis=1) - ((counts + counts.T) * chances).sum(axis=1)).max())


def width(ratings: Ratings) -> float:
    """Median width of the intervals."""
    return float(np.median([row.high - row.low for row in ratings.rows]))


def width_by_matches(won: np.ndarray, rounds: int, rng: np.random.Generator) -> float:
    """The same when single matches are resampled, as the public leaderboard's script does."""
    chances = (won / won.sum()).ravel()
    drawn = rng.multinomial(round(won.sum()), chances, size=rounds).reshape(rounds, *won.shape)
    points = np.array([strengths(one.astype(np.float64)) for one in drawn]) * 400 / math.log(10)
    low, high = np.quantile(points, [0.025, 0.975], axis=0)
    return float(np.median(high - low))


def one_case(models: int, ties: Ties, rounds: int) -> dict[str, Any]:
    """Time, slope and widths of one number of models under one rule."""
    rng = np.random.default_rng(models)
    shares = simulated(models, PROBLEMS, rng)
    names = [f"model {number}" for number in range(models)]
    start = time.perf_counter()
    ratings = rate(names, shares, ties=ties, rounds=rounds, rng=rng)
    seconds = time.perf_counter() - start
    solved = dict(zip(names, shares.sum(axis=1).tolist(), strict=True))
    order = [solved[row.model] for row in ratings.rows]
    won = wins(shares, ties)
    return {
        "models": models,
        "ties": ties.value,
        "rounds": rounds,
        "seconds": seconds,
        "slope": steepest(won),
        "order_is_that_of_solved": order == sorted(order, reverse=True),
        "width": width(ratings),
        "width_by_matches": width_by_matches(won, 200, rng) if ties is Ties.DROP else None,
    }


def time_items(models: int) -> float:
    """Seconds for correlations, rules and the item response fit."""
    shares = simulated(models, PROBLEMS, np.random.default_rng(models))
    start = time.perf_counter()
    items(shares, [str(number) for number in range(PROBLEMS)])
    return time.perf_counter() - start


def main() -> int:
    """Measure, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, nargs="+", default=[10, 100, 200])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) > 1:
        # numpy's threads are there already, and would stay on the other cores: begin anew on a single one.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.execv(sys.executable, [sys.executable, *sys.argv])
    start = time.perf_counter()
    strengths(np.ones((2, 2)))  # imports the library
    importing = time.perf_counter() - start
    cases = [one_case(models, ties, arguments.rounds) for models in arguments.models for ties in Ties]
    report = {
        "machine": machine_facts(),
        "problems": PROBLEMS,
        "import_seconds": importing,
        "cases": cases,
        "items_seconds": {str(models): time_items(models) for models in arguments.models},
    }
    print(f"{PROBLEMS} problems, {arguments.rounds} rounds, one core; importing evalica: {importing:.1f} s")
    print(f"{'models':>6} {'ties':>5} {'s':>7} {'slope':>9} {'order':>6} {'width':>7} {'by matches':>11}")
    for case in cases:
        order = "solved" if case["order_is_that_of_solved"] else "other"
        matches = "" if case["width_by_matches"] is None else f"{case['width_by_matches']:.1f}"
        print(
            f"{case['models']:>6} {case['ties']:>5} {case['seconds']:>7.1f} {case['slope']:>9.0e} {order:>6} "
            f"{case['width']:>7.1f} {matches:>11}"
        )
    for models, seconds in report["items_seconds"].items():
        print(f"items, {models} models: {seconds:.2f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1))
    late = any(case["models"] <= 100 and case["seconds"] > LIMIT_RATINGS for case in cases)
    steep = any(case["slope"] > 1e-3 for case in cases)
    return int(late or steep or max(report["items_seconds"].values()) > LIMIT_ITEMS)


if __name__ == "__main__":
    sys.exit(main())
