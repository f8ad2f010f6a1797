"""Stands in for `attend serve` in tests of the page: it answers the API with numbers that are made up, but have the shape of
real ones and are the same each time.

Where the page has to be seen at its limits (500 tokens, an error, an answer that is slow to come) no trained model is
needed, and none that a test could train in seconds would do. `python3 tests/browser/fake_server.py 8000` shows the page.
"""

import base64
import functools
import http.server
import json
import math
import pathlib
import sys
import time
import wave

import canned
import tones

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = [ROOT / "serve/page", ROOT / "attend/explain/page"]
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}
METHODS = ["attention", "rollout", "saliency", "jacobian", "occlusion"]
BROKEN = "brokenanswer"  # a text with it is answered with what is no JSON
BROKEN_ASKED = []
STRANGE = "zyx"  # words that begin so are none that the vocabulary knows
MEMORY = [("decoder.memory", "target", "source")]
ALL_SITES = [*MEMORY, ("encoder.self", "source", "source"), ("decoder.self", "target", "before")]
POOLING = [("pooling", "target", "source")]
SELF = [("encoder.self", "source", "source")]
POINTER = [("reader.pointer", "target", "source"), ("reader.question", "source", "question")]
HOPS = [("memory.hop", "target", "sentences")]
ASKED = [{"name": "document", "kind": "text"}, {"name": "question", "kind": "text"}]


def model(name, task, network, parameters, score, sites=tuple(MEMORY), layers=1, heads=1, **more):
    """A row of GET /v1/models."""
    attends = any(queries == "target" and keys in ("source", "sentences") for _, queries, keys in sites)
    title, value = score
    return {"name": name, "inputs": [{"name": "text", "kind": "text"}], "reads": "text", "answers": "words", "searches": True,
            "task": task, "network": network, "parameters": parameters, "longest": 100, "attends": attends,
            "methods": METHODS if attends else ["saliency", "jacobian"],
            "sites": [{"site": site, "layer": layer, "heads": heads, "queries": queries, "keys": keys}
                      for site, queries, keys in sites for layer in range(layers)],
            "scores": [{"name": title.lower().rstrip(" %"), "title": title, "value": value}],
            "source_vocabulary": 8000, "target_vocabulary": 8000, "search": {"beam": 4, "length_penalty": 0.6}, **more}


MODELS = {row["name"]: row for row in [
    model("recurrent", "translate", "recurrent", 4812345, ("BLEU", 31.2)),
    model("transformer", "translate", "transformer", 9120456, ("BLEU", 33.4), ALL_SITES, 3, 4),
    model("opinions", "classify", "classifier", 612345, ("Accuracy %", 87.3), POOLING, answers="label", searches=False,
          labels=canned.OPINIONS),
    model("parts-of-speech", "tag", "tagger", 812345, ("Accuracy %", 96.4), SELF, 2, 2, answers="tags", searches=False,
          labels=canned.PARTS),
    model("names", "tag", "tagger", 812345, ("F1 %", 88.1), SELF, 2, 2, answers="tags", searches=False, labels=canned.NAMES),
    model("parser", "parse", "recurrent", 1912345, ("F1 %", 89.2), answers="tree"),
    model("phonemes", "pronounce", "recurrent", 512345, ("PER %", 7.9)),
    model("headlines", "summarise", "recurrent", 2512345, ("ROUGE-1", 44.1), longest=400),
    model("reader", "answer", "reader", 1512345, ("F1 %", 61.2), POINTER, inputs=ASKED, answers="span", searches=False,
          methods=["attention", "saliency"]),
    model("memory", "answer", "memory", 12345, ("Accuracy %", 97.0), HOPS, 3, inputs=ASKED, answers="label", searches=False,
          methods=["attention"], labels=canned.PLACES),
    model("tones", "listen", "listener", 212345, ("WER %", 3.1), inputs=[{"name": "sound", "kind": "sound"}], reads="sound",
          searches=False, methods=["attention"])]}


class Refusal(Exception):
    """What the client asked wrongly, in words."""


def pieces(word):
    """Subwords: long words fall in two."""
    return ["▁" + word] if len(word) < 8 else ["▁" + word[:5], word[5:]]


def side(text, cut=pieces):
    """Words, and the tokens that `cut` makes of each."""
    words = text.split()
    parts = [cut(word) for word in words]
    tokens = [token for tokens in parts for token in tokens]
    return {"text": text, "words": words, "tokens": tokens, "kind": "words",
            "word_of": [number for number, tokens in enumerate(parts) for _ in tokens],
            "unknown": [place for place, token in enumerate(tokens) if token.lstrip("▁").startswith(STRANGE)]}


def whole(word):
    return [word]


def notes(text):
    return ["The vocabulary does not know some words."] if STRANGE in text else []


