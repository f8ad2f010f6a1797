#!/usr/bin/env python3
"""Makes metrics.json: what sacreBLEU scores for pairs of lines that the script makes up itself.

    python3 tests/golden/make_metrics.py            # needs sacrebleu; writes beside this script

Sentences below are joined and damaged as systems damage them, and worse. Python's own generator is seeded: running the
script again gives the same bytes.
"""
import json
import random
from pathlib import Path

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

SENTENCES = """\
The old ferry leaves at 7:30 a.m., rain or shine.
She paid $1,000.50 for a second-hand piano (and 3.5% tax).
"Why," asked the gardener, "would a hedge need 10-12 corners?"
It's the dog's bowl, isn't it? No: it's the cat's!
Version 2.0.1 was released in 1998, 1999 and again in 2003.
Read docs/manual.txt, or write to nobody@example.org; use A & B, not A &amp; B.
The list [a, b, c] has {three} items, i.e. <item> * 3 = 50% of 6 + 0.
Two children carry a red kite up the hill before the wind drops.
Der Zug nach München fährt um 9.15 Uhr ab – hoffentlich pünktlich.
„Größe ist nicht alles“, sagte die Ameise zum Käfer.
Die Straße war 2,5 km lang; am Ende stand ein weißes Häuschen.
L’été dernier, nous avons mangé des crêpes à l’île d’Oléron.
« Où est passée la clé ? » demanda-t-il d’une voix fatiguée…
Ο ΟΔΥΣΣΕΥΣ ΓΥΡΙΣΕ ΣΤΟ ΣΠΙΤΙ ΤΟΥ ΣΙΓΑ ΣΙΓΑ.
İstanbul'da ılık bir IŞIK vardı, DİYARBAKIR'da ise kar.
В лесу родилась ёлочка, в лесу она росла.
今天天气很好，我们去公园散步吧。
東京タワーは３３３メートルです！
मैं घर जा रही हूँ। क्या तुम १२३ किताबें लाओगे?
ذهبت إلى السوق، واشتريت ١٢٫٥ كيلو من التفاح.
오늘은 날씨가 좋아서 산책을 했다.
The temperature fell by 5°C (≈ 9°F) — that's ½ of last year's ±10°.
Prices: €5, £4.20, ¥700; growth: +3 %, −2 % and ×1.5.
A cafe\u0301 in Zu\u0308rich serves naïve coöperation 24/7.
Emoji 😀👍🏽 and symbols ©®™ ✓ → ∞ are words, too.
He said &quot;x &lt; y &gt; z&quot; and left &amp;lt; behind.
Ǆ and ǅ, ẞ and ß, ﬁ and Ω, K and Å differ in case only on paper.
one two three four
yes .
""".splitlines()

MARKS = [*".,;:!?-'\"()[]{}<>/\\|@#$%^&*_+=~`", *"–—…“”„‘’«»¿¡·•§¶†‰€£¥©°±×÷≤≠→√∑½²³₁Ⅳ①。、，！？「」।॥؟،٪",
         "<skipped>", "&quot;", "&amp;", "&lt;", "&gt;", "&amp;gt;", "&apos;", "1,000", "3.14", "10-12", "5-", "-5", ".5",
         "5.", ",,", "...", "a.b", "7,x", "Σ", "ΑΣ", "ΑΣ.", "ΑΣ'Α", "\u0301", "\u0328\u0301", "\u200b", "\ufeff", "\u00ad"]
BLANKS = ["\u00a0", "\u2003", "\u3000", "\t", "\u2028", "\u0085", "\x1c", "\x1f", "  ", "\r"]


def drop(words, at, draw):
    return words[:at] + words[at + 1:]


def swap(words, at, draw):
    return words[:at] + words[at:at + 2][::-1] + words[at + 2:]


def insert(words, at, draw):
    return words[:at] + [draw.choice(draw.choice(SENTENCES).split())] + words[at:]


def repeat(words, at, draw):
    return words[:at + 1] * 2 + words[at + 1:] if at < 3 else words[:at + 1] + words[at:]


def mark(words, at, draw):
    return words[:at] + [draw.choice(MARKS)] + words[at:]


def misspell(words, at, draw):
    word = words[at]
    cut = draw.randrange(len(word) + 1)
    return words[:at] + [word[:cut] + draw.choice([*MARKS, "e", "n", "ß", ""]) + word[cut + 1:]] + words[at + 1:]


def recase(words, at, draw):
    return words[:at] + [draw.choice([str.upper, str.lower, str.title])(words[at])] + words[at + 1:]


