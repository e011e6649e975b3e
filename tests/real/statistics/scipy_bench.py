"""What SciPy takes for the statistics of paired differences, which stand in the file that is given.

Prints a name and milliseconds a line.
"""

import sys
import time

import numpy as np
from scipy import stats

sample = np.loadtxt(sys.argv[1])
WORK = {
    "bootstrap": lambda: stats.bootstrap((sample,), np.mean, n_resamples=10_000, method="BCa", batch=100),
    "permutation_test": lambda: stats.permutation_test(
        (sample,), np.mean, permutation_type="samples", n_resamples=10_000, batch=100
    ),
    "wilcoxon": lambda: stats.wilcoxon(sample),
}
for name, work in WORK.items():
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    print(name, sorted(times)[1])
