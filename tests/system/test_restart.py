"""A run that was stopped goes on from its checkpoint as if nothing had been: bit for bit, anywhere, in the same files."""

import json
import os
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

from program import DATA, EQUAL, MPIRUN, SystemTest, box_case, sets, tutti
from running import Running, checkpoint, checkpoint_steps, last_step, lines_of, wait_until
from test_same_bits import BOUNDARY, ORDERS, OVERLAPS, PARTS, PHYSICS, PROBE, RANKS, partitioners

USAGE, INPUT, IO = 2, 4, 5
CHECKPOINTS = "[checkpoint]\nevery = {every}\nminutes = 0\nkeep = {keep}\n[report]\nevery = {report}\n"
STEPS, EVERY = 12, 4


def case_of(n=5, physics=PHYSICS, boundary=BOUNDARY, time=f"steps = {STEPS}", every=EVERY, keep=100, report=1, probe=PROBE):
    return box_case(n=n, physics=physics, boundary=boundary, time=time,
                    output=f"every = {EVERY}\n" + probe + CHECKPOINTS.format(every=every, keep=keep, report=report))


def outcome(summary):
    """All that must not depend on the restart."""
    return {name: summary.get(name) for name in ["checksum", "cells", "steps", "time", "dt", "mass", "errors"]}


def reports(folder):
    """metrics.jsonl without what the clock says."""
    lines = [json.loads(line) for line in lines_of(folder / "metrics.jsonl")]
    return [{name: line[name] for name in ["step", "time", "dt", "diagnostics"]} for line in lines]


class RestartTest(SystemTest):
    def go_on(self, source, *options, ranks=None, code=0):
        """tutti run --restart; the summary of the folder it wrote to, or the Result if it must fail."""
        result = tutti("run", "--restart", source, *EQUAL, *options, ranks=ranks, timeout=120)
        self.assertEqual(result.code, code, result.err + result.out)
        if code != 0:
            return result
        self.assertEqual(result.error_lines(), [])
        source = Path(source)
        folder = source if source.is_dir() else source.parent.parent
        if "-o" in options:
            folder = Path(options[options.index("-o") + 1])
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        summary["folder"], summary["out"], summary["err"] = folder, result.out, result.err
        return summary

    def elsewhere(self):
        self.runs += 1
        return self.folder / f"results{self.runs}"

    def copy(self, folder):
        new = self.elsewhere()
        shutil.copytree(folder, new)
        return new


