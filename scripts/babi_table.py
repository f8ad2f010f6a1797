#!/usr/bin/env python3
"""Trains memories with hops on bAbI's tasks, each alone or all together, and prints the test errors as a table.

    tar xf tasks_1-20_v1-2-en.tar.gz
    python3 scripts/babi_table.py en --attend build/attend --out babi --hops 1,2,3 --seeds 3 --jobs 2 [-- --model.size 30 …]
    python3 scripts/babi_table.py en --together recipes/babi-memory.yml …

For each number of hops, and each task unless --together, one network per seed is trained on nine tenths of the questions. Of
these networks the one that answers most of the last tenth is tested, and no other (Sukhbaatar et al. 2015 chose one of ten by
its training error). What follows `--` goes to `attend train`. Runs that are in --out already are not repeated.
"""
import argparse
import json
import math
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BATCH = 32
LINEAR, EPOCHS, FALL = 20, 120, 25  # epochs: without a softmax, of all, and between falls of the rate


def tasks_in(folder):
    names = {path.name.removesuffix("_train.txt") for path in Path(folder).glob("qa*_train.txt")}
    return sorted(names, key=lambda name: int(re.match(r"qa(\d+)", name)[1]))


def held_out(o, task):
    """Files with nine tenths of a task's stories, and with the last tenth: questions about one story are not divided."""
    stories, files = [], []
    for line in Path(o.folder, f"{task}_train.txt").read_text().splitlines(keepends=True):
        if line.startswith("1 "):
            stories.append([])
        stories[-1].append(line)
    asked = [sum("\t" in line for line in story) for story in stories]
    first = next(i for i in range(len(asked)) if sum(asked[:i]) >= 0.9 * sum(asked))
    for part, kept in (("train", stories[:first]), ("valid", stories[first:])):
        files.append(Path(o.out, "data", part, f"{task}_{part}.txt"))
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].write_text("".join(line for story in kept for line in story))
    return files


def options_of(train):
    """As in the authors' program (github.com/facebook/MemNN, config_babi.m), whose rate of 0.005 and largest norm of 40 are of the
    sum over a batch."""
    lines = train.read_text().splitlines()
    steps = math.ceil(sum("\t" in line for line in lines) / BATCH)
    # One place for the mark at the end and one for the age, which is a word to the authors.
    places = max(len(line.split("\t")[0].split()) - 1 for line in lines) + 2
    cells = longest = 0
    for line in lines:
        cells = 0 if line.startswith("1 ") else cells
        cells += "\t" not in line
        longest = max(longest, cells)
    return ["--tokeniser.lowercase", "true", "--model.name", "memory", "--model.size", "20", "--model.positions", str(places),
            "--model.cells", str(min(50, longest)), "--model.filled", "true", "--model.tied-output", "true", "--model.linear-start", str(LINEAR * steps),
            "--batch.sentences", str(BATCH), "--batch.tokens", "100000", "--batch.by-length", "false",
            "--train.epochs", str(EPOCHS), "--train.optimiser", "sgd", "--train.rate", str(0.005 * BATCH), "--train.clip",
            str(40 / BATCH), "--train.schedule", "stairs", "--train.every", str(FALL * steps), "--train.validate-every",
            str(5 * steps), "--train.best-by", "squad_exact"]


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return done.stdout


def trained(o, name, options, hops, seed):
    """The folder, and how good the weights that were kept are: share of the questions held out, and their loss."""
    folder = Path(o.out) / f"{name}-{hops}-{seed}"
    if not (folder / "result.json").exists():
        run([o.attend, "train", *options, "--out", folder, "--force", "--threads", "1", "-q", "--model.hops", hops,
             "--train.seed", seed, *o.more])
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return folder, max((entry["squad_exact"], -entry["valid_loss"]) for entry in log if "valid_loss" in entry)


def runs_of(o):
    """By task: the options of its networks."""
    files = {task: held_out(o, task) for task in tasks_in(o.folder)}
    if not o.together:
        return {task: ["answer", "--data", train, "--valid-data", valid, *options_of(train)]
                for task, (train, valid) in files.items()}
    train, valid = zip(*files.values())
    return {"together": [o.together, "--data", *train, "--valid-data", *valid]}


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
    parser.add_argument("--together", metavar="RECIPE", help="one network for all tasks, with the options of this recipe")
    own, more = sys.argv[1:], []
    if "--" in own:
        own, more = own[:own.index("--")], own[own.index("--") + 1:]
    o = parser.parse_args(own)
    o.more = more
    tasks, hops, seeds = tasks_in(o.folder), o.hops.split(","), range(1, o.seeds + 1)
    if not tasks:
        parser.error(f"{o.folder}: expected files qa1_…_train.txt, got none")
    options = runs_of(o)
    wanted = [(name, hop, seed) for seed in seeds for name in options for hop in hops]
    with ThreadPoolExecutor(o.jobs) as pool:
        found = dict(zip(wanted, pool.map(lambda one: trained(o, one[0], options[one[0]], *one[1:]), wanted)))
    best = {(name, hop): max((found[name, hop, seed] for seed in seeds), key=lambda one: one[1])[0]
            for name in options for hop in hops}
    print("| task |" + "".join(f" {hop} |" for hop in hops) + "\n|---|" + "---:|" * len(hops))
    sums = dict.fromkeys(hops, 0.0)
    for task in tasks:
        row = f"| {task} |"
        for hop in hops:
            error = test_error(o, task, best["together" if o.together else task, hop])
            sums[hop] += error
            row += f" {error:.1f} |"
        print(row, flush=True)
    print("| **mean** |" + "".join(f" {sums[hop] / len(tasks):.1f} |" for hop in hops))


if __name__ == "__main__":
    main()
