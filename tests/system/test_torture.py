"""The driver of scripts/torture.sh: trials follow from the seed, and one that fails is counted, told and kept."""

import contextlib
import io
import random
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

from program import SystemTest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "torture"))
import damage  # noqa: E402
import memory  # noqa: E402
import torture  # noqa: E402


class Driver(SystemTest):
    def kind(self, trial, jobs=2):
        options = types.SimpleNamespace(seed=7, build=Path("build"), jobs=jobs, long=False, trial=None)
        with mock.patch.dict(sys.modules, {"some": types.SimpleNamespace(SHORT=6, LONG=9, trial=trial)}):
            kind = torture.Kind("some", options, self.folder)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            kind.run()
        return kind, said.getvalue()

    def test_all_survive(self):
        kind, said = self.kind(lambda trial: "good")
        self.assertRegex(said, r"^some +tried +6 +survived +6 +failed +0 ")
        self.assertEqual(kind.figures()["ends"], {"good": 6})
        self.assertEqual(list(self.folder.iterdir()), [], "their folders go")

    def test_some_fail(self):
        def trial(t):
            if t.number == 2:
                raise AssertionError("other bits")
            if t.number == 4:
                raise OSError("a bug of the trial itself")
            return "good"

        kind, said = self.kind(trial)
        self.assertRegex(said, r"some +tried +6 +survived +4 +failed +2 ")
        self.assertIn("some 2 failed: other bits", said)
        self.assertIn("repeat: scripts/torture.sh --build build --only some --seed 7 --trial 2", said)
        self.assertIn("a bug of the trial itself", said)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["some-2", "some-4"])
        self.assertEqual([failure["trial"] for failure in kind.figures()["failures"]], [2, 4])
        report = {"kinds": {"some": kind.figures()}, "tried": 1006, "survived": 1004, "failed": 2}
        self.assertEqual(torture.table(report).split("\n")[2:], ["| some | 6 | 4 | 2 |", "| all | 1,006 | 1,004 | 2 |"])

    def test_a_seed_decides(self):
        drawn = [[], []]
        for numbers in drawn:
            self.kind(lambda trial, to=numbers: to.append(trial.dice.random()), jobs=1)
        self.assertEqual(*drawn)
        self.assertEqual(len(set(drawn[0])), 6)

    def test_damage(self):
        content = bytes(range(256)) * 40
        seen = {damage.damaged(content, random.Random(k), content[::-1]) for k in range(200)}
        self.assertGreater(len(seen), 150)
        self.assertEqual(damage.damaged(content, random.Random(3)), damage.damaged(content, random.Random(3)))
        for k in range(200):  # nothing to damage
            damage.damaged(b"", random.Random(k), b"")
            damage.damaged(b"a", random.Random(k), b"b")

    def test_limits_are_spread(self):
        for count in (8, 100):
            values = sorted(memory.fraction(k) for k in range(count))
            self.assertEqual((values[0], len(set(values))), (0, count))
            self.assertLess(max(b - a for a, b in zip(values, values[1:])), 2 / count)


if __name__ == "__main__":
    unittest.main()
