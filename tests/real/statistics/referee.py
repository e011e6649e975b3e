"""What SciPy, statsmodels and NumPy say of fixed data, for the unit tests of `paired_stats`.

Writes crates/paired-stats/src/referee.json, with the versions that wrote it. What none of
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
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "crates/paired-stats/src/referee.json"
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


def newcombe_formula(both, first, second, neither, level):
    """Newcombe 1998, method 10, by its text: square and add, phi corrected where it is positive."""
    n = both + first + second + neither
    low1, high1 = proportion_confint(both + first, n, 1 - level, "wilson")
    low2, high2 = proportion_confint(both + second, n, 1 - level, "wilson")
    p1, p2 = (both + first) / n, (both + second) / n
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    phi = 0.0
    if margins:
        a = both * neither - first * second
        c = a - n / 2 if a > n / 2 else 0 if a >= 0 else a
        phi = c / math.sqrt(margins)
    # His delta is first less second; ours is the other way round.
    delta = math.sqrt((p1 - low1) ** 2 - 2 * phi * (p1 - low1) * (high2 - p2) + (high2 - p2) ** 2)
    epsilon = math.sqrt((p2 - low2) ** 2 - 2 * phi * (p2 - low2) * (high1 - p1) + (high1 - p1) ** 2)
    return [-(p1 - p2 + epsilon), -(p1 - p2 - delta)]


def newcombe():
    tables = [(59, 6, 16, 80), (1, 1, 7, 12), (36, 12, 2, 0), (0, 0, 0, 5), (5, 0, 0, 0)]
    tables += [(0, 3, 9, 0), (400, 31, 52, 217), (20, 0, 0, 20), (3, 2, 1, 90)]
    found = [
        [*table, level, *newcombe_formula(*table, level)] for table in tables for level in (0.8, 0.95)
    ]
    # Where the arms are not correlated, method 10 is the one for independent shares (his method 10
    # of the companion paper), which statsmodels has.
    for both, first, second, neither in [(1, 1, 7, 12), (4, 4, 3, 4), (10, 20, 5, 10)]:
        n = both + first + second + neither
        low, high = confint_proportions_2indep(
            both + second, n, both + first, n, compare="diff", method="newcomb", alpha=0.05
        )
        found.append([both, first, second, neither, 0.95, low, high])
    return found


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


def bca_of_means():
    """The interval from the same resampled means."""
    found = []
    for name in ["normal-30", "skewed-12", "skewed-120", "success-60", "counts-13"]:
        sample = np.asarray(SAMPLES[name])
        means = rng.choice(sample, (300, len(sample))).mean(axis=1)
        for level in (0.6, 0.95):
            interval = stats.bootstrap(
                (sample,), np.mean, n_resamples=0, method="BCa", confidence_level=level,
                bootstrap_result=Known(means),
            ).confidence_interval
            found.append([name, sorted(means), level, interval.low, interval.high])
    return found


def bca_by_chance():
    found = []
    for name in ["normal-30", "skewed-12", "skewed-120", "success-60", "thirds-40", "counts-200"]:
        sample = np.asarray(SAMPLES[name])
        interval = stats.bootstrap(
            (sample,), np.mean, n_resamples=100_000, method="BCa", batch=1000,
            rng=np.random.default_rng(7),
        ).confidence_interval
        found.append([name, interval.low, interval.high])
    return found


def signs():
    """Exact where SciPy tries all signs; by counting with whole numbers where it cannot."""
    found = []
    for name in ["depression", "skewed-12", "counts-13"]:
        sample = np.asarray(SAMPLES[name])
        result = stats.permutation_test(
            (sample,), np.mean, permutation_type="samples", vectorized=True, axis=-1,
            n_resamples=2 ** len(sample), alternative="two-sided",
        )
        found.append([name, result.pvalue])
    for name, unit in [("counts-14", 1), ("counts-200", 1), ("success-60", 1), ("thirds-40", 3)]:
        sizes = [round(value * unit) for value in SAMPLES[name]]
        ways = {0: 1}
        for size in sizes:
            after = {}
            for total, count in ways.items():
                for sign in (-1, 1):
                    after[total + sign * size] = after.get(total + sign * size, 0) + count
            ways = after
        least = abs(sum(sizes))
        reached = sum(count for total, count in ways.items() if abs(total) >= least)
        found.append([name, float(Fraction(reached, 2 ** len(sizes)))])
    return found


def signs_by_waves():
    """Many cases: whole numbers again, with as many digits as it takes."""
    sizes = [(at * 37) % 1201 - 560 for at in range(900)]
    limit = abs(sum(sizes))
    magnitudes = [abs(size) for size in sizes]
    total = sum(magnitudes)
    most = (total - limit) // 2
    # Ways to choose cases with a sum of at most `most`, as the digits of one large number.
    width = len(sizes) + 8
    ways = 1
    mask = (1 << (width * (most + 1))) - 1
    for size in magnitudes:
        ways = (ways + (ways << (width * size))) & mask
    digits = ways.to_bytes((width * (most + 1) + 7) // 8, "little")
    below, digit = 0, (1 << width) - 1
    for at in range(most + 1):
        start = at * width
        piece = int.from_bytes(digits[start // 8 : (start + width) // 8 + 1], "little")
        below += (piece >> (start % 8)) & digit
    return [[float(size) for size in sizes], float(Fraction(2 * below, 2 ** len(sizes)))]


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


def holm():
    lists = [[0.01, 0.04, 0.03, 0.005], [0.5], [0.2, 0.2, 0.9, 0.0], rounded(rng.random(12) ** 3)]
    return [[each, [float(p) for p in multipletests(each, method="holm")[1]]] for each in lists]


def power(cases, difference, discordant, alpha):
    """The power of McNemar's exact test, over all that may come out."""
    number = np.arange(cases + 1)
    weights = stats.binom.pmf(number, cases, discordant)
    chance = (1 + difference / discordant) / 2
    # The largest number of the rarer kind that is refused, or -1.
    most = stats.binom.ppf(alpha / 2, number, 0.5)
    most = np.where(2 * stats.binom.cdf(most, number, 0.5) <= alpha, most, most - 1)
    seen = stats.binom.cdf(most, number, chance) + stats.binom.sf(number - most - 1, number, chance)
    return float(np.sum(weights * np.where(most >= 0, seen, 0.0)))


