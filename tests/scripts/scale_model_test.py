"""The arithmetic of the model of many machines."""
import math
import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import scale_model as model  # noqa: E402

RUN = model.Run(gradients=80e6, compute=0.4, latency=0, memory=math.inf, spread=0)


class ScaleModel(unittest.TestCase):
    def test_one_machine_only_computes(self):
        self.assertEqual(model.step(RUN, 1), (0.4, 0.0))

    def test_buckets_are_all_of_the_gradients(self):
        for machines in (2, 8, 256):
            sizes = model.buckets(80e6, machines)
            self.assertAlmostEqual(sum(sizes), 80e6)
            self.assertLessEqual(max(sizes), model.LARGEST)
        self.assertGreaterEqual(len(model.buckets(80e6, 256)), 4 * 256)
        self.assertEqual(len(model.buckets(1000, 8)), 1)

    def test_bytes_are_those_of_two_halves_of_an_all_reduce(self):
        self.assertAlmostEqual(model.sent(80e6, 2), 80e6)
        self.assertAlmostEqual(model.sent(80e6, 4), 120e6)

    def test_a_network_without_end_costs_nothing(self):
        seconds, shown = model.step(replace(RUN, bandwidth=math.inf), 64)
        self.assertAlmostEqual(seconds, 0.4)
        self.assertAlmostEqual(shown, 0)

    def test_what_comes_after_the_last_gradient_is_not_hidden(self):
        # Two machines and a slow network: the owner of the last bucket is still receiving; by hand.
        run = replace(RUN, gradients=16.0 * model.SMALLEST, compute=1.0, backward=1.0, first=0.0, bandwidth=model.SMALLEST / 0.01)
        # 16 buckets, final every 1/16 s, 10 ms each: the last one comes 10 ms after the end.
        self.assertAlmostEqual(model.gradients_there(run, 2), 1.01)
        seconds, shown = model.step(run, 2)
        self.assertAlmostEqual(seconds, 1.01 + 16 * 0.01 / 2)
        self.assertAlmostEqual(shown, seconds - 1)

    def test_a_slow_network_is_the_limit(self):
        run = replace(RUN, bandwidth=1e6)
        owned = 80e6 / 2 * 1  # half of the gradients, from the one other
        self.assertGreater(model.gradients_there(run, 2), owned / 1e6)
        self.assertLess(model.gradients_there(run, 2), 0.4 + 1.2 * owned / 1e6)

    def test_the_slowest_machine_is_waited_for(self):
        run = replace(RUN, bandwidth=math.inf, spread=0.1)
        self.assertAlmostEqual(model.step(run, 8)[0], 0.4 * (1 + 0.1 * math.sqrt(2 * math.log(8))))

    def test_more_machines_are_not_quicker_a_step(self):
        times = [model.step(replace(RUN, latency=30e-6), n)[0] for n in (2, 8, 32, 128)]
        self.assertEqual(times, sorted(times))

    def test_tables_have_a_row_for_each(self):
        lines = model.table(RUN, [8, 16], [10, 100])
        self.assertEqual(len(lines), 4)
        self.assertTrue(lines[2].startswith("| 8 | ") and lines[3].count("%") == 2)


if __name__ == "__main__":
    unittest.main()
