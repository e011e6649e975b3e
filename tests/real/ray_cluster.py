"""Runs the driver of examples/spread on two nodes, one of which is killed in the middle.

python3 ray_cluster.py GRAMC FOLDER REPORT ARGUMENTS...
"""

import os
import pathlib
import subprocess
import sys
import time

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"

from ray.cluster_utils import Cluster  # noqa: E402

gramc, folder, report, *arguments = sys.argv[1:]
driver = pathlib.Path(__file__).resolve().parents[2] / "examples/spread/on_ray.py"
small = {"num_cpus": 1, "object_store_memory": 100 * 1024 * 1024, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=small)
try:
    second = cluster.add_node(num_cpus=1, object_store_memory=100 * 1024 * 1024)
    cluster.wait_for_nodes()
    running = subprocess.Popen(
        [sys.executable, driver, "--parts", "6", "--report", report, "--gramc", gramc, "--", *arguments],
        cwd=folder,
        env={**os.environ, "RAY_ADDRESS": cluster.address},
    )

    def parts(node):
        """The gramc processes that a node has started."""
        listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
        lines = [line.split(None, 2) for line in listed.splitlines()[1:]]
        below, before = {node}, 0
        while len(below) > before:
            before = len(below)
            below |= {int(pid) for pid, parent, _ in lines if int(parent) in below}
        return [pid for pid, _, args in lines if int(pid) in below and "--shard" in args]

    raylet = second.all_processes["raylet"][0].process.pid
    until = time.monotonic() + 120
    while not parts(raylet):
        if running.poll() is not None or time.monotonic() > until:
            sys.exit("the second node was given no part")
        time.sleep(0.05)
    cluster.remove_node(second, allow_graceful=False)
    print("killed the second node while it ran a part", file=sys.stderr)
    sys.exit(running.wait(timeout=240))
finally:
    cluster.shutdown()