def placed(text, name=""):
    """A text with the places of its words and sentences, in bytes."""
    at, ranges = 0, []
    for word in text.split():
        at = text.index(word, at)
        begin = len(text[:at].encode())
        ranges.append([begin, begin + len(word.encode())])
        at += len(word)
    return {**side(text, whole), **({"name": name} if name else {}), "word_ranges": ranges, "sentences": canned.sentences(text)}


def peak(size, places):
    """Most of the weight on these places, the first of them most; the rest is even."""
    values = [0.1 / size] * size
    for order, place in enumerate(places):
        values[place] += 0.9 if len(places) == 1 else 0.7 if order == 0 else 0.2 / (len(places) - 1)
    return [float(f"{value:.4g}") for value in values]


def located(source, question):
    """Where the answer of a span reader is: words of the likeliest sentence that the question does not have."""
    texts = [source["text"].encode()[begin:end].decode() for begin, end in source["sentences"]]
    shares = canned.likely(texts, question)
    best = shares.index(max(shares))
    begin, end = source["sentences"][best]
    inside = [place for place, (first, last) in enumerate(source["word_ranges"]) if begin <= first and last <= end]
    return inside[-2:], max(shares)


def asked_trace(model, asked):
    """Of a model that reads a document and a question."""
    source, question = placed(asked["document"], "document"), placed(asked["question"], "question")
    texts = [source["text"].encode()[begin:end].decode() for begin, end in source["sentences"]]
    sites = [{**row, "hard": False} for row in model["sites"]]
    if model["answers"] == "span":
        words, chance = located(source, asked["question"])
        found = [source["word_ranges"][words[0]][0], source["word_ranges"][words[-1]][1] - 1]  # without the full stop
        said = source["text"].encode()[found[0]:found[1]].decode()
        size = len(source["words"])
        weights = [peak(size, [words[0], 0]), peak(size, [words[-1], size - 1])]
        ends = " ".join(source["words"][words[place]] for place in (0, -1))
        target = {**side(ends, whole), "text": said, "kind": "span", "found": found}
        answers = [(said, chance), (source["words"][0], 1 - chance)]
        keys = "source"
    else:
        shares = canned.likely(texts, asked["question"])
        read = texts[shares.index(max(shares))::-1]  # from the likeliest back
        label = next((place for text in read for place in canned.PLACES if place in text), "nowhere")
        answers = [(label, max(shares)), *[(place, (1 - max(shares)) / 3) for place in canned.PLACES if place != label]]
        target = {**side(label, whole), "kind": "label"}
        for site in sites:
            other = peak(len(texts), [site["layer"] % len(texts)])
            site["weights"] = [[[(share + other[place]) / 2 for place, share in enumerate(shares)]]]
        weights = [[sum(site["weights"][0][0][place] for site in sites) / len(sites) for place in range(len(texts))]]
        keys = "sentences"
    log = math.log(answers[0][1])
    target.update(given=False, ended=True, score=log, log_probability=log, log_probabilities=[log] * len(target["tokens"]))
    several = [{"text": text, "score": chance, "log_probability": math.log(max(chance, 1e-6)), "ended": True, "node": -1}
               for text, chance in answers[:asked.get("n_best", 1)]]
    return {"format": "attend-trace/1", "model": {key: model[key] for key in ("name", "task", "network", "parameters")},
            "options": {}, "source": source, "inputs": [question], "target": target, "sites": sites,
            "maps": [{"method": asked["method"], "label": asked["method"], "site": sites[0]["site"], "layer": -1, "head": -1,
                      "signed": False, "queries": "target", "keys": keys, "tokens": weights, "words": weights}],
            "evidence": [], "beam": [], "answers": several, "notes": []}


def summary_trace(trace):
    """What a model that copies adds: places, how far each word was copied, and that it looked there."""
    source, target = {**trace["source"], **placed(trace["source"]["text"])}, trace["target"]
    target["copied"] = [0.02 if token in ("shakes", "</s>") else 0.97 for token in target["tokens"]]
    bare = [word.strip(".,“”") for word in source["words"]]
    rows = [peak(len(bare), [bare.index(token)] if token in bare else [0]) for token in target["tokens"]]
    trace["maps"][0].update(tokens=rows, words=rows[:len(target["words"])])
    return {**trace, "source": source, "target": target}


def labelled(text, given):
    label = given or canned.opinion(text)[0][0]
    if label not in canned.OPINIONS:
        raise Refusal(f"label: expected one of {', '.join(canned.OPINIONS)}, got {label}")
    return {"text": label, "words": [label], "tokens": [label], "word_of": [0], "unknown": [], "kind": "label"}


def tagged(tags_of):
    def answer(text, given):
        tags = given.split() if given else tags_of(text.split())
        if len(tags) != len(text.split()):
            raise Refusal(f"tags: expected one for each of {len(text.split())} words, got {len(tags)}")
        return {**side(" ".join(tags), whole), "kind": "tags"}
    return answer