def needed():
    found = []
    settings = [(0.1, 0.2, 0.05, 0.8), (0.2, 0.5, 0.05, 0.9), (0.3, 0.3, 0.05, 0.8)]
    settings += [(0.5, 1.0, 0.01, 0.8), (0.05, 0.2, 0.05, 0.8), (0.08, 0.1, 0.1, 0.95)]
    for difference, discordant, alpha, aim in settings:
        limit = 1200
        failing = [n for n in range(1, limit) if power(n, difference, discordant, alpha) < aim]
        found.append([difference, discordant, alpha, aim, max(failing) + 1])
    return found


def detectable():
    found = []
    for cases, discordant, alpha, aim in [
        (100, 0.3, 0.05, 0.8), (50, 1.0, 0.05, 0.8), (1000, 0.2, 0.01, 0.9), (30, 0.5, 0.05, 0.5),
    ]:
        root = optimize.brentq(
            lambda it: power(cases, it, discordant, alpha) - aim, 1e-6, discordant, xtol=1e-12
        )
        found.append([cases, discordant, alpha, aim, root])
    return found


def needed_mean():
    found = []
    for effect, alpha, aim in product([0.05, 0.2, 0.5, 1.0, 2.0], [0.05, 0.01], [0.8, 0.95]):
        count = TTestPower().solve_power(effect_size=effect, alpha=alpha, power=aim)
        found.append([effect * 3.0, 3.0, alpha, aim, math.ceil(count)])
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
        mcnemar, wilson, newcombe, passes, quantiles, bca_of_means, bca_by_chance, signs,
        signs_by_waves, hodges_lehmann, wilcoxon, holm, needed, detectable, needed_mean, sequential,
    ]
    found = {"written-by": "tests/real/statistics/referee.py", "versions": versions}
    found["samples"] = SAMPLES
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    lines += [f"{json.dumps(part.__name__)}: {json.dumps(part())}" for part in parts]
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
