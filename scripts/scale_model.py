#!/usr/bin/env python3
"""How long a step takes on many machines, by a model of what attend does there (docs/scale.md).

Times are seconds, sizes bytes. A machine computes for `compute` seconds, the last `backward` share of which is the backward pass.
Gradients are final one bucket after the other, evenly from the share `first` of the backward pass to its end. A bucket goes from
all others to its owner; buckets are owned in turn. Each machine sends and receives at `bandwidth`, one message after the other,
each of which arrives `latency` later. The owner adds what has come at `memory` bytes a second. Then everybody learns the norm (two
passes through a tree), and new weights go from each owner through a chain of all others, in segments of 64 KiB.

A step takes as long as the slowest machine: with a standard deviation of `spread` of their times, the expected largest of N is
about spread · √(2 ln N) above the mean.
"""
import argparse
import math
from dataclasses import dataclass, replace

SEGMENT = 64 << 10  # of Open MPI's chains
LARGEST, SMALLEST, FEWEST, OF_EACH = 4 << 20, 64 << 10, 16, 4  # buckets, as in attend/train/exchange.cc


@dataclass(frozen=True)
class Run:
    gradients: float  # bytes: 4 for each weight
    compute: float
    backward: float = 2 / 3
    first: float = 0.1
    bandwidth: float = 1.25e9
    latency: float = 30e-6
    memory: float = 8e9
    spread: float = 0.02


def buckets(gradients, machines):
    """Sizes of the buckets."""
    size = min(max(gradients / max(FEWEST, OF_EACH * machines), SMALLEST), LARGEST)
    count = max(1, math.ceil(gradients / size))
    return [gradients / count] * count


def sent(gradients, machines):
    """Bytes that a machine sends in a step: gradients to their owners, and weights on along the chains."""
    return 2 * gradients * (machines - 1) / machines


def gradients_there(run, machines):
    """When the last owner has all gradients of its buckets."""
    sizes = buckets(run.gradients, machines)
    start = run.compute * (1 - run.backward * (1 - run.first))
    out_free = 0.0
    in_free = [0.0] * machines
    last = run.compute
    for i, size in enumerate(sizes):
        final = start + (run.compute - start) * (i + 1) / len(sizes)
        seconds = size / run.bandwidth
        out_free = max(out_free, final) + seconds * (machines - 1) / machines
        owner = i % machines
        arrived = max(in_free[owner], final) + (machines - 1) * seconds
        in_free[owner] = arrived
        last = max(last, arrived + run.latency, out_free + run.latency)
    return last


def step(run, machines):
    """Seconds of a step, and how many of them are communication that nothing hides."""
    if machines == 1:
        return run.compute, 0.0
    slowest = run.compute * (1 + run.spread * math.sqrt(2 * math.log(machines)))
    run = replace(run, compute=slowest)
    there = gradients_there(run, machines)
    adding = run.gradients / run.memory
    agreeing = 2 * math.ceil(math.log2(machines)) * run.latency
    hop = SEGMENT / run.bandwidth + run.latency
    weights = run.gradients * (machines - 1) / machines / run.bandwidth + (machines - 2) * hop
    whole = there + adding + agreeing + weights
    return whole, whole - slowest


def table(run, machines, bandwidths):
    """Rows of a Markdown table: machines; for each bandwidth the step in ms and the efficiency."""
    lines = ["| machines | " + " | ".join(f"{b:g} Gbit/s: ms a step | efficiency" for b in bandwidths) + " |",
             "|---|" + "---|---|" * len(bandwidths)]
    for n in machines:
        cells = []
        for gbit in bandwidths:
            seconds, _ = step(replace(run, bandwidth=gbit * 1e9 / 8), n)
            cells.append(f"{1000 * seconds:.0f} | {100 * run.compute / seconds:.0f} %")
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=float, required=True, help="of the network, in millions")
    parser.add_argument("--ms", type=float, required=True, help="of a step on one machine")
    parser.add_argument("--machines", type=int, nargs="+", default=[8, 16, 32, 64, 128, 256])
    parser.add_argument("--gbit", type=float, nargs="+", default=[10, 100])
    for name in ("backward", "first", "latency", "memory", "spread"):
        parser.add_argument("--" + name, type=float, default=getattr(Run, name))
    given = parser.parse_args()
    run = Run(4e6 * given.weights, given.ms / 1000, given.backward, given.first, latency=given.latency,
              memory=given.memory, spread=given.spread)
    print("\n".join(table(run, given.machines, given.gbit)))


if __name__ == "__main__":
    main()