def parsed(text, given):
    tree = canned.tree_from(given) if given else canned.tree(text.split())
    if tree is None:
        raise Refusal(f"tree: expected a bracketed tree, got {given}")
    return {**side(" ".join(canned.tree_tokens(tree)), whole), "text": canned.printed(tree), "kind": "tree"}


# How each task reads a text, and how it answers: a side of a trace. What is searched for says its end, too.
TASKS = {"translate": (pieces, lambda text, given: side(given or canned.translation(text))),
         "classify": (whole, labelled),
         "tag": (whole, tagged(canned.parts_of_speech)),
         "parse": (whole, parsed),
         "summarise": (whole, lambda text, given: side(given or " ".join(canned.headline(text)), whole)),
         "pronounce": (list, lambda text, given: side(given or canned.phonemes(text), whole))}


def answer_of(model, text, given=None):
    if model["name"] == "names":
        return tagged(canned.names)(text, given)
    return TASKS[model["task"]][1](text, given)


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


def pooled(source):
    """One row: words that say something have most of it."""
    values = [6.0 if word.lower() in canned.SENSE else 1.0 for word in source["tokens"]]
    return [[float(f"{value / sum(values):.4g}") for value in values]]


def attention_map(model, asked, source, target):
    if target["kind"] == "label":
        return pooled(source), asked.get("layer", -1), asked.get("head", -1)
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
    if method not in model["methods"]:
        raise Refusal(f"method: this model has {', '.join(model['methods'])}; got {method}")
    tokens, layer, head = attention_map(model, asked, source, target)
    if method in ("saliency", "jacobian", "occlusion"):
        tokens = signed(tokens) if method != "saliency" else tokens
    return {"method": method, "label": f"{method}, {asked.get('combine', 'mean')} of what was asked for",
            "site": model["sites"][0]["site"] if method == "attention" else "", "layer": layer, "head": head,
            "signed": method in ("jacobian", "occlusion"), "tokens": tokens, "words": to_words(tokens, source, target)}


def site_trace(row, wanted, source, target):
    size = {"source": len(source["tokens"]), "target": len(target["tokens"]), "before": len(target["tokens"])}
    result = {**row, "hard": False}
    if wanted:
        result["weights"] = [weights(size[row["queries"]], size[row["keys"]], row["layer"], head) for head in range(row["heads"])]
    return result


def search_tree(tokens, beam, forced):
    """The chosen path, and at each step the beams that lost."""
    nodes, parent, total = [], -1, 0.0
    begins = "▁" if any(token.startswith("▁") for token in tokens) else ""
    for step, token in enumerate(tokens):
        chance = 0.95 - 0.09 * (step % 5)
        for other in range(beam - 1):
            p = (1 - chance) / 2 ** (other + 1)
            nodes.append({"parent": parent, "id": 1000 + 10 * step + other, "token": f"{begins}other{other}",
                          "log_probability": math.log(p), "total": total + math.log(p),
                          "fate": "grown" if other == 0 and step % 4 == 1 else "passed"})
            if nodes[-1]["fate"] == "grown":
                p = 0.4
                nodes.append({"parent": len(nodes) - 1, "id": 900 + step, "token": f"{begins}then", "log_probability": math.log(p),
                              "total": nodes[-1]["total"] + math.log(p), "fate": "passed"})
        total += math.log(chance)
        ended = step == len(tokens) - 1
        nodes.append({"parent": parent, "id": forced[step] if step < len(forced) else 10 + step, "token": token,
                      "log_probability": math.log(chance), "total": total, "fate": "ended" if ended else "grown"})
        parent = len(nodes) - 1
    return nodes, parent, total


def answer_to(asked):
    """The words that are said. A forced beginning is heard by what its last token was called."""
    said = canned.translation(asked["text"])
    forced = asked.get("prefix_tokens") or []
    if forced and forced[-1] >= 1000:
        words = said.split()
        words[min(len(forced), len(words)) - 1] = f"other{forced[-1] % 10}"
        said = " ".join(words)
    if asked.get("sample"):
        said = " ".join(reversed(said.split()))
    return said


def own_answer(model, asked):
    return side(answer_to(asked)) if model["task"] == "translate" else answer_of(model, asked["text"])


def several(model, asked):
    """Labels are ranked, the rest is one answer."""
    ranked = canned.opinion(asked["text"])[:asked.get("n_best", 1)]
    return [{"text": text, "score": chance, "log_probability": math.log(chance), "ended": True, "node": -1}
            for text, chance in ranked]


def heard(model, asked):
    try:
        return tones.trace(model, asked)
    except (ValueError, EOFError, wave.Error) as error:
        raise Refusal(f"sound: {error}") from error


