#!/usr/bin/env python3
"""Makes scores.json: what scikit-learn, seqeval, jiwer and evalb say of labels, tags, lines and trees that the script makes up.

    python3 tests/golden/make_scores.py EVALB COLLINS.prm    # needs scikit-learn, seqeval, jiwer; writes beside this script

EVALB is the program (Sekine & Collins 1997), built from its source. Python's own generator is seeded: running the script
again gives the same bytes.
"""
import json
import random
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

import jiwer
import sklearn.metrics
from seqeval.metrics import sequence_labeling


# --- labels: scikit-learn ---------------------------------------------------------------------------------------------

def label_case(outputs, references):
    labels = sorted(set(outputs) | set(references))
    precision, recall, f1, support = sklearn.metrics.precision_recall_fscore_support(references, outputs, labels=labels,
                                                                                     zero_division=0)
    return {"outputs": outputs, "references": references, "labels": labels,
            "accuracy": sklearn.metrics.accuracy_score(references, outputs),
            "macro_f1": sklearn.metrics.f1_score(references, outputs, average="macro", zero_division=0),
            "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "support": support.tolist(),
            "confusion": sklearn.metrics.confusion_matrix(references, outputs, labels=labels).tolist()}


def label_cases(draw):
    yield label_case(["a"], ["a"])
    yield label_case(["a"], ["b"])
    yield label_case(["said alone", "b", "b"], ["b", "right alone", "b"])
    yield label_case(["ä", "z", "é", "Z"], ["z", "z", "é", "Ä"])
    for count, labels in ((10, "ab"), (40, "abcde"), (60, "abcdefghijkl")):
        references = [draw.choice(labels) for _ in range(count)]
        yield label_case([r if draw.random() < 0.6 else draw.choice(labels) for r in references], references)


# --- spans: seqeval ---------------------------------------------------------------------------------------------------

def span_case(outputs, references):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        micro = sequence_labeling.precision_recall_fscore_support(references, outputs, average="micro")
        each = sequence_labeling.precision_recall_fscore_support(references, outputs, average=None)
        types = sorted({entity[0] for side in (outputs, references) for entity in
                        sequence_labeling.get_entities(side)})
    return {"outputs": [" ".join(tags) for tags in outputs], "references": [" ".join(tags) for tags in references],
            "micro": [float(x) for x in micro[:3]], "types": types, "precision": each[0].tolist(),
            "recall": each[1].tolist(), "f1": each[2].tolist(), "support": each[3].tolist(),
            "accuracy": sequence_labeling.accuracy_score(references, outputs)}


def bio(draw, length, types):
    """Spans as an annotator marks them."""
    tags = []
    while len(tags) < length:
        if draw.random() < 0.6:
            tags.append("O")
        else:
            kind = draw.choice(types)
            tags += ["B-" + kind] + ["I-" + kind] * draw.choice([0, 0, 1, 2])
    return tags[:length]


def span_cases(draw):
    yield span_case([["O", "O"]], [["O", "O"]])
    yield span_case([["O", "B-X"]], [["O", "O"]])
    yield span_case([["I-X", "I-X", "I-Y", "B-Y", "I-Y", "O", "I-Y"]], [["B-X", "I-X", "B-Y", "I-Y", "I-Y", "O", "B-Y"]])
    yield span_case([["B-X"], ["I-X"]], [["B-X"], ["B-X"]])
    yield span_case([["B", "I", "O", "B-", "I-A-B", "S", "E"]], [["B", "I", "I", "B-_", "I-A-B", "S", "E-_"]])
    yield span_case([["S-X", "E-X", "B-X", "E-X", "I-X"]], [["S-X", "S-X", "B-X", "E-X", "I-X"]])
    for loose in (0.05, 0.3, 1.0):
        marks = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "E-PER", "S-LOC", "B", "I", "O", "O"]
        references = [bio(draw, draw.randrange(1, 15), ["PER", "LOC", "ORG"]) for _ in range(30)]
        yield span_case([[draw.choice(marks) if draw.random() < loose else tag for tag in tags] for tags in references],
                        references)
    odd = ["O", "B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b", ".", ".-a", "X-a", "Xa", "NN", "é-a", "é", "B-a-b", "I-"]
    both = [[[draw.choice(odd) for _ in range(12)] for _ in range(40)] for _ in range(2)]
    yield span_case(both[0], [[tag if draw.random() < 0.5 else other for tag, other in zip(*rows)] for rows in zip(*both)])


