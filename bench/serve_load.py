#!/usr/bin/env python3
"""Loads a server with good, bad and huge requests at once, and reports what became of them.

    build/attend serve my-model --port 8080 &
    bench/serve_load.py http://127.0.0.1:8080 --requests 10000 --at-once 64

Every request has to be answered with a status that it deserves; 503 (come back later) is asked again. Who asks the same gets the
same answer, whoever else asks, and a stream ends with it. Exits with 1 where one was lost, or answered otherwise. The server's memory is read from /proc where it runs on this machine.
"""
import argparse
import collections
import http.client
import json
import os
import random
import re
import socket
import sys
import threading
import time
import urllib.parse


def kinds(text):
    """name, share, method, path, body, statuses that it deserves"""
    run, explain = "/v1/run", "/v1/explain"
    dump = json.dumps
    return [
        ("run", 20, "POST", run, dump({"text": text}), {200}),
        ("run longer", 10, "POST", run, dump({"text": " ".join([text] * 3)}), {200}),
        ("run several", 10, "POST", run, dump({"texts": [text] * 8, "beam": 2}), {200}),
        ("run drawn", 6, "POST", run, dump({"text": text, "sample": True, "seed": 3}), {200}),
        ("stream", 5, "POST", run, dump({"text": text, "stream": True}), {200}),
        ("stream of events", 3, "POST", run, dump({"text": text, "stream": True}), {200}),
        ("explain", 12, "POST", explain, dump({"text": text}), {200}),
        ("models", 5, "GET", "/v1/models", None, {200}),
        ("health", 5, "GET", "/healthz", None, {200}),
        ("no JSON", 5, "POST", run, '{"text": ', {400}),
        ("wrong type", 4, "POST", run, dump({"text": text, "beam": "wide"}), {400}),
        ("unknown field", 3, "POST", run, dump({"text": text, "bem": 1}), {400}),
        ("empty text", 2, "POST", run, dump({"text": ""}), {400}),
        ("no such model", 2, "POST", run, dump({"text": text, "model": "none"}), {404}),
        ("no such path", 2, "GET", "/v9", None, {404}),
        ("wrong method", 2, "GET", run, None, {405}),
        ("long text", 1, "POST", run, dump({"text": "x" * 200_000}), {413}),
        ("huge body", 2, "POST", run, dump({"text": "x" * 8_000_000}), {413}),
        ("cut short", 1, "CUT", run, None, {"cut"}),
    ]


class Load:
    def __init__(self, address, requests, text):
        url = urllib.parse.urlsplit(address)
        self.host, self.port = url.hostname, url.port
        rows = kinds(text)
        draw = random.Random(1)
        self.todo = collections.deque(draw.choices(rows, [row[1] for row in rows], k=requests))
        self.lock = threading.Lock()
        self.counts, self.times, self.faults = collections.Counter(), [], []
        self.again = 0
        self.said = {}  # the answers to each kind of request

    def work(self):
        connection = None
        while True:
            with self.lock:
                if not self.todo:
                    return
                row = self.todo.popleft()
            begun = time.monotonic()
            try:
                if row[2] == "CUT":
                    status, connection = self.cut(), connection
                else:
                    status, connection = self.ask(connection, row)
            except (OSError, http.client.HTTPException) as error:
                status, connection = f"lost: {type(error).__name__}: {error}", None
            taken = time.monotonic() - begun
            with self.lock:
                self.counts[status] += 1
                self.times.append(taken)
                if status not in row[5]:
                    self.faults.append(f"{row[0]}: {status}")

    def ask(self, connection, row):
        """One request until it is answered with something other than 503."""
        name, _, method, path, body, _ = row
        while True:
            if connection is None:
                connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
            headers = {"Content-Type": "application/json"} if body is not None else {}
            if name == "stream of events":
                headers["Accept"] = "text/event-stream"
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                # A connection that was kept open may have been closed meanwhile; a new one may not.
                if getattr(connection, "used", False):
                    connection.close()
                    connection = None
                    continue
                raise
            content = answer.read()
            connection.used = True
            if answer.status == 200 and path == "/v1/run":
                last = content.strip().splitlines()[-1].removeprefix(b"data: ")
                if b'"answers"' not in last:
                    return "answer without an end", None
                with self.lock:  # whoever else is answered, and whether it is streamed
                    if self.said.setdefault("run" if name.startswith("stream") else name, last) != last:
                        return "another answer than before", None
            if answer.status >= 400:
                json.loads(content)["error"]["message"]
            if answer.will_close:
                connection.close()
                connection = None
            if answer.status != 503:
                return answer.status, connection
            with self.lock:
                self.again += 1
            time.sleep(0.05 + random.random() / 10)

    def cut(self):
        """A client that goes away within its request."""
        with socket.create_connection((self.host, self.port), timeout=10) as client:
            client.sendall(b'POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{"text"')
        return "cut"


def process_of(port):
    """The process that listens on the port, if we may see it."""
    target = None
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table.readlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == port:
                target = f"socket:[{fields[9]}]"
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            for descriptor in os.listdir(f"/proc/{name}/fd"):
                if os.readlink(f"/proc/{name}/fd/{descriptor}") == target:
                    return name
        except OSError:
            continue
    return None


def memory(process):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        text = status.read()
    return {name: int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024 for name in ("VmRSS", "VmHWM")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--text", default="i am going home")
    options = parser.parse_args()
    load = Load(options.address, options.requests, options.text)
    process = process_of(load.port)
    before = memory(process) if process else None
    begun = time.monotonic()
    threads = [threading.Thread(target=load.work) for _ in range(options.at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.monotonic() - begun
    times = sorted(load.times)
    lost = sum(count for status, count in load.counts.items() if str(status).startswith("lost"))
    print(f"requests       {options.requests} ({options.at_once} at once) in {taken:.1f} s: {options.requests / taken:.0f}/s")
    print(f"lost           {lost}")
    print("statuses       " + ", ".join(f"{status}: {count}" for status, count in sorted(load.counts.items(), key=str)))
    print(f"told to retry  {load.again} times (503)")
    print(f"time           p50 {1000 * times[len(times) // 2]:.0f} ms, p99 {1000 * times[len(times) * 99 // 100]:.0f} ms")
    if before:
        after = memory(process)
        print(f"memory (MiB)   before {before['VmRSS']:.1f}, after {after['VmRSS']:.1f}, peak {after['VmHWM']:.1f}")
    for fault in load.faults[:20]:
        print("not as expected: ", fault)
    return 1 if load.faults else 0


if __name__ == "__main__":
    sys.exit(main())
