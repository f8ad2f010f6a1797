#!/usr/bin/env python3
"""Does to a server what clients and their owners do on a bad day, all at once, and counts what became of the good requests.

    bench/serve_chaos.py build/attend my-model --seconds 300

Beside steady clients, each of which keeps one connection and must get an answer to every request: clients that read a byte now and
then, clients that send one now and then, hundreds of connections that say nothing, clients that vanish in the middle of a request
or of a stream; a model that is replaced and unloaded; SIGHUP again and again; at last SIGTERM, under load. What must not happen: a
request of a steady client without its answer, connections that are still open once their clients are gone, memory that grows from
half-time on by more than --growth, an exit with anything but 0. Exits with 1 where it did.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

KEY = "attend-" + secrets.token_hex(32)
HOST = f"Host: localhost\r\nX-Api-Key: {KEY}\r\n"


def get(path):
    return f"GET {path} HTTP/1.1\r\n{HOST}\r\n".encode()


def send_json(path, body, method="POST"):
    text = json.dumps(body).encode()
    return (f"{method} {path} HTTP/1.1\r\n{HOST}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode()
            + text)


def answer_of(client):
    """Status, headers and body; None where the connection ended before all of it came."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    lengths = [int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")]
    while (len(body) < lengths[0] if lengths else not body.endswith(b"0\r\n\r\n") and b" 204 " not in lines[0]):
        part = client.recv(65536)
        if not part:
            return None
        body += part
    return int(data[9:12]), lines, body


class Chaos:
    def __init__(self, port, text, seed):
        self.port, self.text, self.seed = port, text, seed
        self.over = threading.Event()
        self.stopping = False
        self.counts = collections.Counter()
        self.times = []
        self.lock = threading.Lock()
        self.threads = []

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def run(self, act, many):
        for number in range(many):
            thread = threading.Thread(target=self.repeat, args=(act, random.Random(f"{self.seed} {act.__name__} {number}")))
            thread.start()
            self.threads.append(thread)

    def repeat(self, act, chance):
        while not self.over.is_set():
            try:
                act(chance)
            except OSError:  # it is the server that may not be at fault, and not the rude clients
                self.count(f"{act.__name__}: cut")

    # Those who must get their answers:
    def steady(self, chance):
        with self.connect() as client:
            for number in range(chance.randrange(1, 40)):
                last = self.over.is_set()
                stream = chance.random() < 0.2
                request = chance.choice([get("/healthz"), get("/v1/models"), send_json("/v1/run", {"text": self.text}),
                                         send_json("/v1/run", {"model": "swapped", "text": self.text, "stream": stream}),
                                         send_json("/v1/explain", {"text": self.text, "weights": True})])
                begun = time.monotonic()
                try:
                    client.sendall(request)
                    answer = answer_of(client)
                except OSError:
                    answer = None
                if answer is None:  # who has just connected to a server that closes its door was never let in
                    self.count("too late" if self.stopping and number == 0 else "steady: LOST")
                    return
                status, head, body = answer
                whole = status != 200 or b"x-ndjson" not in b"".join(head) or b'"answers"' in body or b'"error"' in body
                self.count(f"steady: {status}" if whole else "steady: LOST")
                with self.lock:
                    self.times.append(time.monotonic() - begun)
                if b"connection: close" in head or last:
                    return

    # Those who are rude:
    def slow_reader(self, chance):
        with self.connect() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.sendall(b"".join([get("/openapi.yaml")] * 40))
            for _ in range(chance.randrange(20)):
                client.recv(1)
                if self.over.wait(0.5):
                    return
        self.count("slow readers")

    def slow_sender(self, chance):
        with self.connect() as client:
            for byte in send_json("/v1/run", {"text": self.text})[:chance.randrange(150)]:
                client.send(bytes([byte]))
                if self.over.wait(0.3):
                    return
        self.count("slow senders")

    def vanishing(self, chance):
        client = self.connect()
        request = send_json("/v1/run", {"text": self.text, "stream": chance.random() < 0.5, "beam": 16, "n_best": 16})
        client.sendall(request[:chance.choice([len(request), chance.randrange(len(request))])])
        time.sleep(chance.random() * 0.05)
        if chance.random() < 0.5:  # with a reset, as when a machine is switched off
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        client.close()
        self.count("vanished")

    def half_open(self, _):
        with self.connect() as client:
            self.count("said nothing")
            client.settimeout(1)
            while not self.over.is_set():
                try:
                    if not client.recv(100):
                        return
                except TimeoutError:
                    pass

    def call(self, request):
        with self.connect() as client:
            client.sendall(request)
            return answer_of(client)

    def swap(self, chance):
        """The model "swapped" is replaced all the time; another one comes and goes."""
        status = self.call(send_json("/v1/models/swapped", {"folder": chance.choice(["one", "two"])}, "PUT"))[0]
        self.count(f"replaced: {status}")
        self.call(send_json("/v1/models/passing", {"folder": "one"}, "PUT"))
        self.count(f"unloaded: {self.call(f'DELETE /v1/models/passing HTTP/1.1{chr(13)}{chr(10)}{HOST}{chr(13)}{chr(10)}'.encode())[0]}")
        self.over.wait(0.2)

    def number(self, name):
        """From /metrics: among so many clients, the one who watches may have to ask again, too."""
        for attempt in range(20):
            try:
                answer = self.call(get("/metrics"))
            except OSError:
                answer = None
            if answer is not None:
                return float(re.search(rf"^{name} (\S+)$", answer[2].decode(), re.M).group(1))
            self.count("watcher: asked again")
            time.sleep(0.1 * (attempt + 1))
        raise RuntimeError(f"{name}: expected an answer from /metrics, got none in 20 attempts")