def explain(asked):
    model = MODELS[asked["model"]]
    if model["reads"] == "sound":
        return heard(model, asked)
    if len(model["inputs"]) > 1:
        return asked_trace(model, asked)
    text = asked["text"].strip()
    cut, _ = TASKS[model["task"]]
    source, given = side(text, cut), asked.get("target")
    own = own_answer(model, asked)
    target = answer_of(model, text, given) if given is not None else own
    if model["searches"]:
        target["tokens"].append("</s>")
        target["word_of"].append(-1)
    beam = int(asked.get("beam", 1)) if model["searches"] else 1
    nodes, last, total = search_tree(target["tokens"], beam, asked.get("prefix_tokens") or [])
    each = [node["log_probability"] for node in path(nodes, last)]
    if given is not None and given != own["text"]:
        each = [value - 0.5 for value in each]
        total = sum(each)
    target.update(given=given is not None, ended=True, score=total / len(each), log_probability=total, log_probabilities=each)
    answer = {"text": target["text"], "score": total / len(each), "log_probability": total, "ended": True, "node": last}
    trace = {"format": "attend-trace/1",
             "model": {key: model[key] for key in ("name", "task", "network", "parameters")},
             "options": {"beam": str(beam)}, "source": source, "target": target,
             "sites": [site_trace(row, asked.get("weights"), source, target) for row in model["sites"]],
             "maps": [map_of(model, asked, source, target)], "evidence": [], "beam": [] if given is not None else nodes,
             "answers": several(model, asked) if model["answers"] == "label" else [answer], "notes": notes(text)}
    if asked.get("evidence"):
        trace["evidence"] = [
            {"change": "the 2 source words it looked at most are left out", "before": -0.2, "after": -2.1,
             "meaning": "the answer needs the words that were looked at"},
            {"change": "2 other source words are left out", "before": -0.2, "after": -0.31,
             "meaning": "it hardly needs the others"}]
    return summary_trace(trace) if model["task"] == "summarise" else trace


def path(nodes, last):
    steps = []
    while last >= 0:
        steps.append(nodes[last])
        last = nodes[last]["parent"]
    return steps[::-1]


def curves(model):
    steps = range(100, 4001, 100)
    best = model["scores"][0]
    return {"train": [{"step": step, "loss": 1.4 + 5 * math.exp(-step / 900)} for step in steps],
            "valid": [{"step": step, "valid_loss": 1.7 + 4.6 * math.exp(-step / 900),
                       best["name"]: best["value"] * (1 - math.exp(-step / 1200))} for step in steps if step % 500 == 0]}


def gallery(model):
    if model["reads"] == "sound":
        return {"sounds": [{"name": f"{text.replace(' ', '-')}.wav", "sound": base64.b64encode(tones.wav(text)).decode(),
                            "reference": text, "output": text} for text in canned.DICTATED]}
    if model["name"] in canned.QUESTIONS:
        return {"sentences": [{"source": question, "inputs": {"document": document, "question": question}, "reference": reference,
                               "output": explain({"model": model["name"], "document": document, "question": question,
                                                  "method": "attention"})["target"]["text"]}
                              for document, question, reference in canned.QUESTIONS[model["name"]]]}
    rows = canned.GALLERY.get(model["name"], [])
    if not rows:
        return {"sentences": [], "note": "no validation outputs were kept"}
    return {"sentences": [{"source": source, "reference": reference, "output": answer_of(model, source)["text"],
                           "chrf": 31.5 + 20 * number} for number, (source, reference) in enumerate(rows)]}


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
            self.json((curves if parts[3] == "curves" else gallery)(MODELS[parts[2]]))
        else:
            self.file("index.html" if asked == "/" else parts[-1])

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if asked.get("model") not in MODELS:
                raise Refusal(f"no model {asked.get('model')}; there are {', '.join(MODELS)}")
            for name in (one["name"] for one in MODELS[asked["model"]]["inputs"]):
                most = 3000 if name == "document" else 600
                if name != "sound" and not 0 < len(asked[name].split()) <= most:
                    raise Refusal(f"explain: 1 to {most} tokens are wanted, got {len(asked[name].split())}")
            if 99999 in (asked.get("prefix_tokens") or []):
                raise Refusal("search: expected ids that the model can say, below 8000, got 99999")
            if self.path == "/v1/explain" and BROKEN in asked.get("text", ""):
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
        answer = own_answer(MODELS[asked["model"]], asked)
        words = answer["text"].split()
        self.head(200, "application/x-ndjson", [("Transfer-Encoding", "chunked")])
        for count in range(1, len(words) + 1):
            self.chunk(json.dumps({"partial": " ".join(words[:count])}))
            time.sleep(0.02 if len(words) < 50 else 0)
        answer = {"text": answer["text"], "score": -0.1, "log_probability": -1.0, "ended": True}
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
