"""What the peers' scripts share: their options, which rows are requested, and the best of several runs."""
import argparse
import re
import sys
import time


def parser_of(text):
    """Options that every script has; a script adds its own."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", metavar="NAME[,NAME…]", help="only these rows")
    parser.add_argument("--match", metavar="REGEX", default="", help="only rows whose name contains a match")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="time for each row (default 1; a few runs in any case)")
    parser.add_argument("--threads", type=int, default=2, help="threads for the peer (default 2)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    return parser


def options_of(parser):
    """Rejects options that are invalid for every row, before anything slow is imported."""
    arguments = parser.parse_args()
    if arguments.threads < 1:
        parser.error("--threads: expected at least 1")
    try:
        re.compile(arguments.match)
    except re.error as error:
        parser.error(f"--match: {error}")
    return arguments


def requested_rows(parser, arguments, rows):
    """The names of the rows to measure; with --list they are printed, and that is all."""
    requested = [name.strip() for name in arguments.rows.split(",")] if arguments.rows else list(rows)
    for name in requested:
        if name not in rows:
            parser.error(f"--rows: no row is called {name!r}; --list prints the names")
    requested = [name for name in requested if re.search(arguments.match, name)]
    if arguments.list:
        print("\n".join(requested))
        sys.exit(0)
    return requested


def torch_with(threads):
    """PyTorch, ready to use; ends the program if it is not installed."""
    try:
        import torch
    except ImportError as error:
        sys.exit(f"PyTorch cannot be imported: {error}")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    return torch


def best(run, seconds, least=3):
    """The fastest run in seconds, out of at least `least` after two to warm up."""
    run()
    run()
    fastest, runs, end = float("inf"), 0, time.perf_counter() + seconds
    while runs < least or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        fastest = min(fastest, time.perf_counter() - start)
        runs += 1
    return fastest
