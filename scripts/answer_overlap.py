#!/usr/bin/env python3
"""Answers questions by overlap of words, for a network to be compared with: no learning, no reading.

    python3 scripts/answer_overlap.py QUESTIONS.json[.gz] > answers.txt
    attend eval --task answer --data QUESTIONS.json[.gz] --output answers.txt

QUESTIONS is a file in SQuAD's format; answers come in its order, one a line. After the sliding window with distances of
Richardson et al. (2013), which Rajpurkar et al. (2016) used for SQuAD: candidates are the phrases of a sentence, runs of
words between punctuation, function words and words of the question; the answer is the one whose sentence shares the most
with the question, each shared word counted by how rare it is in the document, log(1 + 1/c), and by its distance d to the
phrase, 1 + 1/√d. Earlier ones win ties. (Theirs takes candidates from a parser.)
"""
import argparse
import gzip
import json
import math
import re
import sys
from collections import Counter

FUNCTION_WORDS = set("""a an the of in on at to for from by with and or but is are was were be been has have had do does did
what which who whom whose when where why how it its he she they his her their this that these those as not""".split())
TOKEN = re.compile(r"\w+|[^\w\s]")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def tokens(text):
    """(lower-case token, begin, end) of each."""
    return [(match.group().lower(), match.start(), match.end()) for match in TOKEN.finditer(text)]


def sentences(text):
    begin = 0
    for match in SENTENCE_END.finditer(text):
        yield text[begin:match.start()]
        begin = match.end()
    yield text[begin:]


def is_word(token):
    return token[0].isalnum()


def phrases(words, asked):
    """(first, last) of each run of words that may answer; hyphens and apostrophes within it belong to it."""
    fits = [is_word(token) and token not in asked and token not in FUNCTION_WORDS for token, _, _ in words] + [False] * 2
    first = 0
    while first < len(words):
        last = first
        while fits[first] and (fits[last + 1] or (fits[last + 2] and words[last + 1][0] in "-–'’")):
            last += 1 if fits[last + 1] else 2
        if fits[first]:
            yield first, last
        first = last + 1


def answer(document, question):
    asked = {token for token, _, _ in tokens(question) if is_word(token)}
    counts = Counter(token for token, _, _ in tokens(document))
    best, found = -1, ""
    for sentence in sentences(document):
        words = tokens(sentence)
        for first, last in phrases(words, asked):
            distance = {}
            for at, (token, _, _) in enumerate(words):
                if token in asked:
                    distance[token] = min(distance.get(token, len(words)), first - at if at < first else at - last)
            score = sum(math.log(1 + 1 / counts[token]) * (1 + d ** -0.5) for token, d in distance.items())
            if score > best:
                best, found = score, sentence[words[first][1]:words[last][2]]
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("questions")
    given = options.parse_args()
    opened = gzip.open if given.questions.endswith(".gz") else open
    with opened(given.questions, "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    for article in articles:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                print(" ".join(answer(paragraph["context"], question["question"]).split()))


if __name__ == "__main__":
    sys.exit(main())