class SameBits(RestartTest):
    """A checkpoint written on one layout, read on another."""

    def check(self, whole, written, step, *options, ranks, **choices):
        with self.subTest(written=written["folder"].name, step=step, ranks=ranks, options=options, **choices):
            source = checkpoint(written["folder"], step)
            summary = self.go_on(source, "-o", self.elsewhere(), *options, *sets(**choices), ranks=ranks)
            self.assertEqual(outcome(summary), outcome(whole))
            self.assertEqual(summary["first_step"], step)
            header, *rows = lines_of(whole["folder"] / "probes.csv")
            self.assertEqual(lines_of(summary["folder"] / "probes.csv"), [header, *rows[step:]])
            return summary

    def test_any_ranks_and_devices(self):
        text = case_of()
        whole = self.run_case(text, "--devices", "cpu", "--threads", "1")
        self.assertEqual(checkpoint_steps(whole["folder"]), [4, 8, 12])
        written = [whole, self.run_case(text, "--devices", "fake:1,cpu", ranks=3),
                   self.run_case(text, "--devices", "fake:3", *sets(partition__method="hilbert"), ranks=1),
                   self.run_case(text, "--devices", "cpu", ranks=7)]
        for other in written[1:]:
            self.assertEqual(outcome(other), outcome(whole))
        methods = partitioners()
        # Every second of all: each number of ranks, each list of devices.
        layouts = [(r, d) for r in RANKS for d in ("cpu", "fake:2,cpu", "fake:3")][::2]
        for k, (ranks, devices) in enumerate(layouts):
            summary = self.check(whole, written[k % len(written)], [4, 8][k % 2], "--devices", devices, "--threads",
                                 [1, 2, 3][k % 3], ranks=ranks, devices__overlap=OVERLAPS[k % 3], devices__fake_seed=k,
                                 partition__method=methods[k % len(methods)], partition__order=ORDERS[k % 5])
            self.assertEqual(len(summary["parts"]), ranks * PARTS[devices])

    def test_tiny_parts(self):
        # A part of a few cells, parts of none, and more parts than cells.
        text = case_of(n=3)
        whole = self.run_case(text)
        small = sets(balance__weights=[0.01, 0, 0.99])
        written = self.run_case(text, "--devices", "fake:2,cpu", *small)
        self.assertEqual(min(part["cells"] for part in written["parts"]), 0)
        self.check(whole, written, 4, "--devices", "fake:2,cpu", ranks=3)
        self.check(whole, whole, 8, "--devices", "fake:2,cpu", *small, ranks=None)
        text = case_of(n=1)
        whole = self.run_case(text)
        self.assertEqual(whole["cells"], 6)
        written = self.run_case(text, "--devices", "fake:2,cpu", *sets(partition__method="hilbert"), ranks=4)
        self.assertEqual(sum(part["cells"] for part in written["parts"]), 6)
        self.check(whole, written, 4, "--devices", "cpu", ranks=None)
        self.check(whole, whole, 8, "--devices", "fake:6", ranks=2)
        self.check(whole, written, 8, "--devices", "cpu", ranks=7)

    def test_other_methods(self):
        for changes in [dict(time__method="rkc2", time__stages=6), dict(numerics__precision="compact"),
                        dict(time__method="rkc2", time__stages=5, numerics__precision="compact")]:
            text, options = case_of(n=4), sets(**changes)
            whole = self.run_case(text, *options)
            written = self.run_case(text, *options, "--devices", "fake:1,cpu", ranks=2)
            self.assertEqual(outcome(written), outcome(whole))
            self.check(whole, written, 4, "--devices", "cpu", ranks=3)
            self.check(whole, whole, 8, "--devices", "fake:2,cpu", ranks=None)

    def test_again_and_again(self):
        # Every few steps on another number of ranks and other devices, in one folder.
        whole = self.run_case(case_of())
        written = self.run_case(case_of(), *sets(time__steps=3))
        for steps, ranks, devices in [(4, 2, "fake:1,cpu"), (7, 3, "cpu"), (8, None, "fake:3"), (11, 4, "cpu")]:
            self.go_on(written["folder"], "--devices", devices, *sets(time__steps=steps), ranks=ranks)
        summary = self.go_on(written["folder"], *sets(time__steps=STEPS))
        self.assertEqual(outcome(summary), outcome(whole))
        self.assertEqual(summary["first_step"], 11)

    def test_the_stored_partition_is_used_again(self):
        # As the same devices are there: rows of one part of the checkpoint go to one part. Seen by what the parts own,
        # when the case asks for another method now.
        text = case_of(n=6)
        written = self.run_case(text, "--devices", "fake:1,cpu", *sets(partition__method="metis"), ranks=2)
        other = self.run_case(text, "--devices", "fake:1,cpu", *sets(partition__method="slabs"), ranks=2)
        ghosts = [part["ghosts"] for part in written["parts"]]
        self.assertNotEqual(ghosts, [part["ghosts"] for part in other["parts"]])
        slabs = sets(partition__method="slabs")
        source = checkpoint(written["folder"], 8)
        again = self.go_on(source, "-o", self.elsewhere(), "--devices", "fake:1,cpu", *slabs, ranks=2)
        self.assertEqual(ghosts, [part["ghosts"] for part in again["parts"]])
        self.assertEqual(outcome(again), outcome(written))
        again = self.go_on(source, "-o", self.elsewhere(), "--devices", "fake:2", *slabs, ranks=2)
        self.assertNotEqual(ghosts, [part["ghosts"] for part in again["parts"]])
        self.assertEqual(outcome(again), outcome(written))

    def test_nothing_is_taken_from_a_device(self):
        # A device that is full after the set-up has room for a checkpoint.
        case = self.write("case.toml", case_of(every=1))
        result = tutti("-v", "run", case, "-o", self.elsewhere(), "--devices", "fake:1", *EQUAL)
        taken = int(result.out.split("memory: part 0 has taken ")[1].split()[0])
        options = ["--devices", "fake:1", *EQUAL, "--fake-memory"]
        result = tutti("run", case, "-o", self.elsewhere(), *options, taken)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(len(checkpoint_steps(self.folder / f"results{self.runs}")), STEPS)
        result = tutti("run", case, "-o", self.elsewhere(), *options, taken - 1)
        self.assert_error(result, 3, "not enough for")


