"""What scripts/emulate.py makes of what a machine said; no emulator runs here."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import emulate  # noqa: E402
import emulator  # noqa: E402


def step(text, code):
    return emulate.Step("avx512", "some_tests", "some_tests", list(enumerate(text.splitlines())), code=code)


def tests():
    part = emulate.Tests("some", "", "some_tests")
    part.all = {"A": ["A.one", "A.two", "A.slow"], "Ops/B": ["Ops/B.sum/0", "Ops/B.sum/1"]}
    part.selected = {"A": ["A.one", "A.two"], "Ops/B": ["Ops/B.sum/0", "Ops/B.sum/1"]}
    return part


def counts(rows):
    return [(row.subject, row.passed, row.failed, row.not_reached, row.left_out) for row in rows]


BEGINNING = """\
[ RUN      ] A.one
[       OK ] A.one (3 ms)
[ RUN      ] A.two
some_test.cc:5: Failure
expected 3, got 4
[  FAILED  ] A.two (1 ms)
[ RUN      ] Ops/B.sum/0
"""


class OfTests(unittest.TestCase):
    def test_counts_by_suite(self):
        rest = """\
[       OK ] Ops/B.sum/0 (1 ms)
[ RUN      ] Ops/B.sum/1
[  FAILED  ] Ops/B.sum/1, where GetParam() = 1 (1 ms)
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] A.two
[  FAILED  ] Ops/B.sum/1, where GetParam() = 1
"""
        rows, failures = tests().judge(step(BEGINNING + rest, 1))
        self.assertEqual(counts(rows), [("A", 1, 1, 0, 1), ("Ops/B", 1, 1, 0, 0)])
        self.assertEqual(len(failures), 2)
        self.assertIn("A.two (avx512)", failures[0])
        self.assertIn("expected 3, got 4", failures[0])

    def test_a_program_that_dies_has_failed(self):
        rows, failures = tests().judge(step(BEGINNING + "Illegal instruction", 132))
        self.assertEqual(counts(rows), [("A", 1, 1, 0, 1), ("Ops/B", 0, 1, 1, 0)])
        self.assertIn("exit code 132", failures[1])
        self.assertIn("Illegal instruction", failures[1])

    def test_what_time_cut_off_is_not_reached(self):
        rows, failures = tests().judge(step(BEGINNING, None))
        self.assertEqual(counts(rows), [("A", 1, 1, 0, 1), ("Ops/B", 0, 0, 2, 0)])
        self.assertEqual(len(failures), 1)

    def test_a_program_that_does_not_begin_has_failed(self):
        rows, failures = tests().judge(step("cannot open shared object file", 127))
        self.assertEqual(counts(rows), [("A", 0, 0, 2, 1), ("Ops/B", 0, 0, 2, 0)])
        self.assertIn("cannot open shared object file", failures[0])


class OfLosses(unittest.TestCase):
    here = ['{"step":1,"loss":4.0}', '{"step":2,"loss":2.0}', '{"step":2,"valid_loss":3.0}']
    other = ['{"step":1,"loss":4.0}', '{"step":2,"loss":2.00002}', '{"step":2,"valid_loss":3.0}']  # 1e-5 away

    def compared(self, *there):
        row = emulate.Row("training", "avx512", "recurrent")
        return row, emulate.compare_losses(row, self.here, self.other, list(there))

    def test_the_same(self):
        row, failures = self.compared(*self.here)
        self.assertEqual((row.passed, row.failed, failures), (3, 0, []))
        self.assertIn("the same digits", row.note)

    def test_as_near_as_sets_are_to_each_other(self):
        row, failures = self.compared(self.here[0], '{"step":2,"loss":2.0001}', self.here[2])
        self.assertEqual((row.passed, row.failed, failures), (3, 0, []))
        self.assertIn("5.0e-05", row.note)

    def test_further_away(self):
        row, failures = self.compared(self.here[0], '{"step":2,"loss":2.01}', self.here[2])
        self.assertEqual((row.passed, row.failed), (2, 1))
        self.assertIn("step 2: expected loss 2.0", failures[0])

    def test_damaged_lines(self):
        row, failures = self.compared(*self.here[:2], '{"step":2,"val{"step"}')
        self.assertEqual((row.passed, row.failed, len(failures)), (2, 1, 1))

    def test_not_a_number_and_missing(self):
        row, failures = self.compared('{"step":1,"loss":NaN}', '{"step":2,"loss":null}')
        self.assertEqual((row.passed, row.failed, len(failures)), (0, 3, 3))


class OfAnswers(unittest.TestCase):
    here = ["0 ||| a b ||| -1.5000", "0 ||| a c ||| -2.0000"]

    def compared(self, there):
        row = emulate.Row("answers", "avx512", "recurrent")
        return row, emulate.compare_answers(row, self.here, self.here, there)

    def test_the_same(self):
        row, failures = self.compared(self.here)
        self.assertEqual((row.passed, row.failed, failures), (2, 0, []))
        self.assertIn("the same bytes", row.note)

    def test_the_last_digit_may_differ(self):
        row, failures = self.compared([self.here[0], "0 ||| a c ||| -2.0001"])
        self.assertEqual((row.passed, row.failed, failures), (2, 0, []))

    def test_other_words_other_scores_no_line(self):
        self.assertEqual(self.compared([self.here[0], "0 ||| a d ||| -2.0000"])[0].failed, 1)
        self.assertEqual(self.compared([self.here[0], "0 ||| a c ||| -2.0100"])[0].failed, 1)
        self.assertEqual(self.compared([self.here[0]])[0].failed, 1)
        self.assertEqual(self.compared([self.here[0], "Segmentation fault"])[0].failed, 1)
        self.assertEqual(self.compared([*self.here, "0 ||| a e ||| -3.0000"])[0].failed, 1)


class OfCommandsThatAreCompared(unittest.TestCase):
    def judged(self, said, code):
        part = emulate.Comparison("version", "", {"attend": "attend --version"}, emulate.compare_version)
        part.here = {("attend", "avx2"): [], ("attend", "sse4"): []}
        rows, failures = part.judge(emulate.Step("avx512", "attend", "", [(1, line) for line in said], code=code))
        return (rows[0].passed, rows[0].failed, rows[0].not_reached), failures

    def test_a_machine_without_avx512_fails(self):
        self.assertEqual(self.judged(["instruction set  avx512 (here: avx512, avx2, sse4)"], 0), ((1, 0, 0), []))
        counts, failures = self.judged(["instruction set  avx2 (here: avx2, sse4)"], 0)
        self.assertEqual(counts, (0, 1, 0))
        self.assertIn("expected instruction set  avx512", failures[0])

    def test_exit_codes_and_cut_off(self):
        self.assertEqual(self.judged(["Illegal instruction"], 132)[0], (0, 1, 0))
        self.assertEqual(self.judged([], None), ((0, 0, 1), []))


class OfCommands(unittest.TestCase):
    def ran(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-B", SCRIPTS / "emulate.py", *arguments], capture_output=True,
                              text=True, env={**os.environ, **environment})

    def test_unknown_names_are_refused(self):
        for arguments in (["--parts", "gem"], ["--isa", "avx"], ["--jobs", "3"]):
            done = self.ran(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(arguments[1], done.stderr)

    def test_missing_tools_are_named_with_their_packages(self):
        with tempfile.TemporaryDirectory() as empty:
            done = self.ran("--parts", "isa", PATH=empty)
        self.assertEqual(done.returncode, 1)
        self.assertIn("busybox (busybox-static)", done.stderr)
        self.assertIn("bochs (bochs)", done.stderr)

    def test_every_part_is_listed(self):
        self.assertEqual(len(self.ran("--list").stdout.splitlines()), len(emulate.PARTS))


if __name__ == "__main__":
    unittest.main()
