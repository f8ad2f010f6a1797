#!/usr/bin/env python3
"""CTranslate2 (float32) behind a minimal HTTP server, with a random Transformer of the shape of ctranslate2_decode.py.

    peer/bin/python bench/peers/ctranslate2_serve.py --port 8090 --threads 2 --words-out 32

POST /v1/run {"text": "w5 w17 …"} says {"text": …}: exactly --words-out tokens, greedy (--beam), so that the work is that of any other
server for a network of this shape. Requests that wait are computed together: a thread takes up to --batch of them at a time, which is
what CTranslate2's own asynchronous batching does. Nothing but Python's standard library beside it.
"""
import argparse
import json
import queue
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ctranslate2_decode as network


class Batches:
    """Requests that wait together are translated together."""

    def __init__(self, translator, most, beam, words):
        self.translator, self.most, self.beam, self.words = translator, most, beam, words
        self.waiting = queue.Queue()

    def ask(self, tokens):
        answer = queue.Queue(1)
        self.waiting.put((tokens, answer))
        return answer.get()

    def work(self):
        while True:
            batch = [self.waiting.get()]
            while len(batch) < self.most:
                try:
                    batch.append(self.waiting.get_nowait())
                except queue.Empty:
                    break
            results = self.translator.translate_batch(
                [tokens for tokens, _ in batch], beam_size=self.beam, max_batch_size=self.most,
                min_decoding_length=self.words, max_decoding_length=self.words)
            for (_, answer), result in zip(batch, results):
                answer.put(result.hypotheses[0])


def handler_of(batches):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # the head and the body of an answer in one packet

        def do_POST(self):  # noqa: N802: the library's name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = json.dumps({"text": " ".join(batches.ask(body["text"].split()))}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *args):
            pass

    return Handler


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--threads", type=int, default=2, help="of one translation (intra)")
    parser.add_argument("--workers", type=int, default=1, help="translations at once (inter)")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--words-out", type=int, default=network.WORDS_OUT)
    options = parser.parse_args()
    import ctranslate2
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        network.random_network(ctranslate2, np, np.random.default_rng(0)).save(folder)
        translator = ctranslate2.Translator(folder, device="cpu", compute_type="float32", inter_threads=options.workers,
                                            intra_threads=options.threads)
        batches = Batches(translator, options.batch, options.beam, options.words_out)
        for _ in range(options.workers):
            threading.Thread(target=batches.work, daemon=True).start()
        server = Server(("127.0.0.1", options.port), handler_of(batches))
        print(f"open http://127.0.0.1:{options.port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