class SameFiles(RestartTest):
    """Histories and results of a run that went on are those of one that never stopped."""

    def assert_same_results(self, found, whole, but=()):
        for name in ["probes.csv", "results.pvd"]:
            self.assertEqual((found / name).read_text(), (whole / name).read_text(), name)
        self.assertEqual(reports(found), reports(whole))
        names = sorted(path.name for path in (whole / "fields").iterdir())
        self.assertEqual(sorted(path.name for path in (found / "fields").iterdir()), names)
        for name in names:
            self.assertEqual((found / "fields" / name).read_bytes(), (whole / "fields" / name).read_bytes(), name)

    def test_stopped_early(self):
        for ranks, devices in [(None, "cpu"), (3, "fake:1,cpu")]:
            with self.subTest(ranks=ranks):
                options = ["--devices", devices]
                whole = self.run_case(case_of(), *options, ranks=ranks)
                part = self.run_case(case_of(), *options, *sets(time__steps=8), ranks=ranks)
                summary = self.go_on(part["folder"], *options, *sets(time__steps=STEPS), ranks=ranks)
                self.assert_same_results(part["folder"], whole["folder"])
                self.assertEqual(outcome(summary), outcome(whole))

    def test_killed_later_than_its_checkpoint(self):
        # Results and histories of steps behind the checkpoint are there already, the last line half written.
        whole = self.run_case(case_of())
        for ranks in [None, 3]:
            folder = self.copy(whole["folder"])
            for step in (8, 12):
                checkpoint(folder, step).unlink()
            for name in ("probes.csv", "metrics.jsonl"):
                with open(folder / name, "ab") as file:
                    file.write(b'{"step":13,"ti')
            (folder / "summary.json").unlink()
            checkpoint(folder, 16).with_suffix(".h5.tmp").write_bytes(b"half")
            # The parts that write fields/ are those of this run; with one part a file, names differ.
            summary = self.go_on(folder, ranks=ranks)
            self.assertEqual(outcome(summary), outcome(whole))
            self.assertEqual(reports(folder), reports(whole["folder"]))
            for name in ["probes.csv", "results.pvd"]:
                self.assertEqual((folder / name).read_text(), (whole["folder"] / name).read_text())
            if ranks is None:
                self.assert_same_results(folder, whole["folder"])
            self.assertEqual(sorted(path.name for path in (folder / "checkpoints").iterdir()),
                             [checkpoint(folder, step).name for step in (4, 8, 12)])

    def test_histories_that_were_lost(self):
        # They begin anew; the run does not fail for that.
        whole = self.run_case(case_of())
        folder = self.copy(whole["folder"])
        checkpoint(folder, 12).unlink()
        checkpoint(folder, 8).unlink()
        for name in ("probes.csv", "metrics.jsonl", "results.pvd"):
            (folder / name).unlink()
        self.assertEqual(outcome(self.go_on(folder)), outcome(whole))
        self.assertEqual(reports(folder), reports(whole["folder"])[4:])

    def test_another_folder(self):
        whole = self.run_case(case_of())
        before = {path: path.read_bytes() for path in whole["folder"].rglob("*") if path.is_file()}
        # From a results folder, its checkpoints/, a file; with the case file or without it.
        for source in [whole["folder"], whole["folder"] / "checkpoints", checkpoint(whole["folder"], 8)]:
            summary = self.go_on(source, "-o", self.elsewhere())
            self.assertEqual(summary["checksum"], whole["checksum"])
            self.assertEqual(summary["first_step"], 8 if source.is_file() else STEPS)
        case = self.write("again.toml", "# the same, with a remark\n" + case_of())
        new = self.elsewhere()
        result = tutti("run", case, "--restart", checkpoint(whole["folder"], 8), "-o", new, *EQUAL)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(json.loads((new / "summary.json").read_text())["checksum"], whole["checksum"])
        self.assertEqual(before, {path: path.read_bytes() for path in whole["folder"].rglob("*") if path.is_file()})
        # Results of another run are not overwritten.
        result = self.go_on(checkpoint(whole["folder"], 8), "-o", new, code=USAGE)
        self.assert_error(result, USAGE, "--overwrite")
        self.go_on(checkpoint(whole["folder"], 8), "-o", new, "--overwrite")
        self.assertEqual(reports(new), reports(whole["folder"])[8:])

    def test_keep(self):
        for keep in (1, 2, 3):
            summary = self.run_case(case_of(n=2, keep=keep, every=2))
            self.assertEqual(checkpoint_steps(summary["folder"]), [2, 4, 6, 8, 10, 12][-keep:])
        # At the end, too, even when it is no multiple, and when nobody asked for one.
        summary = self.run_case(case_of(n=2, every=5))
        self.assertEqual(checkpoint_steps(summary["folder"]), [5, 10, 12])
        summary = self.run_case(case_of(n=2, every=0))
        self.assertEqual(checkpoint_steps(summary["folder"]), [12])

    def test_by_the_clock(self):
        case = self.write("case.toml", case_of(n=3, time="steps = 100000000", every=0, report=100))
        folder = self.elsewhere()
        with Running(self.folder, "-q", "run", case, "-o", folder, "--threads", "1", *EQUAL, *sets(checkpoint__minutes=0.01, output__every=0,
                                                                                 output__probe_every=1000)) as running:
            first = wait_until(lambda: checkpoint_steps(folder), "a checkpoint by time")
            wait_until(lambda: checkpoint_steps(folder)[-1] > first[0], "another one")
            running.signal(signal.SIGTERM)
            self.assertEqual(running.wait().code, 0)

    def test_an_older_one(self):
        # Going on from an older checkpoint gives up what came after it.
        whole = self.run_case(case_of(keep=2, every=2))
        self.assertEqual(checkpoint_steps(whole["folder"]), [10, 12])
        self.go_on(checkpoint(whole["folder"], 10), *sets(time__steps=11))
        self.assertEqual(checkpoint_steps(whole["folder"]), [10, 11])
        self.assertEqual(reports(whole["folder"])[-1]["step"], 11)
        summary = self.go_on(whole["folder"], *sets(time__steps=12))
        self.assertEqual((summary["first_step"], summary["checksum"]), (11, whole["checksum"]))


