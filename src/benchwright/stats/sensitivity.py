"""What lists of excluded problems do to a score and to an order: each alone, all but one, and all of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """Scores of all models without some problems."""

    name: str
    """What is left out: ``nothing``, a list's name, ``all lists``, or ``all lists but NAME``."""
    kept: int
    """Problems that remain."""
    excluded: int
    """Problems of the benchmark that were left out."""
    values: tuple[float | None, ...]
    """Mean over the remaining problems by model; None for a model without a result on any of them."""
    changes: tuple[float | None, ...]
    """The same less the mean over all problems."""
    ranks: tuple[int | None, ...]
    """1 + models with a higher mean."""
    moved: int
    """Largest change of a rank against leaving out nothing."""
    first: tuple[int, ...]
    """Positions of the models in first place."""


def sensitivity(
    shares: npt.ArrayLike, problems: Sequence[str], lists: Mapping[str, Collection[str]]
) -> list[Exclusion]:
    """Scores under every exclusion list: without any, each alone, all together, and all but one where there are three.

    Args:
        shares: A row per model and a column per problem: share of right samples, nan where there is no result.
        problems: Ids of the problems, in the order of the columns.
        lists: Problems to leave out, by the list's name; ids that are not among the problems are not counted.
    """
    table = np.atleast_2d(np.asarray(shares, dtype=np.float64))
    if table.ndim != 2 or table.shape[1] != len(problems) or table.size == 0:
        raise ValueError(f"expected a column for each of {len(problems)} problems, got shape {table.shape}")
    cases: dict[str, set[str]] = {"nothing": set()}
    cases.update({name: set(ids) for name, ids in lists.items()})
    if len(lists) > 1:
        cases["all lists"] = set().union(*lists.values())
    if len(lists) > 2:
        for name in lists:
            cases[f"all lists but {name}"] = set().union(*(ids for other, ids in lists.items() if other != name))
    base = _means(table)
    return [
        _exclusion(name, table, np.array([one not in out for one in problems]), base) for name, out in cases.items()
    ]


def _exclusion(
    name: str, table: npt.NDArray[np.float64], keep: npt.NDArray[np.bool_], base: npt.NDArray[np.float64]
) -> Exclusion:
    means = _means(table[:, keep])
    ranks, before = _ranks(means), _ranks(base)
    return Exclusion(
        name=name,
        kept=int(keep.sum()),
        excluded=int((~keep).sum()),
        values=tuple(None if np.isnan(value) else float(value) for value in means),
        changes=tuple(None if np.isnan(value) else float(value) for value in means - base),
        ranks=ranks,
        moved=max(
            (abs(now - then) for now, then in zip(ranks, before, strict=True) if now is not None and then is not None),
            default=0,
        ),
        first=tuple(index for index, rank in enumerate(ranks) if rank == 1),
    )


def _means(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    counted = (~np.isnan(table)).sum(axis=1)
    sums = np.nansum(table, axis=1)
    return np.asarray(np.where(counted > 0, sums / np.maximum(counted, 1), np.nan), dtype=np.float64)


def _ranks(means: npt.NDArray[np.float64]) -> tuple[int | None, ...]:
    # Means that differ by rounding only are equal.
    return tuple(None if np.isnan(one) else 1 + int(np.nansum(means > one + 1e-12)) for one in means)
