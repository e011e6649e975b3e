"""What SciPy takes for the statistics of paired differences, which stand in the file that is given.

Prints a name and milliseconds a line.
"""

import sys
import time

import numpy as np
from scipy import stats

sample = np.loadtxt(sys.argv[1])
WORK = {
    "ttest_1samp": lambda: stats.ttest_1samp(sample, 0).confidence_interval(),
    "wilcoxon": lambda: stats.wilcoxon(sample),
}
for name, work in WORK.items():
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    print(name, sorted(times)[1])