class TheEnd(RestartTest):
    def test_nothing_is_left(self):
        whole = self.run_case(case_of())
        result = tutti("run", "--restart", whole["folder"], *EQUAL)
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("nothing is left to do; continue with a later --set time.steps=N", result.err)
        summary = json.loads((whole["folder"] / "summary.json").read_text())
        self.assertEqual((summary["checksum"], summary["steps"]), (whole["checksum"], STEPS))
        self.assertEqual(len(reports(whole["folder"])), STEPS)

    def test_a_finished_run_goes_on(self):
        # Without a word on checkpoints in the case: the last state is there, unless a key turns that off.
        text = box_case(n=4, physics=PHYSICS, boundary=BOUNDARY, time="steps = 6", output="")
        whole, part = self.run_case(text, *sets(time__steps=9)), self.run_case(text)
        self.assertEqual(checkpoint_steps(part["folder"]), [6])
        longer = self.go_on(part["folder"], *sets(time__steps=9))
        self.assertEqual(longer["first_step"], 6)
        self.assertEqual(outcome(longer), outcome(whole))
        none = self.run_case(text, *sets(checkpoint__at_end=False))
        self.assertEqual(checkpoint_steps(none["folder"]), [])

    def test_more_steps(self):
        whole = self.run_case(case_of(), *sets(time__steps=20))
        part = self.run_case(case_of())
        self.assertEqual(outcome(self.go_on(part["folder"], *sets(time__steps=20), ranks=2)), outcome(whole))

    def test_a_later_end_is_reached_as_from_the_start(self):
        text = case_of(time="end = 0.004")
        whole, part = self.run_case(text, *sets(time__end=0.0105)), self.run_case(text)
        step = max(s for s in checkpoint_steps(part["folder"]) if s < part["steps"])
        later = self.go_on(checkpoint(part["folder"], step), "-o", self.elsewhere(), *sets(time__end=0.0105))
        self.assertEqual(outcome(later), outcome(whole))

    def test_a_history_without_lines_of_an_earlier_end(self):
        text, every = case_of(time="steps = 6"), sets(output__history_every=4)
        whole, part = self.run_case(text, *every, *sets(time__steps=12)), self.run_case(text, *every)
        self.go_on(part["folder"], *sets(time__steps=12))
        lines = [(folder / "history.csv").read_text(encoding="utf-8") for folder in (whole["folder"], part["folder"])]
        self.assertEqual(*lines)

    def test_a_later_end(self):
        text = case_of(time="end = 0.004")
        part = self.run_case(text)
        self.assertAlmostEqual(part["time"], 0.004, delta=1e-17)
        later = self.go_on(part["folder"], *sets(time__end=0.0105), ranks=2)
        self.assertEqual(later["first_step"], part["steps"])
        self.assertAlmostEqual(later["time"], 0.0105, delta=1e-17)
        self.assertLessEqual(later["dt"], part["dt"] * (1 + 1e-12))
        self.assertGreater(later["steps"], part["steps"])
        # The plan is kept: a restart of the longer run meets the same end with the same steps.
        again = self.go_on(checkpoint(part["folder"], later["steps"] // 4 * 4), "-o", self.elsewhere())
        self.assertEqual(outcome(again), outcome(later))
        # An end that is behind: no step.
        result = tutti("run", "--restart", part["folder"], *EQUAL, *sets(time__end=0.001))
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("nothing is left to do; continue with a later --set time.end=T", result.err)


class Mismatch(RestartTest):
    def test_a_key_of_the_case(self):
        text = case_of()
        written = self.run_case(text)
        source = checkpoint(written["folder"], 8)
        for change, now, before in [("physics.source=\"0\"", "0", r"sin\(x"), ("mesh.jitter=0.1", "0.1", "0.2"),
                                    ("time.dt=1e-5", "1e-0?5", "nothing|auto"), ("numerics.precision=\"compact\"", "compact", "double"),
                                    ("mesh.cubes=[5,5,6]", r"\[5, ?5, ?6\]", r"\[5, ?5, ?5\]")]:
            for ranks in [None, 3] if change.startswith("mesh.jitter") else [None]:
                with self.subTest(change=change, ranks=ranks):
                    key = change.split("=")[0]
                    result = self.go_on(source, "-o", self.elsewhere(), "--set", change, ranks=ranks, code=INPUT)
                    self.assert_error(result, INPUT, rf"--set.*: {key} is now .*{now}.*written with .*({before})", "start a new run")
                    self.assertFalse((self.folder / f"results{self.runs}").exists())
        case = self.write("other.toml", text.replace('"1+y*t"', '"2+y*t"'))
        result = tutti("run", case, "--restart", source, "-o", self.elsewhere(), *EQUAL)
        self.assert_error(result, INPUT, r"other\.toml:\d+:\d+: boundary.*value is now .*2\+y\*t.*, but the checkpoint .* was written with .*1\+y\*t")
        # Who computes and what is said may change.
        summary = self.go_on(source, "-o", self.elsewhere(), "--set", "report.every=2", "--set", "output.every=3", "--set",
                             "checkpoint.keep=5", "--set", 'partition.order="rcm"', "--set", "devices.threads=1")
        self.assertEqual(outcome(summary), outcome(written))

    def test_another_mesh(self):
        text = ('model = "diffusion"\n[mesh]\nfile = "{}"\n[physics]\nK = 1\ninitial = "x*y+z"\n[time]\nsteps = 10\n' +
                CHECKPOINTS.format(every=4, keep=9, report=1))
        mesh = self.folder / "a.msh"
        shutil.copy(DATA / "mesh" / "two_boxes_v22_ascii.msh", mesh)
        written = self.run_case(text.format(mesh))
        source = checkpoint(written["folder"], 4)
        # It may have moved.
        moved = self.folder / "b.msh"
        mesh.rename(moved)
        summary = self.go_on(source, "-o", self.elsewhere(), "--set", f'mesh.file="{moved}"', ranks=2)
        self.assertEqual(outcome(summary), outcome(written))
        # A vertex has moved by the last digit.
        lines = moved.read_text().split("\n")
        at = lines.index("$Nodes") + 2
        while not any("." in word for word in lines[at].split()[1:]):
            at += 1
        words = lines[at].split()
        k = next(i for i, word in enumerate(words) if i > 0 and "." in word)
        words[k] = repr(float(words[k]) * (1 + 3e-16) or 3e-16)
        self.assertNotEqual(" ".join(words), lines[at])
        lines[at] = " ".join(words)
        moved.write_text("\n".join(lines))
        for ranks in (None, 3):
            result = self.go_on(source, "-o", self.elsewhere(), "--set", f'mesh.file="{moved}"', ranks=ranks, code=INPUT)
            self.assert_error(result, INPUT, r"the mesh has changed: \d+ cells with checksum [0-9a-f]{16} now, \d+ with "
                              r"[0-9a-f]{16} in the checkpoint", "step-000000000004.h5")

    def test_there_is_none(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for ranks in (None, 3):
            self.assert_error(self.go_on(empty, ranks=ranks, code=IO), IO, "empty: it contains no checkpoint", "start a new run")
            self.assert_error(self.go_on(self.folder / "none", ranks=ranks, code=IO), IO, "none: there is no such")
        case = self.write("case.toml", case_of())
        self.assert_error(self.go_on(case, code=INPUT), INPUT, r"case\.toml: byte 0: not a checkpoint of tutti")
        result = tutti("run", case, "-o", self.elsewhere(), "--fallback")
        self.assert_error(result, USAGE, "--fallback belongs to --restart")


class Fallback(RestartTest):
    def damage(self, path, at=None):
        content = bytearray(path.read_bytes())
        content[at if at is not None else len(content) // 2] ^= 4
        path.write_bytes(content)

    def test_the_one_before(self):
        whole = self.run_case(case_of())
        for ranks in (None, 3):
            folder = self.copy(whole["folder"])
            self.damage(checkpoint(folder, 12))
            self.assert_error(self.go_on(folder, ranks=ranks, code=INPUT), INPUT, r"step-000000000012\.h5: the checkpoint is "
                              r"damaged: bytes \d+ to \d+", "--fallback")
            summary = self.go_on(folder, "--fallback", ranks=ranks)
            self.assertIn("step-000000000012.h5", summary["err"])
            self.assertIn("trying the previous one", summary["err"])
            self.assertEqual(summary["first_step"], 8)
            self.assertEqual(outcome(summary), outcome(whole))
            self.assertEqual(reports(folder), reports(whole["folder"]))
            # The damaged one has been written anew.
            self.assertEqual(self.go_on(folder, ranks=ranks)["first_step"], STEPS)

    def test_none_is_whole(self):
        whole = self.run_case(case_of())
        folder = self.copy(whole["folder"])
        for step in (4, 8, 12):
            self.damage(checkpoint(folder, step), at=100 * step)
        for ranks in (None, 3):
            self.assert_error(self.go_on(folder, "--fallback", ranks=ranks, code=INPUT), INPUT, r"step-000000000004\.h5")
        # A file that is named is the one that is meant.
        self.assert_error(self.go_on(checkpoint(folder, 12), "--fallback", code=INPUT), INPUT, r"step-000000000012\.h5")


class Stop(RestartTest):
    """Every way to end a run early ends it in order, and the run goes on bit for bit."""

    OPTIONS = [*EQUAL, "--threads", "1", *sets(output__every=0, output__probe_every=500)]

    def start(self, folder, *options, n=4, ranks=None, report=10):
        case = self.write("case.toml", case_of(n=n, time="steps = 100000000", every=0, report=report))
        return Running(self.folder, "run", case, "-o", folder, *self.OPTIONS, *options, ranks=ranks)

    def assert_stopped(self, running, folder, ranks=None, first=0):
        result = running.wait(60)
        self.assertEqual(result.code, 0, result.err[-2000:] + result.out[-2000:])
        self.assertEqual(result.error_lines(), [])
        summary = json.loads((folder / "summary.json").read_text())
        steps = summary["steps"]
        self.assertTrue(summary["stopped"])
        self.assertGreater(steps, first)
        self.assertRegex(result.out[-500:], rf"stopped after step {steps} of 100000000, t = \S+; continue with: tutti run --restart "
                         + str(folder))
        self.assertEqual(checkpoint_steps(folder)[-1], steps)
        return steps

    def assert_goes_on(self, folder, steps, ranks=None):
        whole = self.run_case(case_of(n=4, time=f"steps = {steps + 3}", every=0, report=1000), *self.OPTIONS)
        summary = self.go_on(folder, *sets(time__steps=steps + 3), ranks=ranks)
        self.assertEqual(summary["first_step"], steps)
        self.assertFalse(summary["stopped"])
        self.assertEqual(outcome(summary), outcome(whole))

    def stop(self, how, ranks=None, go_on_ranks=None):
        folder = self.elsewhere()
        with self.start(folder, ranks=ranks) as running:
            wait_until(lambda: last_step(folder) > 20, "some steps")
            how(running, folder)
            steps = self.assert_stopped(running, folder, first=20)
        self.assert_goes_on(folder, steps, go_on_ranks)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(signal=number):
                self.stop(lambda running, _: running.signal(number), go_on_ranks=2)

    def test_a_signal_to_one_rank(self):
        self.stop(lambda running, _: running.signal(signal.SIGTERM, running.ranks()[-1]), ranks=3)

    def test_a_signal_to_mpirun(self):
        # mpirun passes SIGUSR1 on; Open MPI's does.
        version = subprocess.run([MPIRUN[0], "--version"], capture_output=True, text=True, check=False).stdout
        if "Open" not in version:
            self.skipTest("this mpirun keeps SIGUSR1 for itself")
        self.stop(lambda running, _: running.signal(signal.SIGUSR1), ranks=3, go_on_ranks=2)

    def test_a_file(self):
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                self.stop(lambda _, folder: (folder / "stop").touch(), ranks=ranks)
                self.assertFalse(list(self.folder.glob("results*/stop")), "the next run would be stopped by it")

    def test_in_the_set_up(self):
        # From the moment that the signals are caught; then the set-up has only begun.
        def caught(running):
            for pid in running.ranks():
                status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
                mask = int(status["SigCgt"], 16)
                if all(mask >> (number - 1) & 1 for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)):
                    return pid
            return None

        for number in (signal.SIGTERM, signal.SIGUSR1):
            folder = self.elsewhere()
            with self.start(folder, n=24) as running:
                wait_until(lambda r=running: caught(r), "the signals are caught")
                running.signal(number)
                self.assertEqual(self.assert_stopped(running, folder), 1)
            self.assertEqual(self.go_on(folder, *sets(time__steps=2))["first_step"], 1)
        # The second SIGINT kills, however long the set-up takes.
        with self.start(self.elsewhere(), n=40) as running:
            wait_until(lambda: caught(running), "the signals are caught")
            running.signal(signal.SIGINT)
            wait_until(lambda: not caught(running), "the first one has come", 30)
            running.signal(signal.SIGINT)
            self.assertEqual(running.wait().code, -signal.SIGINT)

    def test_a_run_that_went_on(self):
        folder = self.elsewhere()
        with self.start(folder) as running:
            wait_until(lambda: last_step(folder) > 20, "some steps")
            (folder / "stop").touch()
            steps = self.assert_stopped(running, folder, first=20)
        with Running(self.folder, "run", "--restart", folder, *self.OPTIONS, ranks=2) as running:
            wait_until(lambda: last_step(folder) > steps + 20, "some more steps")
            (folder / "stop").touch()
            again = self.assert_stopped(running, folder, first=steps + 20)
        self.assert_goes_on(folder, again)


if __name__ == "__main__":
    unittest.main()
