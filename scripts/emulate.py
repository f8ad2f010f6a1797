#!/usr/bin/env python3
"""Runs kernels, tests, trainings and answers on AVX-512 in an emulator, on a machine that need not have it.

    make emulate                                               # everything
    make emulate EMULATE="--parts gemm,training --minutes 10"  # some of it
    scripts/emulate.py --list                                  # what there is

Takes the release build as it is. Each part boots a small Linux of its own (scripts/emulator.py), runs with the sets of
instructions one after the other, and is reported by suite. docs/emulate.md has the details and the results.
"""
import argparse
import fnmatch
import json
import math
import os
import re
import shlex
import shutil
import signal
import sys
import time
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import emulator

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
WORK = BUILD / "emulate"

SETS = ("avx512", "avx2", "sse4")
# One emulated processor; and one thread here too, so that both sides do the same.
THREADS = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def cap(isa):
    """The environment that makes programs use a set. AVX-512 needs none: it is what they choose by themselves."""
    return {} if isa == "avx512" else {"ATTEND_ISA": isa}


@dataclass
class Row:
    """What became of a suite, or of what stands for one."""
    part: str
    isa: str
    subject: str
    passed: int = 0
    failed: int = 0
    not_reached: int = 0
    left_out: int = 0
    seconds: float = 0
    note: str = ""


@dataclass
class Step:
    """A command that the machine runs, and what came of it."""
    isa: str
    subject: str
    command: str
    lines: list = field(default_factory=list)  # (seconds since the start, text)
    began: float = 0
    ended: float = 0
    code: int | None = None  # None: has not ended


@dataclass
class Outcome:
    """What a test program said of a test."""
    test: str
    began: float
    ended: float
    result: str = "RUN"  # begun; then OK, FAILED or SKIPPED
    text: list = field(default_factory=list)


def outcomes_in(lines):
    """{test: Outcome} of GoogleTest's output, and the lines that belong to none."""
    outcomes, loose, current = {}, [], None
    for when, line in lines:
        found = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+\.[^\s,]+)", line)
        if not found:
            (current.text if current else loose).append(line)
        elif found[1] == "RUN":
            current = outcomes[found[2]] = Outcome(found[2], when, when)
        elif current and current.test == found[2]:  # else it is repeated in the summary
            current.result, current.ended, current = found[1], when, None
    return outcomes, loose


class Tests:
    """Tests of one program, chosen by a GoogleTest filter. `reads`: files of the sources that they need."""

    def __init__(self, name, about, program, chosen="*", reads=(), sets=SETS):
        self.name, self.about, self.chosen, self.sets = name, about, chosen, sets
        self.program = BUILD / "tests" / program
        self.programs = [self.program]
        self.files = [(ROOT / path, ROOT / path) for path in reads]

    def prepare(self):
        self.all, self.selected = self._listed("*"), self._listed(self.chosen)
        if not self.selected:
            raise emulator.EmulatorError(f"{self.name}: {self.program.name} has no tests {self.chosen}")

    def steps(self, sets):
        command = f"{self.program.name} --gtest_color=no --gtest_filter={shlex.quote(self.chosen)}"
        return [Step(isa, self.program.name, command) for isa in sets]

    def judge(self, step):
        """Rows by suite, and the text of what failed."""
        outcomes, loose = outcomes_in(step.lines)
        failures = []
        for outcome in outcomes.values():
            if outcome.result == "RUN" and step.code is not None:
                outcome.result = "FAILED"
                outcome.text.append(f"ended the program, exit code {step.code}")
            if outcome.result == "FAILED":
                failures.append("\n".join([f"{outcome.test} ({step.isa})", *outcome.text[-40:]]))
        if step.code not in (None, 0) and not failures:
            failures.append("\n".join([f"{step.subject} ({step.isa}): exit code {step.code}", *loose[-20:]]))
        return [self._row(step, suite, outcomes) for suite in self.selected], failures

    def _row(self, step, suite, outcomes):
        tests = self.selected[suite]
        came = [outcomes[test] for test in tests if test in outcomes]
        results = [outcome.result for outcome in came]
        passed, failed = results.count("OK"), results.count("FAILED")
        return Row(self.name, step.isa, suite, passed, failed, not_reached=len(tests) - passed - failed,
                   left_out=len(self.all[suite]) - len(tests),
                   seconds=max(o.ended for o in came) - min(o.began for o in came) if came else 0)

    def _listed(self, chosen):
        """{suite: tests} by the program's own account."""
        suites, suite = {}, None
        for line in emulator.run([self.program, "--gtest_list_tests", f"--gtest_filter={chosen}"]).splitlines():
            name = line.split("#")[0].strip()
            if line.startswith("  "):
                suites.setdefault(suite, []).append(f"{suite}.{name}")
            elif name.endswith("."):
                suite = name[:-1]
        return suites


