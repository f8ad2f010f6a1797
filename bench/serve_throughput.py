#!/usr/bin/env python3
"""How many sentences a second a server answers, and how soon it says the first word, by how many ask at once.

    build/attend serve my-model --port 8080 &
    bench/serve_throughput.py http://127.0.0.1:8080 --file sentences.txt --at-once 1,8,32

Each sentence is a request of its own over a connection that is kept. With --run 'build/attend run my-model', the same file is first
answered by that command, whose answers have to be the same words; its time is without that of an empty file, which only loads the
model. --body adds fields to each request, as {"beam": 1}. --peer: a server that takes {"text": …} and says {"text": …} alone, such as
bench/peers/ctranslate2_serve.py, of which no time to the first word is told. Where other programs use the machine, the time that
processors compute for each sentence says more than the clock.
"""
import argparse
import http.client
import json
import os
import resource
import shlex
import subprocess
import sys
import threading
import time
import urllib.parse

from serve_load import process_of


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


def processor_seconds(process):
    """That a process has computed for, where we may see it."""
    if process is None:
        return 0
    with open(f"/proc/{process}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_command(command, texts):
    """Seconds that the command takes for the texts beyond those that it takes for one, of the clock and of processors; its answers."""
    taken = []
    for some in (texts[:1], texts):
        begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run(shlex.split(command), input="\n".join(some) + "\n", text=True, capture_output=True, check=True)
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append((time.monotonic() - begun, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime))
    return taken[1][0] - taken[0][0], taken[1][1] - taken[0][1], said.stdout.split("\n")[:len(texts)]


def middle(values, share=0.5):
    values = sorted(values)
    return 1000 * values[min(len(values) - 1, int(share * len(values)))]


class Measured:
    """The best of several rounds, in which all take turns: what else the machine does then costs each the same."""

    def __init__(self, options, texts, body):
        self.options, self.texts, self.body = options, texts, body
        self.rates, self.waits, self.firsts, self.expected, self.differing = {}, {}, {}, None, 0
        self.processor = {}  # least seconds of processors for all texts
        self.process = process_of(urllib.parse.urlsplit(options.address).port)

    def note(self, what, seconds, processor, answers):
        rate = len(self.texts) / seconds
        self.processor[what] = min(processor, self.processor.get(what, processor))
        better = rate > self.rates.get(what, 0)
        if better:
            self.rates[what] = rate
        self.expected = self.expected or answers
        self.differing += sum(a != b for a, b in zip(answers, self.expected))
        return better

    def round(self, counts):
        if self.options.run:
            self.note("a file", *of_command(self.options.run, self.texts))
        for count in counts:
            answers, times, sentences = [None] * len(self.texts), [], Sentences(self.texts)
            used = processor_seconds(self.process)
            taken = at_once(count, lambda: ask_all(self.options.address, sentences, self.body, answers, times))
            if self.note(count, taken, processor_seconds(self.process) - used, answers):
                self.waits[count] = times
            if not self.options.peer:
                self.stream(count)

    def stream(self, count):
        firsts, some = {}, Sentences(self.texts[:20 * count])
        at_once(count, lambda: first_words(self.options.address, some, self.body, firsts))
        self.differing += sum(whole != self.expected[number] for number, (_, whole) in firsts.items())
        seconds = [first for first, _ in firsts.values()]
        if count not in self.firsts or middle(seconds) < middle(self.firsts[count]):
            self.firsts[count] = seconds

    def each(self, what):
        return 1000 * self.processor[what] / len(self.texts)

    def report(self, counts):
        file, alone = self.rates.get("a file"), self.rates.get(1)
        if file:
            print(f"a file       {file:8.1f} sentences/s, {self.each('a file'):.1f} ms of processors each")
        for count in counts:
            line = f"{count:>3} at once  {self.rates[count]:8.1f} sentences/s, {self.each(count):.1f} ms of processors each"
            line += f", p50 {middle(self.waits[count]):.1f} ms, p99 {middle(self.waits[count], 0.99):.1f} ms"
            if count in self.firsts:
                line += f"; first word p50 {middle(self.firsts[count]):.1f} ms, p99 {middle(self.firsts[count], 0.99):.1f} ms"
            if file:
                line += f"; {100 * self.rates[count] / file:.0f} % of a file"
            if alone:
                line += f"; {self.rates[count] / alone:.2f} x one at a time"
            print(line)
        print(f"answers that differ: {self.differing}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--file", required=True, help="a sentence a line")
    parser.add_argument("--most", type=int, default=2000, help="sentences of the file that are asked")
    parser.add_argument("--at-once", default="1,8,32")
    parser.add_argument("--body", default="{}", help="further fields of each request, as JSON")
    parser.add_argument("--run", help="the command that answers a file: 'build/attend run my-model'")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts")
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as lines:
        texts = [line.strip() for line in lines if line.strip()][:options.most]
    counts = [int(count) for count in options.at_once.split(",")]
    measured = Measured(options, texts, json.loads(options.body))
    for _ in range(options.rounds):
        measured.round(counts)
    measured.report(counts)
    return 1 if measured.differing else 0


if __name__ == "__main__":
    sys.exit(main())
