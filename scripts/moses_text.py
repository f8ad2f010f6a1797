#!/usr/bin/env python3
"""Text as papers on Multi30k score it: lower case, Moses' punctuation, Moses' tokens (.lc.norm.tok of its task 1).

    pip install sacremoses
    attend eval DIR --source test.en --target test.de --save-output said.de
    scripts/moses_text.py de < said.de > said.tok
    zcat test.de.gz | scripts/moses_text.py de > right.tok
    attend eval --output said.tok --target right.tok --tokenise none --lowercase

The last line gives what multi-bleu.perl gives: sacreBLEU's "case:lc|tok:none".
"""
import sys

from sacremoses import MosesPunctNormalizer, MosesTokenizer


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} LANGUAGE < text > tokens (de, en, fr, ...)")
    language = sys.argv[1]
    normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)
    for line in sys.stdin.buffer:
        text = line.decode("utf-8").rstrip("\r\n")
        print(tokenizer.tokenize(normalizer.normalize(text.lower()), return_str=True))


if __name__ == "__main__":
    main()