# --- edits: jiwer -----------------------------------------------------------------------------------------------------

def edit_case(outputs, references):
    result = jiwer.process_words(references, outputs)
    return {"outputs": outputs, "references": references, "error_rate": float(result.wer),
            "substitutions": result.substitutions, "insertions": result.insertions, "deletions": result.deletions,
            "tokens": sum(len(line) for line in result.references)}


def damaged_tokens(tokens, draw, alphabet):
    tokens = list(tokens)
    for _ in range(draw.randrange(6)):
        at = draw.randrange(len(tokens) + 1)
        tokens[at:at + draw.choice([0, 1, 1, 2])] = [draw.choice(alphabet) for _ in range(draw.randrange(3))]
    return tokens


def edit_cases(draw):
    yield edit_case(["a b c"], ["a b c"])
    yield edit_case([""], ["a b"])
    yield edit_case(["b c d"], ["a b c"])
    yield edit_case(["a a b"], ["b a a"])
    for alphabet in ("ab", "abc", "abcdefghij"):
        for longest in (6, 12, 90):
            references = [[draw.choice(alphabet) for _ in range(draw.randrange(1, longest))] for _ in range(12)]
            near = [damaged_tokens(line, draw, alphabet) for line in references]
            yield edit_case([" ".join(line) for line in near], [" ".join(line) for line in references])
            far = [[draw.choice(alphabet) for _ in range(draw.randrange(longest))] for _ in references]
            for output, reference in zip(far, references):
                yield edit_case([" ".join(output)], [" ".join(reference)])


# --- brackets: evalb --------------------------------------------------------------------------------------------------

PHRASES = ["S", "NP", "VP", "PP", "ADVP", "PRT", "SBAR", "NP-SBJ", "NP-SBJ-1", "PP=2", "ADVP-TMP", "X", "TOP", "QP"]
TAGS = ["DT", "NN", "NNS", "VBD", "VBZ", "IN", "JJ", "RB", "RP", "PRP$", "-LRB-", "CD"]
MARKS = [(",", ","), (":", "--"), ("``", "``"), ("''", "''"), (".", "."), (".", "?"), (":", ";"), ("-NONE-", "*T*-1")]
WORDS = "the old ferry left at noon and nobody saw it again because rain fell on every red roof of our town".split()


def leaf(draw):
    return list(draw.choice(MARKS)) if draw.random() < 0.2 else [draw.choice(TAGS), draw.choice(WORDS)]


def tree(draw, words):
    """[label, child…] over that many words; a leaf is [tag, word]."""
    if words == 1:
        return leaf(draw) if draw.random() < 0.8 else [draw.choice(PHRASES), tree(draw, 1)]
    cuts = sorted(draw.sample(range(1, words), min(words - 1, draw.choice([1, 1, 2, 3]))))
    return [draw.choice(PHRASES)] + [tree(draw, end - begin) for begin, end in zip([0, *cuts], [*cuts, words])]


def is_leaf(node):
    return isinstance(node[1], str)


def nodes(node):
    yield node
    if not is_leaf(node):
        for child in node[1:]:
            yield from nodes(child)


def relabel(node, draw):
    node[0] = draw.choice(TAGS if is_leaf(node) else PHRASES)


def flatten(node, draw):
    if not is_leaf(node):
        at = draw.randrange(1, len(node))
        if not is_leaf(node[at]):
            node[at:at + 1] = node[at][1:]


def gather(node, draw):
    if not is_leaf(node):
        begin, end = sorted(draw.sample(range(1, len(node) + 1), 2))
        node[begin:end] = [[draw.choice(PHRASES)] + node[begin:end]]


