"""Distributes an experiment over the machines of a Ray cluster.

    pip install ray
    python3 on_ray.py --parts 16 --report results -- shop --experiment replace

The arguments after `--` are passed to `gramc ab`. Every machine needs gramc and the files of the
experiment at the same paths. A part whose machine fails is repeated on another machine.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import ray

FILES = ["experiment.json", "runs.jsonl"]


@ray.remote(num_cpus=1, max_retries=10)
def part(gramc, arguments, folder, shard):
    """Runs one part. Returns its exit code, its output, and the files of its journal."""
    with tempfile.TemporaryDirectory() as report:
        command = [gramc, "ab", *arguments, "--shard", shard, "--report", report]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        files = [path for name in FILES if (path := pathlib.Path(report) / name).exists()]
        return done.returncode, done.stderr, {path.name: path.read_bytes() for path in files}


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
    kept = pathlib.Path(f"{asked.report}-parts")
    number = {part: at for at, part in enumerate(parts, start=1)}
    worst = 0
    while parts:
        # Parts are stored as they complete, so that a failure does not affect the others.
        (done, *_), parts = ray.wait(parts)
        code, told, files = ray.get(done)
        if code != 0:
            print(f"part {number[done]} ended with {code}: {told}", file=sys.stderr)
            worst = max(worst, code)
        place = kept / f"part-{number[done]}"
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
    whole = [str(place) for place in sorted(kept.iterdir()) if all((place / it).exists() for it in FILES)]
    merged = subprocess.run([asked.gramc, "ab", "merge", *whole, "--report", asked.report])
    sys.exit(max(worst, merged.returncode))


if __name__ == "__main__":
    main()
