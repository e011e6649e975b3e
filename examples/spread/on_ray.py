"""Spreads one experiment over the machines of a Ray cluster.

    pip install ray
    python3 on_ray.py --parts 16 --report results -- shop --experiment replace

What follows `--` is what `gramc ab` is told. Every machine needs gramc and the files that the
command names, at the same paths. A part that is lost with its machine is done again on another.
"""

import argparse
import pathlib
import subprocess
import tempfile

import ray

FILES = ["experiment.json", "runs.jsonl"]


@ray.remote(num_cpus=1, max_retries=10)
def part(gramc, arguments, folder, shard):
    """Runs one part, and gives the files of its journal."""
    with tempfile.TemporaryDirectory() as report:
        command = [gramc, "ab", *arguments, "--shard", shard, "--report", report]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"part {shard}: {done.stderr}")
        return {name: (pathlib.Path(report) / name).read_bytes() for name in FILES}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", type=int, default=16, help="into how many parts")
    parser.add_argument("--report", required=True, help="the folder for the report")
    parser.add_argument("--gramc", default="gramc", help="the program, on every machine")
    parser.add_argument("arguments", nargs="+", help="what `gramc ab` is told")
    asked = parser.parse_args()
    folder = str(pathlib.Path.cwd())

    ray.init()
    shards = [f"{number}/{asked.parts}" for number in range(1, asked.parts + 1)]
    parts = [part.remote(asked.gramc, asked.arguments, folder, shard) for shard in shards]
    with tempfile.TemporaryDirectory() as kept:
        folders = []
        for number, files in enumerate(ray.get(parts), start=1):
            place = pathlib.Path(kept) / f"part-{number}"
            place.mkdir()
            for name, content in files.items():
                (place / name).write_bytes(content)
            folders.append(str(place))
        subprocess.run([asked.gramc, "ab", "merge", *folders, "--report", asked.report], check=True)


if __name__ == "__main__":
    main()
