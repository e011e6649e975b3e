"""What SciPy, statsmodels and NumPy say of fixed data, for the unit tests of `gramc_stats`.

Writes crates/gramc-stats/src/referee.json, with the versions that wrote it. What none of
them has is computed here in another way than gramc does: by counting with whole numbers, by trying
everything, or by the published formula. To run it:

    python3 -m venv venv
    venv/bin/pip install scipy==1.17.1 statsmodels==0.15.0 numpy==2.4.6
    venv/bin/python tests/real/statistics/referee.py
"""

import json
import math
import pathlib
import platform
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import scipy
import statsmodels
from scipy import optimize, stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "crates/gramc-stats/src/referee.json"
rng = np.random.default_rng(20)


def rounded(values, digits=6):
    return [float(np.round(value, digits)) + 0.0 for value in values]


# Differences of paired cases: smooth, skewed, with ties and zeros, successes, counts, thirds.
SAMPLES = {
    # Hollander and Wolfe, "Nonparametric Statistical Methods", table 3.1, as in R's ?wilcox.test.
    "depression": [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010],
    "normal-30": rounded(rng.normal(0.3, 1.0, 30)),
    "normal-50": rounded(rng.normal(0.2, 1.0, 50)),
    "normal-51": rounded(rng.normal(0.2, 1.0, 51)),
    "skewed-120": rounded(rng.lognormal(0.0, 1.0, 120) - 1.2),
    "skewed-12": rounded(rng.lognormal(0.0, 1.0, 12) - 0.8),
    "counts-13": [3.0, -1.0, 0.0, 2.0, 2.0, -4.0, 5.0, 1.0, 1.0, 0.0, 6.0, -2.0, 3.0],
    "counts-14": [3.0, -1.0, 0.0, 2.0, 2.0, -4.0, 5.0, 1.0, 1.0, 0.0, 6.0, -2.0, 3.0, 2.0],
    "counts-200": [float(value) for value in rng.poisson(3.0, 200) - rng.poisson(2.7, 200)],
    "success-60": [float(value) for value in rng.choice([-1, 0, 1], 60, p=[0.1, 0.65, 0.25])],
    "thirds-40": [float(value) / 3.0 for value in rng.integers(-2, 4, 40)],
}


def mcnemar():
    pairs = [(0, 1), (1, 1), (0, 6), (2, 10), (10, 2), (7, 1), (50, 80), (499, 560)]
    pairs += [(10_000, 10_300), (100_000, 99_000), (3, 1200)]
    return [[b, c, stats.binomtest(b, b + c, 0.5).pvalue] for b, c in pairs]


def wilson():
    cases = [(0, 10), (10, 10), (1, 7), (81, 263), (15, 148), (50_000, 100_000), (3, 100_000)]
    return [
        [successes, trials, level, *proportion_confint(successes, trials, 1 - level, "wilson")]
        for successes, trials in cases
        for level in (0.5, 0.95, 0.999)
    ]


def passes():
    found = []
    for n, c, k in [(5, 2, 1), (5, 2, 3), (5, 2, 4), (8, 3, 2), (10, 10, 4), (7, 0, 3), (9, 5, 9)]:
        draws = list(combinations([1] * c + [0] * (n - c), k))
        any_of = Fraction(sum(any(draw) for draw in draws), len(draws))
        all_of = Fraction(sum(all(draw) for draw in draws), len(draws))
        found.append([n, c, k, float(any_of), float(all_of)])
    for n, c, k in [(200, 37, 10), (1000, 3, 100), (5000, 2500, 12)]:
        any_of = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
        found.append([n, c, k, float(any_of), float(Fraction(math.comb(c, k), math.comb(n, k)))])
    return found


def quantiles():
    shares = [0.0, 0.025, 0.3, 0.5, 0.75, 0.999, 1.0]
    return [
        [name, share, float(np.quantile(sample, share))]
        for name, sample in SAMPLES.items()
        for share in shares
    ]


