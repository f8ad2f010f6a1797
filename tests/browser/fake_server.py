"""Stands in for `attend serve` in tests of the page: it answers the API with numbers that are made up, but have the shape of
real ones and are the same each time.

Where the page has to be seen at its limits (500 tokens, an error, an answer that is slow to come) no trained model is
needed, and none that a test could train in seconds would do. `python3 tests/browser/fake_server.py 8000` shows the page.
"""

import functools
import http.server
import json
import math
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = [ROOT / "serve/page", ROOT / "attend/explain/page"]
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}
METHODS = ["attention", "rollout", "saliency", "jacobian", "occlusion"]
BROKEN = "brokenanswer"  # a text with it is answered with what is no JSON
BROKEN_ASKED = []
STRANGE = "zyx"  # words that begin so are none that the vocabulary knows
GERMAN = {"a": "ein", "man": "mann", "in": "in", "blue": "blauem", "shirt": "hemd", "is": "", "standing": "steht",
          "on": "auf", "the": "der", "ladder": "leiter", "cleaning": "putzt", "window": "fenster", "two": "zwei",
          "dogs": "hunde", "run": "rennen", "through": "durch", "snow": "schnee", "and": "und", "young": "junger",
          "girl": "mädchen", "plays": "spielt", "guitar": "gitarre", "unbelievable": "unglaublich", ".": "."}


def model(name, network, layers, heads, **more):
    """A row of GET /v1/models. A network of several layers also looks at itself."""
    sites = ["decoder.memory"] if layers == 1 else ["decoder.memory", "encoder.self", "decoder.self"]
    return {"name": name, "reads": "text", "task": "translate", "network": network, "source_vocabulary": 8000, "target_vocabulary": 8000,
            "longest": 600, "attends": True, "methods": METHODS,
            "sites": [{"site": site, "layer": layer, "heads": heads} for site in sites for layer in range(layers)],
            "search": {"beam": 4, "length_penalty": 0.6}, **more}


MODELS = {row["name"]: row for row in [
    model("recurrent", "recurrent", 1, 1, parameters=4812345, bleu=31.2),
    model("transformer", "transformer", 3, 4, parameters=9120456, bleu=33.4)]}


class Refusal(Exception):
    """What the client asked wrongly, in words."""


def pieces(word):
    """Subwords: long words fall in two."""
    return ["▁" + word] if len(word) < 8 else ["▁" + word[:5], word[5:]]


def side(text):
    words = text.split()
    cut = [pieces(word) for word in words]
    tokens = [piece for parts in cut for piece in parts]
    return {"text": text, "words": words, "tokens": tokens, "word_of": [number for number, parts in enumerate(cut) for _ in parts],
            "unknown": [place for place, piece in enumerate(tokens) if piece.startswith("▁" + STRANGE)]}


def notes(text):
    return ["The vocabulary does not know some words."] if STRANGE in text else []


def translation(text):
    words = [GERMAN.get(word.lower(), word.lower()) for word in text.split()]
    return " ".join(word for word in words if word)


def row(t, rows, columns, sharpness, drift):
    """Where row t looks: a bump around its place on the diagonal, moved by `drift`, that sums to one."""
    centre = (t + 0.3) * columns / max(rows, 1) + drift
    bump = [math.exp(-sharpness * abs(j + 0.5 - centre)) for j in range(columns)]
    total = sum(bump)
    return [float(f"{value / total:.4g}") for value in bump]


@functools.lru_cache(maxsize=64)
def weights(rows, columns, layer, head):
    return [row(t, rows, columns, 0.6 + 0.5 * head + 0.4 * layer, (head % 3 - 1) * (1 + layer)) for t in range(rows)]


def mean(matrices, combine):
    if len(matrices) == 1:
        return matrices[0]
    merge = max if combine == "max" else lambda values: sum(values) / len(values)
    return [[float(f"{merge(cells):.4g}") for cells in zip(*rows)] for rows in zip(*matrices)]


def to_words(matrix, source, target):
    """Added over the tokens of a source word, averaged over those of a target word, as docs/traces.md has it."""
    result = [[0.0] * len(source["words"]) for _ in target["words"]]
    counts = [0] * len(target["words"])
    for t, word in enumerate(target["word_of"]):
        if word < 0:
            continue
        counts[word] += 1
        for j, column in enumerate(source["word_of"]):
            result[word][column] += matrix[t][j]
    return [[float(f"{value / count:.4g}") for value in cells] for cells, count in zip(result, counts)]


def signed(matrix):
    return [[value - 0.12 if (t + j) % 3 else value for j, value in enumerate(cells)] for t, cells in enumerate(matrix)]


