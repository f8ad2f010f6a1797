#!/usr/bin/env python3
"""Makes answers.json: what SQuAD's official scripts, Google's rouge-score and NLTK's stemmer say of texts made up here.

    python3 tests/golden/make_answers.py SQUAD_EVAL.py    # needs transformers, rouge-score, nltk; writes beside this script

SQUAD_EVAL.py is SQuAD's evaluate-v1.1.py (AllenNLP 0.9.0 brings it along as allennlp/tools/squad_eval.py); version 2.0
is transformers.data.metrics.squad_metrics. Python's own generator is seeded: running the script again gives the same
bytes.
"""
import importlib.util
import json
import random
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer
from transformers.data.metrics import squad_metrics

CASES = 500
KINDS = ["rouge1", "rouge2", "rougeL"]

PLAIN = """the a an The A AN and of in over river stone bridges lighted running relational happily nationalities
ponies dying skies agreed hopping hissing falling filing conditional formalities geology theologies vileness electricity
adjustments 1984 42nd 3.5 $100 U.S. rock-'n'-roll don't (brackets) "quoted" under_score e-mail x y by""".split()
ODD = ["İstanbul", "İİ", "ıI", "Straße", "STRASSE", "ẞ", "ﬁne", "e\u0301t\u00e9", "a\u0301", "the\u0308", "an\u200d", "\u00aba\u00bb",
       "\uff21\uff22\uff23", "\uff54\uff48\uff45", "\uff01", "\u2018the\u2019", "\u201ca\u201d", "\u2014the\u2014", "a\u2026", "the\u00a0end", "a\u3000b",
       "\u200bzero", "שלום", "העולם", "مرحبا", "ال\u200fعالم", "Καλημέρα", "ΣΟΦΟΣ", "ΟΔΥΣΣΕΥΣ", "Москва", "Ёлка", "日本語", "東京、",
       "\u0661\u0662\u0663", "१२३", "\u2163", "x²", "½", "\U0001d7d8", "\U0001d400", "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f466",
       "a\U0001f600", "\U0001f600the", "Ǆungla", "ǅ", "\u212aelvin", "\u212b", "Ⱥ", "ⅷ", "ª", "º", "a_b", "_the_", "`a`", "~the~", "the.",
       "a-the", "A.", "an/a", "\u0130the", "the\u0130", "a\u02bc", "\u02bca", "ʻokina", "\u1e9e", "हिन्दी", "ไทย", "한국어", "\u2028", "\x1f", "\x85",
       "\u180e", "\ufeffa", "the\u00ad", "\u00ada", "٪", "\u066a", "&amp;", "\u20ac5", "ℵ", "Ⓐ", "ⓐ", "\u24b6the", "ꜳ", "\U00010400\U00010428", "\u01c5a",
       "\u0345a", "a\u0345", "ʰa", "aʰ", "the\u0e31", "\u0903a"]
SUFFIXES = """ational tional enci anci izer abli bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti
iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion
ion ou ism ate iti ous ive ize e ll s es ies sses ss ed ing eed ied y ly eedly ying yed at bl iz tt zz""".split()


def text(draw, longest):
    words = []
    for _ in range(draw.randint(0, longest)):
        word = draw.choice(ODD if draw.random() < 0.35 else PLAIN)
        if draw.random() < 0.1:
            word = draw.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + word
        if draw.random() < 0.15:
            word = draw.choice((word.upper(), word.capitalize(), word + "s", word + ",", word + draw.choice(ODD)))
        words.append(word)
    return draw.choice((" ", " ", " ", "  ", "\u00a0", "\t")).join(words)


def damaged(draw, right, longest):
    """A text that shares much with `right`."""
    words = right.split(" ")
    for _ in range(draw.randint(0, 3)):
        at = draw.randrange(len(words))
        words[at:at + draw.randint(0, 2)] = draw.choice(([], [text(draw, 2)], [words[at].swapcase()], [words[at], words[at]]))
        words = words or [""]
    return " ".join(words) if draw.random() < 0.85 else text(draw, longest)