def sockets_of(process):
    count = 0
    for one in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            count += "socket" in os.readlink(one)
        except OSError:  # closed meanwhile
            pass
    return count


def serve(attend, model, folder, errors):
    home = folder / "models"
    for name in ("one", "two", "swapped"):
        shutil.copytree(model, home / name)
    keys = folder / "keys"
    keys.touch(0o600)
    keys.write_text(f"chaos {KEY} - admin\n")
    process = subprocess.Popen([attend, "serve", "--models", home, "--keys", keys, "--port", "0", "--read-seconds", "5",
                                "--write-seconds", "5", "--stop-seconds", "60"], stdout=subprocess.PIPE, stderr=errors, text=True)
    line = process.stdout.readline()
    return process, int(line.rsplit(":", 1)[1]), home


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("attend")
    parser.add_argument("model", help="a model that reads text")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--half-open", type=int, default=500)
    parser.add_argument("--steady", type=int, default=12)
    parser.add_argument("--rude", type=int, default=8, help="slow readers, slow senders and vanishing clients, of each so many")
    parser.add_argument("--text", default="a b c d")
    parser.add_argument("--growth", type=float, default=64, help="MiB that memory may grow from half-time to the end")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    args = parser.parse_args()
    print(f"seed           {args.seed}")
    wrong = []
    with tempfile.TemporaryDirectory() as temporary, open(pathlib.Path(temporary) / "errors", "w+") as errors:
        process, port, home = serve(args.attend, args.model, pathlib.Path(temporary), errors)
        chaos = Chaos(port, args.text, args.seed)
        before = sockets_of(process)
        for act, many in ((chaos.half_open, args.half_open), (chaos.steady, args.steady), (chaos.slow_reader, args.rude),
                          (chaos.slow_sender, args.rude), (chaos.vanishing, args.rude), (chaos.swap, 1)):
            chaos.run(act, many)
        memory, end = [], time.monotonic() + args.seconds
        while time.monotonic() < end:
            time.sleep(min(2, args.seconds / 20))
            os.utime(home / "two" / "config.yml")  # so that there is something to load again
            process.send_signal(signal.SIGHUP)
            memory.append(chaos.number("process_resident_memory_bytes") / 2**20)
        half, last = max(memory[:len(memory) // 2 + 1]), max(memory[-max(1, len(memory) // 5):])
        if last - half > args.growth:
            wrong.append("memory grows")
        chaos.over.set()
        for thread in chaos.threads:
            thread.join()
        for _ in range(600):  # a minute, on a machine that has other things to do
            after = sockets_of(process)
            if after <= before:
                break
            time.sleep(0.1)
        else:
            wrong.append(f"{after - before} sockets without a client")
        chaos.over.clear()
        chaos.run(chaos.steady, args.steady)
        time.sleep(1)
        chaos.stopping = True
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        chaos.over.set()
        try:
            code = process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            code = "none: it did not end"
        for thread in chaos.threads:
            thread.join()
        errors.seek(0)
        said = errors.read()
    if code != 0:
        wrong.append(f"exit code {code}")
    lost = chaos.counts["steady: LOST"]
    answered = sum(number for what, number in chaos.counts.items() if re.fullmatch(r"steady: \d+", what))
    if lost or not answered:
        wrong.append(f"{lost} steady requests lost of {answered + lost}")
    faults = [what for what in chaos.counts if what.startswith("steady: 5") and what != "steady: 503"]
    if faults or any("Sanitizer" in line for line in said.splitlines()):
        wrong.append(f"faults: {faults}, see below")
    times = sorted(chaos.times)
    print(f"answered       {answered} steady requests, p50 {1e3 * times[len(times) // 2]:.0f} ms, p99 {1e3 * times[len(times) * 99 // 100]:.0f} ms")
    print(f"lost           {lost}")
    print("counts         " + ", ".join(f"{what}: {number}" for what, number in sorted(chaos.counts.items())))
    print(f"memory (MiB)   {memory[0]:.0f} at first, {half:.0f} until half-time, {last:.0f} in the last fifth")
    print(f"sockets        {before} before, {after} after; exit code {code}")
    if wrong:
        print("WRONG          " + "; ".join(wrong))
        print(said[-4000:], file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
