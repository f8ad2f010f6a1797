#!/usr/bin/env python3
"""Kills trainings at random moments and lets their writes fail; counts models that are lost and runs that differ.

    tests/reliability/kills.py --attend build/attend --faults build/tests/libfaults.so --kills 1000 --seed 7

Every round begins with a run that is new, resumed, trained over an older model (--force), or a comparison of two models. One
call that changes a file is drawn: the program is killed there (before it, or in the middle of a write), or the call fails (EIO,
ENOSPC); or it is killed at a moment of its running time. What has to hold, each time:

  - a folder that had a model has one: `attend run` answers with it. Over an older model, that is the older one, bit by bit,
    or the new one;
  - a program that was not killed says what went wrong, and exits with 1;
  - resumed, or started again, until it ends, the run has the same weights, bit by bit, and the same losses as one that nothing
    happened to, and nothing temporary is left in its folder.

Exits with 1 where one of them did not hold; the round's folder is then kept.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ACTIONS = ["kill", "kill", "torn", "EIO", "ENOSPC", "moment"]
TEMPORARY = (".new", ".whole", ".tmp-")
AGAIN = 3  # at most so many faults in one round, before it may come to its end
KILLED = -9

RECIPE = """\
tsv: "{tsv}"
held_out: 0.2
valid_sentences: 4
tokeniser: {{kind: words}}
batch: {{tokens: 30}}
model: {{name: recurrent, embedding: 6, hidden: 8, dropout: 0.1}}
train: {{steps: 60, rate: 0.02, validate_every: 20, save_minutes: 0, average: 2}}
"""


class Lost(Exception):
    """What has to hold does not."""


def expect(holds, what):
    if not holds:
        raise Lost(what)


def write_corpus(work):
    letters = "abcde"
    pairs = [(letters[i % 5], letters[i // 5 % 5]) for i in range(60)]
    (work / "pairs.tsv").write_text("".join(f"{a} {b}\t{b.upper()} {a.upper()}\n" for a, b in pairs))
    (work / "test.source").write_text("".join(f"{a} {b}\n" for a, b in pairs[:5]))
    (work / "test.target").write_text("".join(f"{b.upper()} {a.upper()}\n" for a, b in pairs[:5]))


def losses(folder):
    """Step and losses of each line of the log; the mean of the last weights may be judged once more."""
    found = []
    for line in (folder / "log.jsonl").read_text().splitlines():
        entry = json.loads(line)
        one = tuple(entry.get(name) for name in ("step", "loss", "valid_loss"))
        if not found or found[-1] != one:
            found.append(one)
    return found


def files_of(folder):
    """Without what a new run has not yet put in the place of an older one."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = [path.relative_to(folder) for path in paths]
    return {str(name): path.read_bytes() for name, path in zip(names, paths) if name.parts[0] != ".new" and str(name) != "lock"}