def attention_map(model, asked, source, target):
    layers = max(site["layer"] for site in model["sites"]) + 1
    heads = model["sites"][0]["heads"]
    layer, head = asked.get("layer", -1), asked.get("head", -1)
    if layer >= layers or head >= heads:
        raise Refusal(f"explain: layer {layer}, head {head} is wanted; there are {layers} layers of {heads} heads")
    rows, columns = len(target["tokens"]), len(source["tokens"])
    chosen = [weights(rows, columns, l, h) for l in (range(layers) if layer < 0 else [layer])
              for h in (range(heads) if head < 0 else [head])]
    return mean(chosen, asked.get("combine", "mean")), layer, head


def map_of(model, asked, source, target):
    method = asked.get("method", "attention")
    if method not in METHODS:
        raise Refusal(f"explain: no method {method}; there are {', '.join(METHODS)}")
    tokens, layer, head = attention_map(model, asked, source, target)
    if method in ("saliency", "jacobian", "occlusion"):
        tokens = signed(tokens) if method != "saliency" else tokens
    return {"method": method, "label": f"{method}, {asked.get('combine', 'mean')} of what was asked for",
            "site": "decoder.memory" if method == "attention" else "", "layer": layer, "head": head,
            "signed": method in ("jacobian", "occlusion"), "tokens": tokens, "words": to_words(tokens, source, target)}


def site_trace(row, wanted, source, target):
    of = {"encoder.self": ("source", "source"), "decoder.self": ("target", "before"), "decoder.memory": ("target", "source")}
    queries, keys = of[row["site"]]
    size = {"source": len(source["tokens"]), "target": len(target["tokens"]), "before": len(target["tokens"])}
    result = {**row, "queries": queries, "keys": keys, "hard": False}
    if wanted:
        result["weights"] = [weights(size[queries], size[keys], row["layer"], head) for head in range(row["heads"])]
    return result


def search_tree(tokens, beam, forced):
    """The chosen path, and at each step the beams that lost."""
    nodes, parent, total = [], -1, 0.0
    for step, token in enumerate(tokens):
        chance = 0.95 - 0.09 * (step % 5)
        for other in range(beam - 1):
            p = (1 - chance) / 2 ** (other + 1)
            nodes.append({"parent": parent, "id": 1000 + 10 * step + other, "token": f"▁other{other}",
                          "log_probability": math.log(p), "total": total + math.log(p),
                          "fate": "grown" if other == 0 and step % 4 == 1 else "passed"})
            if nodes[-1]["fate"] == "grown":
                p = 0.4
                nodes.append({"parent": len(nodes) - 1, "id": 900 + step, "token": "▁then", "log_probability": math.log(p),
                              "total": nodes[-1]["total"] + math.log(p), "fate": "passed"})
        total += math.log(chance)
        ended = step == len(tokens) - 1
        nodes.append({"parent": parent, "id": forced[step] if step < len(forced) else 10 + step, "token": token,
                      "log_probability": math.log(chance), "total": total, "fate": "ended" if ended else "grown"})
        parent = len(nodes) - 1
    return nodes, parent, total


def answer_to(asked):
    """The words that are said. A forced beginning is heard by what its last token was called."""
    said = translation(asked["text"])
    forced = asked.get("prefix_tokens") or []
    if forced and forced[-1] >= 1000:
        words = said.split()
        words[min(len(forced), len(words)) - 1] = f"other{forced[-1] % 10}"
        said = " ".join(words)
    if asked.get("sample"):
        said = " ".join(reversed(said.split()))
    return said


def explain(asked):
    text = asked["text"].strip()
    model = MODELS[asked["model"]]
    source, given = side(text), asked.get("target")
    target = side(given if given is not None else answer_to(asked))
    target["tokens"].append("</s>")
    target["word_of"].append(-1)
    nodes, last, total = search_tree(target["tokens"], int(asked.get("beam", 1)), asked.get("prefix_tokens") or [])
    each = [node["log_probability"] for node in path(nodes, last)]
    if given is not None and given != translation(text):
        each = [value - 0.5 for value in each]
        total = sum(each)
    target.update(given=given is not None, ended=True, score=total / len(each), log_probability=total, log_probabilities=each)
    trace = {"format": "attend-trace/1",
             "model": {key: model[key] for key in ("name", "task", "network", "parameters")},
             "options": {"beam": str(asked.get("beam", 1))}, "source": source, "target": target,
             "sites": [site_trace(row, asked.get("weights"), source, target) for row in model["sites"]],
             "maps": [map_of(model, asked, source, target)], "evidence": [], "beam": [] if given is not None else nodes,
             "answers": [{"text": target["text"], "score": total / len(each), "log_probability": total, "ended": True,
                          "node": last}], "notes": notes(text)}
    if asked.get("evidence"):
        trace["evidence"] = [
            {"change": "the 2 source words it looked at most are left out", "before": -0.2, "after": -2.1,
             "meaning": "the answer needs the words that were looked at"},
            {"change": "2 other source words are left out", "before": -0.2, "after": -0.31,
             "meaning": "it hardly needs the others"}]
    return trace


