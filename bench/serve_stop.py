#!/usr/bin/env python3
"""Stops a server under clients that keep their connections, again and again, and counts what became of their requests.

    bench/serve_stop.py build/attend my-model --rounds 20 --clients 64

Each client sends one request after the other over one connection, with pauses of its own, until it is told that the connection
ends (`Connection: close`) or that the server stops (503). A bare end, where a request was sent and nothing came back, is what
must not happen. Exits with 1 where it did.
"""
import argparse
import collections
import random
import signal
import socket
import subprocess
import sys
import threading
import time


def request_of(number, text):
    if number % 2:
        return b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    body = b'{"text": "%s"}' % text.encode()
    return (b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body)


def answer_of(client):
    """status and whether it is the last one; None where the connection ended before all of it came."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
    while len(body) < length:
        part = client.recv(65536)
        if not part:
            return None
        body += part
    return int(lines[0].split()[1]), b"connection: close" in lines


def talk(port, seed, text, seen, ready, lock):
    draw = random.Random(seed)
    longest = draw.choice([0, 0.002, 0.02, 0.3, 3])  # a client's own pause
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    number = 0
    while True:
        try:
            client.sendall(request_of(draw.randrange(1 << 30), text))
            answer = answer_of(client)
        except OSError:
            answer = None
        what = "bare end" if answer is None else f"{answer[0]}" + (", told to close" if answer[1] else "")
        with lock:
            seen[what] += 1
        if number == 0:
            ready.release()
        number += 1
        if answer is None or answer[1]:
            return
        time.sleep(draw.random() * longest)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--text", default="i am going home")
    options = parser.parse_args()
    seen, lock, took = collections.Counter(), threading.Lock(), []
    for one in range(options.rounds):
        server = subprocess.Popen([options.program, "serve", options.model, "--port", "0"], stdout=subprocess.PIPE, text=True)
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        ready = threading.Semaphore(0)
        threads = [threading.Thread(target=talk, args=(port, 1000 * one + i, options.text, seen, ready, lock))
                   for i in range(options.clients)]
        for thread in threads:
            thread.start()
        for _ in threads:
            ready.acquire()
        time.sleep(random.Random(one).random() / 5)
        begun = time.monotonic()
        server.send_signal(signal.SIGTERM)
        if server.wait() != 0:
            print("the server ended with", server.returncode)
        took.append(time.monotonic() - begun)
        for thread in threads:
            thread.join()
    print(f"{options.rounds} stops under {options.clients} clients, each at most {max(took):.1f} s")
    for what, count in sorted(seen.items()):
        print(f"{count:8}  {what}")
    return 1 if seen["bare end"] else 0


if __name__ == "__main__":
    sys.exit(main())