class Known:
    """Resampled means that are given, for `scipy.stats.bootstrap`."""

    def __init__(self, means):
        self.bootstrap_distribution = np.asarray(means)


def signed_ranks(n):
    """How many ways each sum of ranks has, in whole numbers."""
    ways = [1]
    for rank in range(1, n + 1):
        ways = [
            (ways[at] if at < len(ways) else 0) + (ways[at - rank] if at >= rank else 0)
            for at in range(len(ways) + rank)
        ]
    return ways


def hodges_lehmann():
    found = []
    for name, sample in SAMPLES.items():
        sample = np.asarray(sample)
        n = len(sample)
        rows, columns = np.triu_indices(n)
        walsh = np.sort((sample[rows] + sample[columns]) / 2)
        for level in (0.8, 0.95):
            tail = (1 - Fraction(str(level))) / 2
            if n <= 100:
                below, first = Fraction(0), 0
                for count in signed_ranks(n):
                    below += Fraction(count, 2**n)
                    if below > tail:
                        break
                    first += 1
            else:
                z = stats.norm.ppf(1 - float(tail))
                deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
                first = math.floor(n * (n + 1) / 4 + 0.5 - z * deviation)
            ends = [walsh[first - 1], walsh[len(walsh) - first]]
            found.append([name, level, float(np.median(walsh)), *map(float, ends)])
    return found


def wilcoxon():
    return [[name, float(stats.wilcoxon(sample).pvalue)] for name, sample in SAMPLES.items()]


def needed_mean():
    found = []
    for effect, alpha, aim in product([0.05, 0.2, 0.5, 1.0, 2.0], [0.05, 0.01], [0.8, 0.95]):
        count = TTestPower().solve_power(effect_size=effect, alpha=alpha, power=aim)
        found.append([effect * 3.0, 3.0, alpha, aim, math.ceil(count)])
    return found


def t():
    found = []
    for name, sample in SAMPLES.items():
        test = stats.ttest_1samp(sample, 0)
        for level in (0.8, 0.95):
            interval = test.confidence_interval(level)
            found.append([name, level, float(interval.low), float(interval.high), float(test.pvalue)])
    return found


def sequential():
    """The mixture of bets by its formula, with roots found by SciPy."""
    shares = 0.9 * 0.7 ** np.arange(12)
    weights = (1 + np.arange(12)) ** -0.5
    weights /= weights.sum()

    def stake(values, mean):
        growth = np.sum(np.log1p(np.outer(shares, values / mean - 1)), axis=1)
        most = growth.max()
        return most + math.log(np.sum(weights * np.exp(growth - most)))

    found = []
    for name in ["success-60", "thirds-40"]:
        sample = np.asarray(SAMPLES[name])
        level, enough = 0.9, math.log(2 / 0.1)
        ends, against = [0.0, 0.0], 0.0
        for side, sign in enumerate((1, -1)):
            values = (1 + sign * sample) / 2
            for seen in range(1, len(sample) + 1):
                part = values[:seen]
                against = max(against, stake(part, 0.5))
                if stake(part, max(ends[side], 1e-6)) >= enough:
                    root = optimize.brentq(
                        lambda mean: stake(part, mean) - enough, max(ends[side], 1e-6), 1.0, xtol=1e-13
                    )
                    ends[side] = max(ends[side], root)
        low, high = 2 * ends[0] - 1, 1 - 2 * ends[1]
        found.append([name, level, low, high, min(1.0, 2 * math.exp(-against))])
    return found


def main():
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "statsmodels": statsmodels.__version__,
    }
    parts = [
        mcnemar, wilson, passes, quantiles, hodges_lehmann, wilcoxon, t, needed_mean, sequential,
    ]
    found = {"written-by": "tests/real/statistics/referee.py", "versions": versions}
    found["samples"] = SAMPLES
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    lines += [f"{json.dumps(part.__name__)}: {json.dumps(part())}" for part in parts]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
