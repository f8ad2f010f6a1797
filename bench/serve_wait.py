#!/usr/bin/env python3
"""How long a one-sentence request takes while others ask for as much as they can.

    build/attend serve my-model --port 8080 &
    bench/serve_wait.py http://127.0.0.1:8080 --heavy 2

First on a quiet server, then while `--heavy` clients, each from an address of its own (127.0.1.x) or all from one (`--one-address`),
ask again and again for 256 texts at beam 32, n-best 32 and 2,000 tokens, and, where the server refuses that, for the most that it
allows (`--cost`). Prints the median and the worst of `--requests` and what became of the others.
"""
import argparse
import collections
import http.client
import json
import threading
import time
import urllib.parse


class Asker:
    def __init__(self, address, source=None):
        url = urllib.parse.urlsplit(address)
        self.to = (url.hostname, url.port)
        self.source = (source, 0) if source else None

    def post(self, body, timeout=600):
        """status, seconds"""
        begun = time.monotonic()
        connection = http.client.HTTPConnection(*self.to, timeout=timeout, source_address=self.source)
        try:
            connection.request("POST", "/v1/run", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status, time.monotonic() - begun
        finally:
            connection.close()


def demands(text, cost):
    """The heaviest first: what is refused (400, 413) is replaced by the next. `min_length` keeps answers from ending early."""
    yield {"texts": [text] * 256, "beam": 32, "n_best": 32, "min_length": 2000, "max_length": 2000}
    yield {"texts": [text] * max(1, cost // 64_000), "beam": 32, "n_best": 32, "min_length": 2000, "max_length": 2000}


def press(asker, text, cost, over, seen):
    left = list(demands(text, cost))
    while not over.is_set():
        try:
            status, _ = asker.post(left[0])
        except OSError:
            status = "lost"
        seen[status] += 1
        if status in (400, 413) and len(left) > 1:
            left.pop(0)
        if status == 503:
            time.sleep(0.1)


def measure(asker, text, count, pause):
    times, statuses = [], collections.Counter()
    for _ in range(count):
        status, taken = asker.post({"text": text})
        statuses[status] += 1
        times.append(taken)
        time.sleep(pause)
    times.sort()
    return times[len(times) // 2], times[-1], statuses


def report(name, figures):
    middle, worst, statuses = figures
    said = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items(), key=str))
    print(f"{name:<16} p50 {1000 * middle:.0f} ms, worst {1000 * worst:.0f} ms ({said})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--heavy", type=int, default=2)
    parser.add_argument("--cost", type=int, default=1_000_000, help="the server's own --cost")
    parser.add_argument("--one-address", action="store_true")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two sentences")
    parser.add_argument("--text", default="i am going home")
    options = parser.parse_args()
    asker = Asker(options.address)
    report("quiet", measure(asker, options.text, options.requests, options.pause))
    over, seen = threading.Event(), collections.Counter()
    for i in range(options.heavy):
        source = None if options.one_address else f"127.0.1.{i + 1}"
        threading.Thread(target=press, args=(Asker(options.address, source), options.text, options.cost, over, seen),
                         daemon=True).start()
    time.sleep(2)
    report(f"{options.heavy} heavy", measure(asker, options.text, options.requests, options.pause))
    over.set()
    print("the heavy ones   " + (", ".join(f"{k}: {v}" for k, v in sorted(seen.items(), key=str)) or "none was done"))


if __name__ == "__main__":
    main()