def squad_cases(draw, official):
    cases = []
    for _ in range(CASES):
        right = [text(draw, 6)] if draw.random() < 0.9 else [draw.choice(("the", "%", "a\u00a0the", "!?", "An."))]
        right += [damaged(draw, right[0], 6) for _ in range(draw.randint(0, 3))]
        output = damaged(draw, draw.choice(right), 6)
        if draw.random() < 0.1:
            output = draw.choice(("", "the", "?", " "))
        right = [r for r in right if r] or ["x"]
        best = lambda metric: float(official.metric_max_over_ground_truths(metric, output, right))
        exact, f1 = squad_metrics.get_raw_scores(
            [SimpleNamespace(qas_id="q", answers=[{"text": r} for r in right])], {"q": output})
        cases.append({"output": output, "right": right, "normalised": official.normalize_answer(output),
                      "v1_1": [best(official.exact_match_score), best(official.f1_score)],
                      "v2_0": [float(exact["q"]), float(f1["q"])]})
    return cases


def squad_totals(cases, official):
    """Whole files: all cases by 1.1, and by 2.0 with every fourth question impossible."""
    qas = [{"id": str(i), "answers": [{"text": r} for r in case["right"]]} for i, case in enumerate(cases)]
    outputs = {str(i): case["output"] for i, case in enumerate(cases)}
    v1_1 = official.evaluate([{"paragraphs": [{"qas": qas}]}], outputs)
    examples = [SimpleNamespace(qas_id=qa["id"], answers=[] if i % 4 == 0 else qa["answers"]) for i, qa in enumerate(qas)]
    v2_0 = squad_metrics.squad_evaluate(examples, outputs)
    wanted = ["exact", "f1", "total"] + [f"{part}_{key}" for part in ("HasAns", "NoAns") for key in ("exact", "f1", "total")]
    return {"v1_1": v1_1, "v2_0": {key: v2_0[key] for key in wanted}}


def rouge_cases(draw):
    scorers = [RougeScorer(KINDS, use_stemmer=stems) for stems in (False, True)]
    cases = []
    for _ in range(CASES):
        right = [text(draw, 14)]
        right += [damaged(draw, right[0], 12) for _ in range(draw.choice((0, 0, 1, 2)))]
        output = damaged(draw, draw.choice(right), 12)
        case = {"output": output, "right": right}
        for name, scorer in zip(("plain", "stemmed"), scorers):
            scores = scorer.score_multi(right, output)
            case[name] = [[round(float(x), 12) for x in scores[kind]] for kind in KINDS]
        cases.append(case)
    return cases


def stems(draw):
    """Words that end in what the rules look for, and their stems."""
    stemmer = PorterStemmer()
    words = set("sky skies dying lying tying news innings outing cannings howe proceed exceed succeed feed agreed "
                "flies dies die spied died enjoy happy spy yyyy syzygy by aed ing ying sing bled".split())
    while len(words) < 1500:
        start = "".join(draw.choice("bcdfglmnprstvwxyz" if draw.random() < 0.55 else "aeiouy")
                        for _ in range(draw.randint(0, 6)))
        words.add(start + draw.choice(SUFFIXES) + (draw.choice(SUFFIXES) if draw.random() < 0.3 else ""))
    return {word: stemmer.stem(word) for word in sorted(words)}


def main():
    spec = importlib.util.spec_from_file_location("squad_eval", sys.argv[1])
    official = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(official)
    draw = random.Random(18)
    squad = squad_cases(draw, official)
    made = {"versions": {name: version(name) for name in ("transformers", "rouge-score", "nltk")}, "squad": squad,
            "squad_totals": squad_totals(squad, official), "rouge": rouge_cases(draw), "stems": stems(draw)}
    rows = [f"{json.dumps(key)}: " + ("[\n" + ",\n".join(json.dumps(one) for one in value) + "\n]"
                                      if isinstance(value, list) else json.dumps(value)) for key, value in made.items()]
    (Path(__file__).parent / "answers.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