class Comparison:
    """Commands of `attend` whose output is compared with what the same command says here.

    `commands`: {subject: shell command}, in which OUT becomes a folder of its own; `compare`: counts in a row, and says
    what differs; `models`: {name: how it is trained here}, which commands find by that name."""

    def __init__(self, name, about, commands, compare, models=None):
        self.name, self.about, self.commands, self.compare, self.sets = name, about, commands, compare, SETS
        self.programs, self.models, self.files = [BUILD / "attend"], models or {}, []
        self.here = {}

    def prepare(self):
        folder = WORK / "here" / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for model, options in self.models.items():
            (folder / model).symlink_to(trained(model, options))
            self.files.append((folder / model, f"{emulator.GUEST_FOLDER}/{model}"))
        environment = {**os.environ, **THREADS, "PATH": f"{BUILD}:{os.environ['PATH']}"}
        for subject, command in self.commands.items():
            for isa in ("avx2", "sse4"):
                said = emulator.run(["sh", "-c", command.replace("OUT", f"{subject}-{isa}")], cwd=folder,
                                    env={**environment, "ATTEND_ISA": isa})
                self.here[subject, isa] = said.splitlines()

    def steps(self, sets):
        return [Step(isa, subject, command.replace("OUT", f"{subject}-{isa}"))
                for isa in sets for subject, command in self.commands.items()]

    def judge(self, step):
        lines = [text for _, text in step.lines if text]
        row = Row(self.name, step.isa, step.subject)
        if step.code is None:
            row.not_reached = 1
            return [row], []
        row.seconds = step.ended - step.began
        if step.code != 0:
            row.failed = 1
            return [row], ["\n".join([f"{step.subject} ({step.isa}): exit code {step.code}", *lines[-20:]])]
        failures = self.compare(row, self.here[step.subject, "avx2"], self.here[step.subject, "sse4"], lines)
        return [row], [f"{step.subject} ({step.isa}): {failure}" for failure in failures]


def trained(name, options):
    """The folder of a model that was trained here, unless the program has changed since."""
    folder, program = WORK / "models" / name, BUILD / "attend"
    done = folder / "result.json"
    if not done.exists() or done.stat().st_mtime < program.stat().st_mtime:
        say(f"training {name} here")
        emulator.run([program, "train", *options.split(), "--out", folder, "--force"])
    return folder


