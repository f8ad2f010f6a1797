#!/usr/bin/env python3
"""Trains memories with hops on each of bAbI's tasks alone, and prints the test errors as a table.

    tar xf tasks_1-20_v1-2-en.tar.gz
    python3 scripts/babi_table.py en --attend build/attend --out babi --hops 1,2,3 --seeds 5 --jobs 2 [-- --train.epochs 100 …]

For each task and number of hops one network per seed is trained on nine tenths of the questions; the one with the lowest
validation loss on the last tenth is tested (Sukhbaatar et al. 2015 chose one of ten by its training error). What follows
`--` goes to `attend train`. Runs that are in --out already are not repeated.
"""
import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OPTIONS = ["--model.name", "memory", "--model.size", "20", "--held-out", "0.1", "--batch.sentences", "32", "--batch.tokens",
           "100000", "--batch.by-length", "false", "--train.epochs", "100", "--train.rate", "1e-2", "--train.best-by", "loss",
           "--model.linear-start", "600", "--valid-sentences", "100", "--threads", "1", "-q"]


def tasks_in(folder):
    names = {path.name.removesuffix("_train.txt") for path in Path(folder).glob("qa*_train.txt")}
    return sorted(names, key=lambda name: int(re.match(r"qa(\d+)", name)[1]))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return done.stdout


def trained(o, task, hops, seed):
    """The folder, and the validation loss of the weights that were kept."""
    folder = Path(o.out) / f"{task}-{hops}-{seed}"
    if not (folder / "result.json").exists():
        run([o.attend, "train", "answer", "--data", f"{o.folder}/{task}_train.txt", "--out", folder, "--force", *OPTIONS,
             "--model.hops", str(hops), "--train.seed", str(seed), *o.more])
    losses = [entry["valid_loss"] for line in (folder / "log.jsonl").read_text().splitlines()
              if "valid_loss" in (entry := json.loads(line))]
    return folder, min(losses)


def test_error(o, task, folder):
    return json.loads(run([o.attend, "eval", folder, "--data", f"{o.folder}/{task}_test.txt"]))["group_error"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="bAbI's folder `en`")
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--out", default="babi", help="folder for the models")
    parser.add_argument("--hops", default="3")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    own, more = sys.argv[1:], []
    if "--" in own:
        own, more = own[:own.index("--")], own[own.index("--") + 1:]
    o = parser.parse_args(own)
    o.more = more
    tasks, hops = tasks_in(o.folder), o.hops.split(",")
    if not tasks:
        parser.error(f"{o.folder}: expected files qa1_…_train.txt, got none")
    wanted = [(task, hop, seed) for task in tasks for hop in hops for seed in range(1, o.seeds + 1)]
    with ThreadPoolExecutor(o.jobs) as pool:
        found = dict(zip(wanted, pool.map(lambda one: trained(o, *one), wanted)))
    print("| task |" + "".join(f" {hop} |" for hop in hops) + "\n|---|" + "---:|" * len(hops))
    sums = dict.fromkeys(hops, 0.0)
    for task in tasks:
        row = f"| {task} |"
        for hop in hops:
            folder, _ = min((found[task, hop, seed] for seed in range(1, o.seeds + 1)), key=lambda one: one[1])
            error = test_error(o, task, folder)
            sums[hop] += error
            row += f" {error:.1f} |"
        print(row, flush=True)
    print("| mean |" + "".join(f" {sums[hop] / len(tasks):.1f} |" for hop in hops))


if __name__ == "__main__":
    main()
