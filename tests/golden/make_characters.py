#!/usr/bin/env python3
"""Makes characters.json: what jiwer says of the characters of lines that the script makes up.

    python3 tests/golden/make_characters.py    # needs jiwer; writes beside this script
"""
import json
import random
from importlib.metadata import version
from pathlib import Path

import jiwer

LETTERS = list("abcde ") + ["é", "ß", "你", "🙂", "e\u0301", "'", "-"]


def line(draw, least):
    text = "".join(draw.choice(LETTERS) for _ in range(draw.randint(least, 14)))
    return text if text.strip() or least == 0 else "a"


def changed(draw, text):
    letters = list(text)
    for _ in range(draw.randint(0, 4)):
        place, what = draw.randint(0, len(letters)), draw.choice(["add", "drop", "swap"])
        if what == "add":
            letters.insert(place, draw.choice(LETTERS))
        elif letters and place < len(letters):
            letters[place:place + 1] = [] if what == "drop" else [draw.choice(LETTERS)]
    return "".join(letters)


def case(outputs, references):
    result = jiwer.process_characters(references, outputs)
    return {"outputs": outputs, "references": references, "rate": result.cer, "substitutions": result.substitutions,
            "insertions": result.insertions, "deletions": result.deletions,
            "letters": result.hits + result.substitutions + result.deletions}


def main():
    draw = random.Random(11)
    cases = []
    for _ in range(120):
        references = [line(draw, 1) for _ in range(draw.randint(1, 3))]
        outputs = [changed(draw, text) if draw.random() < 0.8 else line(draw, 0) for text in references]
        cases.append(case(outputs, references))
    result = {"versions": {name: version(name) for name in ("jiwer", "rapidfuzz")}, "cases": cases}
    Path(__file__).with_name("characters.json").write_text(json.dumps(result, indent=0) + "\n")


if __name__ == "__main__":
    main()