def entry_of(line):
    """A line of a log; {} if it is damaged."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def losses(lines):
    """{(what, step): value} of a log; what is not a number in it is NaN."""
    return {(what, entry["step"]): math.nan if entry[what] is None else entry[what]
            for entry in map(entry_of, lines) for what in ("loss", "gradient_norm", "valid_loss") if what in entry}


def largest_difference(a, b):
    """Relative, over what both have."""
    return max((abs(a[key] - b[key]) / abs(a[key]) for key in a if key in b), default=math.nan)


# Sets differ in how sums are split over lanes and in whether products are rounded before they are added: some 1e-7 of
# each number, and a little more with every step, as it starts from the weights that the one before has left. How much
# that is, is known from two sets that run here; one more set may be a few times as far away. A wrong kernel is orders
# of magnitude further.
LOSS_FACTOR, LOSS_FLOOR = 10, 1e-6


def compare_losses(row, here, other_here, there):
    """AVX2 here against each set there, with the distance between AVX2 and SSE4 here as a yardstick."""
    wanted, other, got = losses(here), losses(other_here), losses(there)
    allowed = max(LOSS_FLOOR, LOSS_FACTOR * largest_difference(wanted, other))
    failures = []
    for (what, step), value in wanted.items():
        came = got.get((what, step))
        if came is not None and abs(came - value) <= allowed * abs(value):
            row.passed += 1
        else:
            row.failed += 1
            failures.append(f"step {step}: expected {what} {value} (within {allowed:.1e} of it), got {came}")
    row.note = "the same digits" if got == wanted else f"within {largest_difference(wanted, got):.1e} of AVX2 here"
    row.note += f" (SSE4 here: {largest_difference(wanted, other):.1e})"
    return failures


SCORE_TOLERANCE = 1.5e-4  # scores are written with four digits after the point; the last one may round either way
NO_LINE = "no line"


def split_answer(line):
    """(all but the score, score) of "line ||| answer ||| score"; of another line, no score."""
    found = re.fullmatch(r"(.*) \|\|\| (\S+)", line)
    return (found[1], float(found[2])) if found else (line, math.nan)


def compare_answers(row, here, _, there):
    """Line by line: the same words, the same scores but for the last digit."""
    failures, furthest = [], 0.0
    for number, (wanted, got) in enumerate(zip_longest(here, there, fillvalue=NO_LINE), start=1):
        words, score = split_answer(wanted)
        its_words, its_score = split_answer(got)
        if words == its_words and abs(score - its_score) <= SCORE_TOLERANCE:
            row.passed += 1
            furthest = max(furthest, abs(score - its_score))
        else:
            row.failed += 1
            failures.append(f"line {number}: expected {wanted}, got {got}")
    row.note = "the same bytes as AVX2 here" if there == here else f"scores within {furthest:.1e} of AVX2 here"
    return failures


def compare_version(row, _here, _other_here, there):
    """The machine has all sets, and uses the one that it should."""
    wanted = f"instruction set  {row.isa} (here: {', '.join(SETS)})"
    row.passed, row.failed = (1, 0) if wanted in there else (0, 1)
    return [] if row.passed else [f"expected {wanted}, got {there}"]


SHORT = "--train.steps 40 --train.validate-every 20 --batch.tokens 200 --held-out 0.001 --valid-sentences 4"
TRAININGS = {
    "recurrent": f"translate --model.embedding 32 --model.hidden 64 {SHORT}",
    "transformer": f"translate --model.name transformer --model.size 32 --model.hidden 64 {SHORT}",
    "image_classifier": "glimpse --model.name image_classifier --model.encoder.stages 8,16 --train.steps 40 "
                        "--batch.images 8 --held-out 0.001 --scored-images 4",
}
SENTENCES = [
    "the dog is not black", "when will she listen to their song in the garden",
    "i will eat a banana in the kitchen on monday", "did their mother read your old book", "she loves mohan",
    "where are you talking to sita today", "who was eating my apples in the evening", "those are not their big cats",
    "why is gita watching cricket", "the women are working in the garden",
    "your good friend will not read the book at home",
    "were their dogs eating his small apples in the office on monday",
]
MODELS = {
    "recurrent": "translate --train.steps 300",
    "transformer": "translate --model.name transformer --model.size 64 --model.hidden 128 --train.steps 300",
}


def log_of_training(options):
    return f"attend train {options} --out OUT --threads 1 >said 2>&1 || {{ tail said; exit 1; }}; cat OUT/log.jsonl"


def answers_of(model):
    return (f"printf '%s\\n' {shlex.join(SENTENCES)} | attend run {model} --threads 1 --beam 4 --n-best 2 2>said"
            " || { cat said; exit 1; }")


PARTS = [
    Comparison("version", "which set is used, and what ATTEND_ISA does to it", {"attend": "attend --version"},
               compare_version),
    Tests("isa", "that every kernel runs with that set, and that a cap can be lifted", "kernels_tests", "Isa.*"),
    Tests("gemm", "matrix products: every kind at sizes around tiles and blocks, on every set", "kernels_tests",
          "Gemm.*", sets=("avx512",)),
    Tests("kernels", "the other kernels against plain loops, on every set", "kernels_tests", "-Isa.*:Gemm.*",
          sets=("avx512",)),
    Tests("ops", "the op table: values and gradients of every op", "autograd_tests", "Ops/OpTable.*"),
    Tests("convolutions", "convolutions and pooling", "autograd_tests", "Conv2d.*:Pool2d.*"),
    Tests("engine", "attention by tiles, whole sequences, the tape", "autograd_tests",
          "TiledAttention.*:Recurrent.*:Tape.*:EmptyRows.*"),
    Tests("goldens", "numbers of other implementations", "golden_tests", reads=["tests/golden"]),
    Tests("attention", "every score, window and align", "attention_tests"),
    Comparison("training", "losses of short trainings",
               {name: log_of_training(options) for name, options in TRAININGS.items()}, compare_losses),
    Comparison("answers", "what `attend run` says, in n-best lists",
               {name: answers_of(name) for name in MODELS}, compare_answers, MODELS),
]


BOOTS = 3  # of a part, where one hangs


class Run:
    """A part in its emulator."""

    def __init__(self, part, sets, minutes):
        self.part, self.minutes = part, minutes
        self.sets = [isa for isa in part.sets if isa in sets]
        self.steps = part.steps(self.sets)
        self.current, self.begun, self.done = None, False, False
        self.emulator = None
        self.boots_left = BOOTS

    def start(self):
        say(f"{self.part.name}: making its image")
        self.part.prepare()
        machine = emulator.Machine(WORK / self.part.name)
        for program in self.part.programs:
            machine.add_program(program)
        for source, place in self.part.files:
            machine.add(source, place)
        self.emulator = machine.start([(step.command, cap(step.isa)) for step in self.steps], THREADS,
                                      emulator.kernel(WORK / "kernel"))
        say(f"{self.part.name}: booting")

    def proceeds(self):
        """Reads what has come; false when nothing more will."""
        alive = self.emulator.runs()
        if not self.begun and self.emulator.hangs():
            return self._boots_again()
        for line in self.emulator.new_lines():
            mark = re.match(r"@@ (begin|end|done) ?(\d*) ?(\d*)", line)
            if not mark:
                if self.current:
                    self.current.lines.append((self.emulator.seconds(), line))
            elif mark[1] == "begin":
                self.current, self.begun = self.steps[int(mark[2])], True
                self.current.began = self.emulator.seconds()
                say(f"{self.part.name}: {self.current.subject} on {self.current.isa}")
            elif mark[1] == "end":
                self.current.code, self.current.ended, self.current = int(mark[3]), self.emulator.seconds(), None
            else:
                self.done = True
        return alive and not self.done and self.emulator.seconds() < 60 * self.minutes

    def _boots_again(self):
        self.boots_left -= 1
        if self.boots_left == 0:
            return False
        say(f"{self.part.name}: hangs; booting again")
        self.emulator.boot()
        return True

    def end(self):
        """Stops the emulator; rows and failures of all steps."""
        late = self.emulator.seconds() >= 60 * self.minutes
        self.emulator.stop()
        rows, failures = [], []
        for step in self.steps:
            its_rows, its_failures = self.part.judge(step)
            rows += its_rows
            failures += its_failures
        if not self.done and not late:
            failures.append("\n".join([f"{self.part.name}: the machine stopped; its last words:",
                                       *self.emulator.last_words()]))
        say(f"{self.part.name}: {'time is up' if late else 'ended'} after {self.emulator.seconds() / 60:.1f} minutes")
        return rows, failures


def say(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)


def clock(seconds):
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def table(rows):
    """As Markdown, and readable as it is."""
    cells = [("part", "set", "suite", "passed", "failed", "not reached", "left out", "time", "")]
    cells += [(r.part, r.isa, r.subject, str(r.passed), str(r.failed), str(r.not_reached), str(r.left_out),
               clock(r.seconds), r.note) for r in rows]
    total = [sum(getattr(r, name) for r in rows) for name in ("passed", "failed", "not_reached", "left_out")]
    cells.append(("all", "", "", *map(str, total), clock(sum(r.seconds for r in rows)), ""))
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def run_all(parts, sets, minutes, jobs):
    """Rows and failures of all parts. No emulator outlives this."""
    waiting, running, rows, failures = list(parts), [], [], []
    try:
        while waiting or running:
            if waiting and len(running) < jobs:
                running.append(Run(waiting.pop(0), sets, minutes))
                running[-1].start()
            for one in [one for one in running if not one.proceeds()]:
                running.remove(one)
                its_rows, its_failures = one.end()
                rows += its_rows
                failures += its_failures
            time.sleep(0.5)
    finally:
        for one in running:
            if one.emulator:
                one.emulator.stop()
    return rows, failures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="docs/emulate.md has more.")
    parser.add_argument("--list", action="store_true", help="print the parts, and do nothing")
    parser.add_argument("--parts", default="*", metavar="NAMES", help="only these, separated by commas; * and ? match")
    parser.add_argument("--tests", metavar="FILTER", help="only these tests of those parts, as in --gtest_filter")
    parser.add_argument("--isa", default=",".join(SETS), metavar="SETS", help="only these of %(default)s")
    parser.add_argument("--minutes", type=float, default=40,
                        help="most processor time for a part, booting included [%(default)s]")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2, help="emulators at once [%(default)s]")
    chosen = parser.parse_args()
    chosen.isa = chosen.isa.split(",")
    unknown = set(chosen.isa) - set(SETS)
    if unknown:
        parser.error(f"--isa: expected some of {', '.join(SETS)}, got {', '.join(sorted(unknown))}")
    patterns = chosen.parts.split(",")
    chosen.parts = [part for part in PARTS if any(fnmatch.fnmatch(part.name, pattern) for pattern in patterns)]
    unknown = [pattern for pattern in patterns if not fnmatch.filter([part.name for part in PARTS], pattern)]
    if unknown:
        parser.error(f"--parts: expected some of {', '.join(p.name for p in PARTS)}, got {', '.join(unknown)}")
    chosen.parts = [part for part in chosen.parts if set(part.sets) & set(chosen.isa)]
    if chosen.tests:
        chosen.parts = [part for part in chosen.parts if isinstance(part, Tests)]
        for part in chosen.parts:
            part.chosen = chosen.tests
    if not chosen.parts:
        parser.error("nothing to run")
    return chosen


def main():
    chosen = arguments()
    if chosen.list:
        for part in PARTS:
            print(f"{part.name:14}{','.join(part.sets):18}{part.about}")
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda which, _: sys.exit(128 + which))  # by way of `finally`, as for Ctrl-C
    emulator.check_tools()
    for program in sorted({program for part in chosen.parts for program in part.programs}):
        if not program.exists():
            raise emulator.EmulatorError(f"{program} is missing: make emulate builds it")
    began = time.monotonic()
    rows, failures = run_all(chosen.parts, chosen.isa, chosen.minutes, chosen.jobs)
    order = [part.name for part in PARTS]
    rows.sort(key=lambda row: order.index(row.part))
    text = table(rows) + "".join(f"\n\n{failure}" for failure in failures) + "\n"
    (WORK / "report.txt").write_text(text)
    print(f"\n{text}\n{(time.monotonic() - began) / 60:.0f} minutes; also in {WORK / 'report.txt'}")
    return 1 if failures or any(row.failed or row.not_reached for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except emulator.EmulatorError as error:
        sys.exit(f"emulate: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