def shift(node, draw):
    """Moves a word or constituent into its neighbour, so that brackets cross."""
    whole = [at for at in range(1, len(node) - 1) if not is_leaf(node) and not is_leaf(node[at]) and len(node[at]) > 2]
    if whole:
        at = draw.choice(whole)
        moved = node[at].pop()
        node[at + 1] = [draw.choice(PHRASES), moved, node[at + 1]] if is_leaf(node[at + 1]) else \
            node[at + 1][:1] + [moved] + node[at + 1][1:]


def mistag(node, draw):
    """Deletes on one side what stays on the other."""
    if is_leaf(node):
        node[0] = draw.choice([",", ":", "NN", ".", "''", "-NONE-"])


def misread(node, draw):
    if is_leaf(node):
        node[1] = draw.choice(WORDS)


def drop(node, draw):
    if not is_leaf(node) and len(node) > 2:
        del node[draw.randrange(1, len(node))]


HARMLESS = [relabel, flatten, gather, shift, shift]  # to the words
DAMAGES = HARMLESS * 3 + [mistag, misread, drop]


def printed(node):
    return "(" + node[0] + " " + (node[1] if is_leaf(node) else " ".join(map(printed, node[1:]))) + ")"


def tree_pairs(draw):
    """Outputs and references."""
    dog = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))"
    yield dog, dog
    yield "", dog
    yield "(NP (, ,) (. .))", dog
    yield "(S (NP (DT the) (NN dog) (VBZ barks)) (, .))", dog
    yield "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (NN .))", dog
    yield "(S (X (X (NN a))) (X (NN b)))", "(S (X (NN a)) (X (X (NN b))))"
    yield "(S (PRT (PRT (NN a))) (ADVP (NN b)))", "(S (ADVP (ADVP (PRT (NN a)))) (PRT (NN b)))"
    for i in range(110):
        reference = tree(draw, draw.choice([1, 2, 4, 7, 12, 20, 30, 38, 44, 55]))
        if is_leaf(reference):
            reference = ["S", reference]
        output = json.loads(json.dumps(reference))
        for _ in range(draw.choice([0, 1, 4, 12, 30, 60])):
            leaves = draw.random() < 0.2
            fitting = [node for node in nodes(output) if is_leaf(node) == leaves]
            draw.choice(HARMLESS if i % 3 else DAMAGES)(draw.choice(fitting), draw)
        yield printed(output), printed(reference)


def evalb(program, settings, pairs):
    """Its table, a row per sentence, and its two summaries."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("gold", "test")]
        for file, side in zip(files, (1, 0)):
            file.write_text("".join(pair[side] + "\n" for pair in pairs))
        said = subprocess.run([program, "-p", settings, "-e", "1000000", *files], capture_output=True, text=True).stdout
    rows = [[float(x) for x in line.split()] for line in said.splitlines() if len(line.split()) == 12 and
            line.split()[0].isdigit()]
    assert len(rows) == len(pairs), (len(rows), len(pairs))
    names = ["id", "length", "status", "recall", "precision", "matched", "gold", "test", "cross", "words", "tags", "accuracy"]
    summaries = [dict((part.strip() for part in line.split("=")) for line in block.splitlines() if " = " in line)
                 for block in said.split("-- ")[1:]]
    return ([dict(zip(names, row)) for row in rows],
            [{name: float(value) for name, value in summary.items()} for summary in summaries if summary])


def main():
    draw = random.Random(7)
    pairs = list(tree_pairs(draw))
    rows, summaries = evalb(sys.argv[1], sys.argv[2], pairs)
    assert len(summaries) == 2, summaries
    result = {"versions": {name: version(name) for name in ("scikit-learn", "seqeval", "jiwer", "rapidfuzz")},
              "labels": list(label_cases(draw)), "spans": list(span_cases(draw)), "edits": list(edit_cases(draw)),
              "brackets": {"outputs": [o for o, _ in pairs], "references": [r for _, r in pairs], "rows": rows,
                           "all": summaries[0], "up_to_40": summaries[1]}}
    path = Path(__file__).with_name("scores.json")
    path.write_text(json.dumps(result, indent=0) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
