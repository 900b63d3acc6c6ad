"""Do intervals hold the truth as often as they say?  Simulated benchmarks whose truth is known.

Every benchmark draws its problems from a large population; the truth is the mean over the population, so an interval
has to cover the choice of problems and the chance of every sample.  A section that misses its range in a case that
docs/explanation/statistics.md promises makes the exit status 1; other cases are printed to show where a method ends.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from benchwright.stats.intervals import bootstrap_means, wilson_ends
from benchwright.stats.item_response import fit_item_response
from benchwright.stats.paired import bonett_price, holm, mcnemar_exact, permutation_p_value
from benchwright.stats.ratings import Ties, rate

AT_ONCE = 50
"""Benchmarks that share the resampled counts of a bootstrap, so that as many cost little more than one."""
ROUNDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One line of the table."""

    section: str
    case: str
    percent: float
    """How often what the section counts happened."""
    promised: tuple[float, float] | None
    """Range that the documentation promises; None where the case is shown only."""

    @property
    def broken(self) -> bool:
        """Whether a promise is not kept."""
        return self.promised is not None and not self.promised[0] <= self.percent <= self.promised[1]


def covered(low: np.ndarray, high: np.ndarray, truth: float) -> float:
    """Percentage of intervals that hold the truth."""
    return 100 * float(np.mean((low - 1e-12 <= truth) & (truth <= high + 1e-12)))


def resampled(tables: Iterator[np.ndarray], rng: np.random.Generator, **options: object) -> tuple[np.ndarray, ...]:
    """Ends of the bootstrap intervals of many benchmarks, each a column."""
    ends = [bootstrap_means(table, rounds=ROUNDS, rng=rng, **options) for table in tables]  # type: ignore[arg-type]
    low, high = np.array([interval for block in ends for interval in block]).T
    return low, high


