"""A script that measures one training step and its memory, in rows step/NAME and memory/NAME."""
import argparse
import json
import subprocess
import sys
import warnings

from rows import best, options_of, parser_of, requested_rows, torch_with
from torch_models import peak_mebibytes


def tell(**facts):
    print(json.dumps({key: float(f"{x:.6g}") if isinstance(x, float) else x for key, x in facts.items()}), flush=True)


def measure(script, text, name, networks):
    """`networks(torch)(compiled)` is the step to run. Memory is that of a process of its own, after three steps."""
    parser = parser_of(text)
    parser.add_argument("--compiled", action="store_true", help="by torch.compile")
    parser.add_argument("--alone", metavar="NAME", help=argparse.SUPPRESS)  # memory/…: three steps, here
    arguments = options_of(parser)
    rows = ["step/" + name] + ([] if arguments.compiled else ["memory/" + name])
    requested = requested_rows(parser, arguments, rows)
    torch = torch_with(arguments.threads)
    warnings.filterwarnings("ignore")
    trained = networks(torch)
    if arguments.alone:
        step = trained(False)
        for _ in range(3):
            step()
        tell(name=arguments.alone, peak_mb=peak_mebibytes())
        return 0
    tell(torch=torch.__version__, threads=torch.get_num_threads())
    for row in requested:
        if row.startswith("memory/"):
            subprocess.run([sys.executable, script, "--threads", str(arguments.threads), "--alone", row], check=True)
            continue
        tell(name=row, ms=best(trained(arguments.compiled), arguments.seconds, least=6) * 1e3, peak_mb=peak_mebibytes())
    return 0