class Program:
    """`attend`, with or without a fault."""

    def __init__(self, options, work):
        self.attend, self.faults, self.work = os.path.abspath(options.attend), os.path.abspath(options.faults), work
        self.output = ""

    def environment(self, **more):
        plain = {**os.environ, "OMP_NUM_THREADS": "1", "LSAN_OPTIONS": "detect_leaks=0"}
        return {**plain, "LD_PRELOAD": self.faults, "ATTEND_FAULT_FOLDER": str(self.work / "round"), **more}

    def run(self, arguments, seconds=None, **environment):
        """The exit code; with `seconds`, it is killed after that time."""
        process = subprocess.Popen([self.attend, *map(str, arguments)], env=self.environment(**environment), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            self.output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            self.output, _ = process.communicate()
        return process.returncode

    def calls(self, arguments):
        """How many calls a whole run makes that change files, and how long it takes."""
        count, begin = self.work / "count", time.monotonic()
        code = self.run(arguments, ATTEND_FAULT_COUNT=str(count))
        expect(code == 0, f"without any fault, exit code {code}: {self.output}")
        return int(count.read_text()), time.monotonic() - begin

    def answers(self, folder):
        done = subprocess.run([self.attend, "run", folder], input="a b\n", text=True, capture_output=True)
        expect(done.returncode == 0 and done.stdout.count("\n") == 1, f"{folder} cannot be used: {done.stderr}")


class Scene:
    """A kind of round: how its folder begins, what is run there, and which folders have models in the end."""

    name = ""

    def __init__(self, program, work):
        self.program, self.work, self.folder = program, work, work / "round"
        self.recipe = work / "recipe.yml"
        self.prepare()
        self.begin()
        self.count, self.seconds = program.calls(self.arguments())
        self.wanted = {model: self.result(model) for model in self.models()}

    def prepare(self):
        pass

    def begin(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def models(self):
        return [self.folder / "model"]

    def result(self, model):
        return (model / "weights.safetensors").read_bytes(), losses(model)

    def check_left(self):
        """After a fault: what is there can be used."""
        for model in self.models():
            if (model / "config.yml").exists() or (model / ".whole").exists():
                self.program.answers(model)

    def check_end(self):
        for model in self.models():
            weights, log = self.result(model)
            expect(weights == self.wanted[model][0], f"{model}: other weights than a run without faults")
            expect(log == self.wanted[model][1], f"{model}: other losses than a run without faults")
            left = [path for path in model.rglob("*") if any(mark in path.name for mark in TEMPORARY)]
            expect(not left, f"left behind: {left}")


class Fresh(Scene):
    """A run that is begun, and then resumed."""

    name = "train"

    def arguments(self):
        model = self.folder / "model"
        there = (model / "config.yml").exists() or (model / ".whole").exists()
        return ["train", "--resume", "--out", model] if there else ["train", self.recipe, "--out", model]


class Forced(Scene):
    """A run in place of an older model, with other vocabularies and another number of steps."""

    name = "train --force"

    def prepare(self):
        old = self.work / "old"
        code = self.program.run(["train", self.recipe, "--out", old, "--train.steps", 40, "--tokeniser.kind", "characters"])
        expect(code == 0, self.program.output)
        (old / "notes.txt").write_text("mine")
        self.old = files_of(old)

    def begin(self):
        super().begin()
        shutil.copytree(self.work / "old", self.folder / "model")

    def is_old(self):
        model = self.folder / "model"
        return not (model / ".whole").exists() and (model / "config.yml").read_bytes() == self.old["config.yml"]

    def arguments(self):
        model = self.folder / "model"
        return ["train", self.recipe, "--out", model, "--force"] if self.is_old() else ["train", "--resume", "--out", model]

    def check_left(self):
        if self.is_old():
            expect(files_of(self.folder / "model") == self.old, "the older model is not as it was")
        super().check_left()
        expect((self.folder / "model" / "notes.txt").read_text() == "mine", "a file of the user is gone")


class Compared(Scene):
    """Two models and their report."""

    name = "compare"

    def arguments(self):
        test = ["--source", self.work / "test.source", "--target", self.work / "test.target"]
        return ["compare", self.recipe, *test, "--vary", "attention.score=dot,additive", "--out", self.folder / "report"]

    def models(self):
        return sorted(path for path in (self.folder / "report" / "models").glob("*") if path.is_dir())

    def check_end(self):
        super().check_end()
        expect(self.models() == sorted(self.wanted), "other models than without faults")
        expect((self.folder / "report" / "report.html").exists(), "there is no report")


def one_fault(program, scene, draw, tally):
    action = draw.choice(ACTIONS)
    arguments = scene.arguments()
    if action == "moment":
        code = program.run(arguments, seconds=draw.uniform(0, scene.seconds))
    else:
        code = program.run(arguments, ATTEND_FAULT=f"{action}:{draw.randint(1, scene.count)}")
    tally[action, "killed" if code == KILLED else "failed" if code == 1 else "ended"] += 1
    expect(code in (0, 1, KILLED), f"{action}: exit code {code}: {program.output}")
    expect(code != 1 or "cannot" in program.output, f"{action}: it failed and does not say what: {program.output}")
    scene.check_left()
    return code


def one_round(program, scene, draw, tally):
    """The number of faults that hit."""
    scene.begin()
    hits = 0
    for _ in range(draw.randint(1, AGAIN)):
        code = one_fault(program, scene, draw, tally)
        hits += code != 0
    code = program.run(scene.arguments())
    expect(code == 0, f"started again, exit code {code}: {program.output}")
    scene.check_end()
    return hits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--faults", default="build/tests/libfaults.so")
    parser.add_argument("--kills", type=int, default=1000, help="faults that hit, in all")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    print(f"seed {seed}: --seed {seed} draws the same faults (moments aside)", flush=True)
    draw, tally, hits, rounds = random.Random(seed), collections.Counter(), 0, collections.Counter()
    work = pathlib.Path(tempfile.mkdtemp(prefix="attend-kills-"))
    program = Program(options, work)
    write_corpus(work)
    (work / "recipe.yml").write_text(RECIPE.format(tsv=work / "pairs.tsv"))
    begin = time.monotonic()
    scene = None
    try:
        scenes = [kind(program, work) for kind in (Fresh, Forced, Compared)]
        while hits < options.kills:
            scene = draw.choice(scenes)
            hits += one_round(program, scene, draw, tally)
            rounds[scene.name] += 1
            if sum(rounds.values()) % 50 == 0:
                print(f"{hits} faults in {sum(rounds.values())} rounds, {time.monotonic() - begin:.0f} s", flush=True)
    except Lost as problem:
        print(f"lost, round {sum(rounds.values())} ({scene.name if scene else 'before the first'}): {problem}\nkept: {work}")
        return 1
    shutil.rmtree(work)
    told = ", ".join(f"{count} {name}" for name, count in sorted(rounds.items()))
    print(f"{hits} faults in {sum(rounds.values())} rounds ({told}), {time.monotonic() - begin:.0f} s: no model lost, every run "
          "the same to the last bit")
    for (action, end), count in sorted(tally.items()):
        print(f"  {action:7} {end:7} {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