def one_sample(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """Wilson's interval of pass@1, the share of solved problems between 10 and 90 %."""
    for n in (20, 50, 148, 500, 1140):
        truths = rng.uniform(0.1, 0.9, times)
        low, high = wilson_ends(rng.binomial(n, truths), np.full(times, n))
        percent = 100 * float(np.mean((low <= truths) & (truths <= high)))
        yield Found(section="wilson", case=f"n={n}, share 0.1-0.9", percent=percent, promised=(94, 96))
    for n in (148, 500, 1140):
        low, high = wilson_ends(np.arange(n + 1), np.full(n + 1, n))
        shares = np.linspace(0.1, 0.9, 801)
        inside = (low[:, None] <= shares) & (shares <= high[:, None])
        exact = 100 * (stats.binom.pmf(np.arange(n + 1)[:, None], n, shares) * inside).sum(axis=0)
        for name, percent in (("worst", exact.min()), ("mean", exact.mean()), ("best", exact.max())):
            yield Found(section="wilson", case=f"n={n}, exact, {name} share", percent=float(percent), promised=None)


def several_samples(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """The bootstrap over problems, five samples each, problems of very different difficulty."""
    for n in (10, 20, 50, 148, 500, 1140):
        for a, b in ((0.5, 0.5), (0.3, 1.2)):
            tables = (rng.binomial(5, rng.beta(a, b, (n, AT_ONCE))) / 5 for _ in range(times // AT_ONCE))
            low, high = resampled(tables, rng)
            percent = covered(low, high, a / (a + b))
            case = f"n={n}, 5 samples, mean {a / (a + b):.1f}"
            yield Found(section="bootstrap", case=case, percent=percent, promised=(94, 96) if n >= 50 else None)


def two_systems(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """The paired difference with one sample each, by problems and shares on which A or B alone is right."""
    for n in (20, 50, 148, 500, 1140):
        for ahead, behind in ((0.02, 0.02), (0.05, 0.03), (0.10, 0.05), (0.15, 0.15), (0.3, 0.1)):
            counts = rng.multinomial(n, [ahead, behind, 1 - ahead - behind], size=times)
            ends = np.array([bonett_price(int(a), int(b), n) for a, b, _ in counts])
            percent = covered(ends[:, 0], ends[:, 1], ahead - behind)
            enough = n * (ahead + behind) >= 25
            case = f"n={n}, {ahead:.0%} only A, {behind:.0%} only B"
            yield Found(section="paired", case=case, percent=percent, promised=(94, 96 if enough else 100))


def two_systems_several(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """The paired difference with five samples each: resampled problems."""
    for n in (20, 50, 148, 500):

        def gains(n: int = n) -> np.ndarray:
            first = rng.beta(0.8, 1.2, (n, AT_ONCE))
            second = np.clip(first + rng.normal(0, 0.15, first.shape), 0, 1)
            return (rng.binomial(5, first) - rng.binomial(5, second)) / 5

        many = rng.beta(0.8, 1.2, 4_000_000)
        truth = float(np.mean(many - np.clip(many + rng.normal(0, 0.15, many.shape), 0, 1)))
        low, high = resampled((gains() for _ in range(times // AT_ONCE)), rng)
        promised = (94.0, 96.0) if n >= 50 else None
        case = f"n={n}, 5 samples"
        yield Found(section="paired, bootstrap", case=case, percent=covered(low, high, truth), promised=promised)


def clusters(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """Repositories drawn as a whole, when problems of a repository are alike."""
    swebench = [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1]
    truth = 0.5
    for name, sizes, promised in (
        ("12 repositories of 40", [40] * 12, (94.0, 96.5)),
        ("50 repositories of 20", [20] * 50, (94.0, 96.0)),
        ("12 repositories as in SWE-bench Verified", swebench, (94.0, 100.0)),
    ):
        labels = np.repeat(np.arange(len(sizes)), sizes).tolist()

        def table(sizes: list[int] = sizes) -> np.ndarray:
            chances = 1 / (1 + np.exp(-rng.normal(0, 0.7, (len(sizes), AT_ONCE))))
            return (rng.random((sum(sizes), AT_ONCE)) < np.repeat(chances, sizes, axis=0)).astype(np.float64)

        low, high = resampled((table() for _ in range(times // AT_ONCE)), rng, clusters=labels)
        yield Found(section="clusters", case=name, percent=covered(low, high, truth), promised=promised)
        solved = np.concatenate([table().sum(axis=0) for _ in range(times // AT_ONCE)])
        low, high = wilson_ends(solved, np.full(len(solved), sum(sizes)))
        yield Found(section="clusters", case=f"{name}, Wilson", percent=covered(low, high, truth), promised=None)


def tests_under_no_difference(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """How often two equally good systems are called different, and any of ten."""
    for n in (148, 1140):
        counts = rng.multinomial(n, [0.08, 0.08, 0.84], size=times)
        false = [mcnemar_exact(int(a), int(b)) < 0.05 for a, b, _ in counts]
        case = f"McNemar, n={n}, 16 % differ"
        yield Found(section="no difference", case=case, percent=100 * float(np.mean(false)), promised=(0, 5.6))
    families = rng.multinomial(500, [0.08, 0.08, 0.84], size=(times // 10, 10))
    p_values = [[mcnemar_exact(int(a), int(b)) for a, b, _ in family] for family in families]
    plain = 100 * float(np.mean([min(one) < 0.05 for one in p_values]))
    adjusted = 100 * float(np.mean([min(holm(one)) < 0.05 for one in p_values]))
    yield Found(section="no difference", case="any of ten, unadjusted", percent=plain, promised=None)
    yield Found(section="no difference", case="any of ten, Holm", percent=adjusted, promised=(0, 6.5))


def interval_and_test(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """How often interval and test say the same of 'different or not'."""
    for n in (148, 500, 1140):
        counts = rng.multinomial(n, [0.10, 0.06, 0.84], size=times)
        same = 0
        for a, b, _ in counts.tolist():
            low, high = bonett_price(a, b, n)
            same += (not low <= 0 <= high) == (mcnemar_exact(a, b) < 0.05)
        case = f"Bonett-Price and McNemar, n={n}"
        yield Found(section="agreement", case=case, percent=100 * same / times, promised=(95, 100))
    same, few = 0, max(1, times // 50)
    for _ in range(few):
        gains = (rng.binomial(5, 0.45, 148) - rng.binomial(5, 0.4, 148)) / 5
        ((low, high),) = bootstrap_means(gains[:, None], rounds=2000, rng=rng)
        p_value = permutation_p_value(gains, np.zeros(148), rng=rng, rounds=2000)
        same += (not low <= 0 <= high) == (p_value < 0.05)
    case = "bootstrap and permutation, n=148, 5 samples"
    yield Found(section="agreement", case=case, percent=100 * same / few, promised=(95, 100))


def rating_intervals(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """Ratings of ten models on 148 problems; the truth is what two hundred thousand problems give."""
    abilities = np.linspace(-1.5, 1.5, 10)
    names = [str(number) for number in range(10)]

    def results(problems: int) -> np.ndarray:
        logits = abilities[:, None] - rng.normal(0.3, 1.5, problems)
        return (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.float64)

    population = results(200_000)
    few = max(2, times // 25)
    for ties in Ties:
        truth = {row.model: row for row in rate(names, population, ties=ties, rounds=1, rng=rng).rows}
        held, in_range = [], []
        for _ in range(few):
            for row in rate(names, results(148), ties=ties, rounds=500, rng=rng).rows:
                held.append(row.low <= truth[row.model].rating <= row.high)
                in_range.append(row.rank_low <= truth[row.model].rank <= row.rank_high)
        case = f"10 models, 148 problems, ties {ties.value}"
        yield Found(section="ratings", case=case, percent=100 * float(np.mean(held)), promised=(93.5, 96.5))
        yield Found(section="ratings", case=f"{case}, rank", percent=100 * float(np.mean(in_range)), promised=(95, 100))


def item_response(times: int, rng: np.random.Generator) -> Iterator[Found]:
    """How often a model's ability is within 1.96 standard deviations, and how well all parameters follow the truth."""
    for models, problems in ((20, 148), (100, 500), (200, 1140)):
        held, by_difficulty, by_slope = [], [], []
        for _ in range(max(2, times // 500)):
            ability = rng.normal(size=models)
            ability = (ability - ability.mean()) / ability.std()
            slope, difficulty = rng.lognormal(0.1, 0.35, problems), rng.normal(0, 1.2, problems)
            logits = slope * (ability[:, None] - difficulty)
            found = fit_item_response((rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.float64))
            held += list(np.abs(found.ability - ability) < 1.96 * found.uncertainty)
            middle = (np.abs(difficulty) < 1.5) & ~np.isnan(found.difficulty)
            by_difficulty.append(np.corrcoef(found.difficulty[middle], difficulty[middle])[0, 1])
            by_slope.append(np.corrcoef(found.discrimination, slope)[0, 1])
        case = f"{models} models, {problems} problems"
        promised = (90.0, 97.0) if models >= 100 else None
        percents = {
            "ability within 1.96 sd": (100 * float(np.mean(held)), promised),
            "correlation of difficulty x 100": (100 * float(np.mean(by_difficulty)), None),
            "correlation of discrimination x 100": (100 * float(np.mean(by_slope)), None),
        }
        for what, (percent, range_) in percents.items():
            yield Found(section="item response", case=f"{case}: {what}", percent=percent, promised=range_)


SECTIONS: dict[str, Callable[[int, np.random.Generator], Iterator[Found]]] = {
    "wilson": one_sample,
    "bootstrap": several_samples,
    "paired": two_systems,
    "paired-bootstrap": two_systems_several,
    "clusters": clusters,
    "no-difference": tests_under_no_difference,
    "agreement": interval_and_test,
    "ratings": rating_intervals,
    "item-response": item_response,
}


def main() -> int:
    """Simulate, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000, help="benchmarks of each case (some take a fraction)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(SECTIONS), nargs="+", default=list(SECTIONS))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    every: list[Found] = []
    for name in arguments.only:
        for found in SECTIONS[name](arguments.times, np.random.default_rng(arguments.seed)):
            every.append(found)
            promise = "" if found.promised is None else f"promised {found.promised[0]:g} to {found.promised[1]:g}"
            mark = "  BROKEN" if found.broken else ""
            print(f"{found.section:<18} {found.case:<62} {found.percent:>6.1f}  {promise}{mark}", flush=True)
    if arguments.json:
        report = {"times": arguments.times, "seed": arguments.seed, "found": [asdict(one) for one in every]}
        arguments.json.write_text(json.dumps(report, indent=1))
    return int(any(found.broken for found in every))


if __name__ == "__main__":
    sys.exit(main())