def path(nodes, last):
    steps = []
    while last >= 0:
        steps.append(nodes[last])
        last = nodes[last]["parent"]
    return steps[::-1]


def curves():
    steps = range(100, 4001, 100)
    return {"train": [{"step": step, "loss": 1.4 + 5 * math.exp(-step / 900)} for step in steps],
            "valid": [{"step": step, "valid_loss": 1.7 + 4.6 * math.exp(-step / 900), "bleu": 34 * (1 - math.exp(-step / 1200))}
                      for step in steps if step % 500 == 0]}


def gallery():
    rows = [("two dogs run through the snow", "zwei hunde laufen durch den schnee"),
            ("a young girl plays the guitar", "ein junges mädchen spielt gitarre"),
            ("a man is cleaning the window", "ein mann putzt das fenster")]
    return {"sentences": [{"source": source, "reference": reference, "output": translation(source), "chrf": 31.5 + 20 * number}
                          for number, (source, reference) in enumerate(rows)]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        asked = self.path.split("?")[0]
        parts = asked.strip("/").split("/")
        if asked == "/healthz":
            self.json({"status": "ok"})
        elif asked == "/broken":
            self.json(len(BROKEN_ASKED))
        elif asked == "/v1/models":
            self.json({"models": list(MODELS.values())})
        elif parts[:2] == ["v1", "models"] and len(parts) == 4 and parts[2] in MODELS:
            self.json(curves() if parts[3] == "curves" else
                      gallery() if parts[2] == "transformer" else {"sentences": [], "note": "no validation outputs were kept"})
        else:
            self.file("index.html" if asked == "/" else parts[-1])

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if asked.get("model") not in MODELS:
                raise Refusal(f"no model {asked.get('model')}; there are {', '.join(MODELS)}")
            if not 0 < len(asked["text"].split()) <= 600:
                raise Refusal(f"explain: 1 to 600 tokens are wanted, got {len(asked['text'].split())}")
            if 99999 in (asked.get("prefix_tokens") or []):
                raise Refusal("search: ids that the model can say are wanted, below 8000, got 99999")
            if self.path == "/v1/explain" and BROKEN in asked["text"]:
                self.broken()
            elif self.path == "/v1/explain":
                self.json(explain(asked))
            elif self.path == "/v1/run":
                self.stream(asked)
            else:
                self.error(404, "not_found", f"no {self.path}")
        except Refusal as refusal:
            self.error(400, "bad_request", str(refusal))

    def broken(self):
        """An answer that is none: a fault that asking again does not mend."""
        BROKEN_ASKED.append(self.path)
        data = b'{"format": '
        self.head(200, "application/json", [("Content-Length", str(len(data)))])
        self.wfile.write(data)

    def stream(self, asked):
        words = answer_to(asked).split()
        self.head(200, "application/x-ndjson", [("Transfer-Encoding", "chunked")])
        for count in range(1, len(words) + 1):
            self.chunk(json.dumps({"partial": " ".join(words[:count])}))
            time.sleep(0.02 if len(words) < 50 else 0)
        answer = {"text": " ".join(words), "score": -0.1, "log_probability": -1.0, "ended": True}
        self.chunk(json.dumps({"answers": [[answer]], "notes": notes(asked["text"])}))
        self.wfile.write(b"0\r\n\r\n")

    def chunk(self, line):
        data = (line + "\n").encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def file(self, name):
        for folder in PAGE:
            found = folder / name
            if found.suffix in TYPES and found.is_file():
                data = found.read_bytes()
                self.head(200, TYPES[found.suffix], [("Content-Length", str(len(data))),
                                                     ("Content-Security-Policy", "default-src 'self'")])
                self.wfile.write(data)
                return
        self.error(404, "not_found", f"no {name}")

    def json(self, value, status=200):
        data = json.dumps(value).encode()
        self.head(status, "application/json", [("Content-Length", str(len(data)))])
        self.wfile.write(data)

    def error(self, status, code, message):
        self.json({"error": {"code": code, "message": message}}, status)

    def head(self, status, kind, headers):
        self.send_response(status)
        for name, value in [("Content-Type", kind), ("Cache-Control", "no-store"), *headers]:
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer.allow_reuse_address = True
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