def blank(words, at, draw):
    return words[:at] + [draw.choice(BLANKS)] + words[at:]


DAMAGES = [drop, swap, insert, repeat, mark, misspell, recase, blank]


def damaged(line, draw):
    words = line.split(" ")
    for _ in range(draw.randrange(5)):
        if words:
            words = draw.choice(DAMAGES)(words, draw.randrange(len(words)), draw)
    return " ".join(words) + draw.choice(["", "", "", " ", "\t", "\u3000 "])


def pairs(count, draw):
    """Outputs and references; some are empty, equal, far apart, or have a line's end within."""
    made = [("", ""), ("", "the reference alone"), ("the output alone", ""), ("   ", "\u3000"), (".", "."), ("a", "a"),
            ("\u0301", "\u0301"), ("x-\ny\nz", "xy z"), ("no word in common", "ganz andere Wörter"), ("ΑΣ", "ας"),
            ("AΣ\u0301", "aς\u0301"), ("Σ", "σ"), ("1998.", "1998 ."), ("$1,000.50", "$ 1,000.50")]
    while len(made) < count:
        reference = " ".join(draw.sample(SENTENCES, draw.choice([1, 1, 1, 2])))
        made.append((damaged(reference, draw), damaged(reference, draw) if draw.random() < 0.3 else reference))
    return [output for output, _ in made], [reference for _, reference in made]


def subsets(count, draw):
    """Single lines, tens of lines, and all, as (first line, lines)."""
    single = [(i, 1) for i in [*range(14), *draw.sample(range(14, count), 26)]]
    tens = [(i, 10) for i in range(0, count - 10, 40)]
    return single + tens + [(0, count // 2), (0, count)]


def bleu_cases():
    """All tokenisers and cases with the default smoothing, all smoothings with the default tokeniser."""
    smooths = [("13a", smooth, False) for smooth in ("none", "floor", "add-k")]
    return [(tok, "exp", case) for tok in ("13a", "intl", "char", "none") for case in (False, True)] + smooths


def bleu_results(outputs, references, cuts):
    for tokenise, smooth, lowercase in bleu_cases():
        metric = BLEU(tokenize=tokenise, smooth_method=smooth, lowercase=lowercase)
        scores = [metric.corpus_score(outputs[a:a + n], [references[a:a + n]]) for a, n in cuts]
        yield {"tokenise": tokenise, "smooth": smooth, "lowercase": lowercase, "signature": str(metric.get_signature()),
               "scores": [{"score": s.score, "precisions": s.precisions, "bp": s.bp, "text": str(s)} for s in scores]}


def chrf_results(outputs, references, cuts):
    for word_order, lowercase in ((0, False), (0, True), (2, False), (2, True)):
        metric = CHRF(word_order=word_order, lowercase=lowercase)
        scores = [metric.corpus_score(outputs[a:a + n], [references[a:a + n]]) for a, n in cuts]
        yield {"word_order": word_order, "lowercase": lowercase, "signature": str(metric.get_signature()),
               "name": scores[0].name, "scores": [s.score for s in scores]}


def several_results(outputs, references, cuts):
    """Three references per line, and the orders up to 1, 2, 3 and 4."""
    for tokenise in ("13a", "none"):
        metrics = [BLEU(tokenize=tokenise, max_ngram_order=order) for order in (1, 2, 3, 4)]
        scores = [[metric.corpus_score(outputs[a:a + n], [r[a:a + n] for r in references]) for metric in metrics]
                  for a, n in cuts]
        yield {"tokenise": tokenise, "signature": str(metrics[-1].get_signature()),
               "scores": [{"up_to": [s.score for s in orders], "bp": orders[-1].bp, "text": str(orders[-1])}
                          for orders in scores]}


def main():
    draw = random.Random(20)
    outputs, references = pairs(320, draw)
    cuts = subsets(len(outputs), draw)
    result = {"sacrebleu": sacrebleu.__version__, "outputs": outputs, "references": references, "subsets": cuts,
              "bleu": list(bleu_results(outputs, references, cuts)),
              "chrf": list(chrf_results(outputs, references, cuts))}
    others = [[damaged(line, draw) if line.strip() else line for line in references] for _ in range(2)]
    result["others"] = others
    result["several"] = list(several_results(outputs, [references, *others], cuts))
    path = Path(__file__).with_name("metrics.json")
    path.write_text(json.dumps(result, ensure_ascii=True, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
