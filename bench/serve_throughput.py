#!/usr/bin/env python3
"""How many sentences a second a server answers, and how soon it says the first word, by how many ask at once.

    build/attend serve my-model --port 8080 &
    bench/serve_throughput.py http://127.0.0.1:8080 --file sentences.txt --at-once 1,8,32

Each sentence is a request of its own over a connection that is kept. With --run 'build/attend run my-model', the same file is first
answered by that command, whose answers have to be the same words; its time is without that of an empty file, which only loads the
model. --body adds fields to each request, as {"beam": 1}. --peer: a server that takes {"text": …} and says {"text": …} alone, such as
bench/peers/ctranslate2_serve.py, of which no time to the first word is told.
"""
import argparse
import http.client
import json
import shlex
import subprocess
import sys
import threading
import time
import urllib.parse


class Sentences:
    """Handed out one after the other to those who ask at once."""

    def __init__(self, texts):
        self.texts, self.next, self.lock = texts, 0, threading.Lock()

    def take(self):
        with self.lock:
            if self.next == len(self.texts):
                return None
            self.next += 1
            return self.next - 1


def text_of(answer):
    return answer["text"] if "text" in answer else answer["answers"][0][0]["text"]


def ask_all(address, sentences, body, answers, times):
    url = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
    headers = {"Content-Type": "application/json"}
    while (number := sentences.take()) is not None:
        begun = time.monotonic()
        while True:
            connection.request("POST", "/v1/run", json.dumps(dict(body, text=sentences.texts[number])), headers)
            reply = connection.getresponse()
            content = reply.read()
            if reply.status != 503:
                break
            time.sleep(0.05)
        if reply.status != 200:
            raise SystemExit(f"expected 200, got {reply.status}: {content[:200]}")
        times.append(time.monotonic() - begun)
        answers[number] = text_of(json.loads(content))


def first_words(address, sentences, body, firsts):
    """Seconds to the first part of a stream that says a word."""
    url = urllib.parse.urlsplit(address)
    while (number := sentences.take()) is not None:
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
        begun = time.monotonic()
        connection.request("POST", "/v1/run", json.dumps(dict(body, text=sentences.texts[number], stream=True)),
                           {"Content-Type": "application/json", "Accept": "text/event-stream"})
        reply = connection.getresponse()
        first, whole, event = None, None, ""
        for line in reply:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
                if first is None and (event == "answer" or data.get("partial")):
                    first = time.monotonic() - begun
                if event == "answer":
                    whole = text_of(data)
        if whole is None:
            raise SystemExit("a stream without an answer")
        firsts[number] = (first, whole)
        connection.close()


def at_once(count, work):
    threads = [threading.Thread(target=work) for _ in range(count)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun


def of_command(command, texts):
    """Seconds that the command takes for the texts beyond those that it takes for one, and its answers."""
    taken = []
    for some in (texts[:1], texts):
        begun = time.monotonic()
        said = subprocess.run(shlex.split(command), input="\n".join(some) + "\n", text=True, capture_output=True, check=True)
        taken.append(time.monotonic() - begun)
    return taken[1] - taken[0], said.stdout.split("\n")[:len(texts)]


def middle(values, share=0.5):
    values = sorted(values)
    return 1000 * values[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--file", required=True, help="a sentence a line")
    parser.add_argument("--most", type=int, default=2000, help="sentences of the file that are asked")
    parser.add_argument("--at-once", default="1,8,32")
    parser.add_argument("--body", default="{}", help="further fields of each request, as JSON")
    parser.add_argument("--run", help="the command that answers a file: 'build/attend run my-model'")
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as lines:
        texts = [line.strip() for line in lines if line.strip()][:options.most]
    body, expected, rates, faults = json.loads(options.body), None, {}, 0
    if options.run:
        taken, expected = of_command(options.run, texts)
        rates["run"] = len(texts) / taken
        print(f"{'a file':<12} {rates['run']:8.1f} sentences/s", flush=True)
    for count in map(int, options.at_once.split(",")):
        answers, times = [None] * len(texts), []
        sentences = Sentences(texts)
        taken = at_once(count, lambda: ask_all(options.address, sentences, body, answers, times))
        rates[count] = len(texts) / taken
        line = f"{count:>3} at once  {rates[count]:8.1f} sentences/s, p50 {middle(times):.1f} ms, p99 {middle(times, 0.99):.1f} ms"
        if options.run:
            line += f", {100 * rates[count] / rates['run']:.0f} % of a file"
        if 1 in rates:
            line += f", {rates[count] / rates[1]:.2f} x one at a time"
        if expected is None:
            expected = answers
        differing = sum(a != b for a, b in zip(answers, expected))
        print(line + f", {differing} answers differ", flush=True)
        faults += differing
        if options.peer:
            continue
        firsts, some = {}, Sentences(texts[:min(len(texts), 20 * count)])
        at_once(count, lambda: first_words(options.address, some, body, firsts))
        differing = sum(whole != expected[number] for number, (_, whole) in firsts.items())
        seconds = [first for first, _ in firsts.values()]
        print(f"    to the first word: p50 {middle(seconds):.1f} ms, p99 {middle(seconds, 0.99):.1f} ms; "
              f"{differing} streams differ", flush=True)
        faults += differing
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
