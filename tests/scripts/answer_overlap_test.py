"""Answers by overlap of words."""
import contextlib
import gzip
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import answer_overlap  # noqa: E402

DOCUMENT = "The bridge was built in 1902. Mary Jones-Smith painted the old tower.\nThe river is deep."


def printed(*arguments):
    out = io.StringIO()
    with mock.patch.object(sys, "argv", ["answer_overlap", *arguments]), contextlib.redirect_stdout(out):
        answer_overlap.main()
    return out.getvalue()


class Overlap(unittest.TestCase):
    def test_takes_the_phrase_nearest_to_what_was_asked(self):
        self.assertEqual(answer_overlap.answer(DOCUMENT, "When was the bridge built?"), "1902")
        self.assertEqual(answer_overlap.answer(DOCUMENT, "Who painted the old tower?"), "Mary Jones-Smith")
        self.assertEqual(answer_overlap.answer(DOCUMENT, "How deep?"), "river")

    def test_finds_nothing_in_nothing(self):
        self.assertEqual(answer_overlap.answer("The, of.", "Why?"), "")

    def test_prints_a_line_for_each_question(self):
        qas = [{"question": "When was the bridge built?"}, {"question": "Why?"}]
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/questions.json.gz"
            with gzip.open(path, "wt") as file:
                json.dump({"data": [{"paragraphs": [{"context": DOCUMENT, "qas": qas}]}]}, file)
            self.assertEqual(printed(path).splitlines()[0], "1902")
            self.assertEqual(len(printed(path).splitlines()), 2)


if __name__ == "__main__":
    unittest.main()
