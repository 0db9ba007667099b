"""What breaks while a run goes on: killed programs, full and broken disks, numbers that are none, ranks, memory, devices.

Each ends in order, with one line and the right code, and the run goes on from a whole checkpoint. TUTTI_FAIL_WRITE, set by
CTest, is the library made of fail_write.cpp.
"""

import errno
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import EQUAL, MPIRUN, PROGRAM, SystemTest, box_case, run, sets, tutti
from running import Running, checkpoint, checkpoint_steps, last_step, wait_until
from test_restart import RestartTest, case_of, outcome

RESOURCE, INPUT, IO, NUMERICAL, PEER = 3, 4, 5, 6, 7
SECONDS = 20  # a rank that waits for one that is gone waits longer
FAIL_WRITE = os.environ.get("TUTTI_FAIL_WRITE", "")


def small_case(every=4, steps=12, n=3, keep=2, wait=False, report=1):
    text = case_of(n=n, time=f"steps = {steps}", every=every, keep=keep, report=report)
    return text.replace("[checkpoint]", f"[checkpoint]\nwait = {str(wait).lower()}")


def with_environment(environment, *arguments, ranks=None, timeout=SECONDS):
    """tutti with more environment variables; mpirun itself does not get them."""
    start = [] if ranks is None else [*MPIRUN, "-np", str(ranks)]
    settings = [f"{name}={value}" for name, value in environment.items()]
    return run([*start, "env", *settings, PROGRAM, *map(str, arguments)], timeout)


class Killed(RestartTest):
    """kill -9 at random moments: each time, a checkpoint is there that can be loaded, and it is not too old. (Hundreds of
    them: scripts/torture.sh.)"""

    EVERY = 10
    OPTIONS = [*EQUAL, *sets(output__every=0, output__probe_every=50, mesh__jitter=0.2)]

    def kill(self, running, dice):
        """All ranks at once, or now and then one, which mpirun must notice."""
        ranks = running.ranks()
        for pid in ranks if len(ranks) < 2 or dice.random() < 0.8 else [dice.choice(ranks)]:
            running.signal(signal.SIGKILL, pid)
        wait_until(lambda: not running.ranks(), "all ranks are gone")
        try:
            self.assertNotEqual(running.process.wait(20), 0)
        except subprocess.TimeoutExpired:
            # Open MPI's mpirun may wait for ever for a rank that was killed while it was connecting to it.
            running.signal(signal.SIGKILL, running.pid)
            running.process.wait()

    def chain(self, kills, ranks, wait, seed):
        dice = random.Random(seed)
        folder = self.elsewhere()
        case = self.write("case.toml", small_case(every=self.EVERY, steps=100000000, wait=wait))
        arguments = ["run", case, "-o", folder, *self.OPTIONS]
        newest = 0
        for k in range(kills):
            with self.subTest(kill=k, ranks=ranks, wait=wait), Running(self.folder, "-q", *arguments, ranks=ranks) as running:
                # A new checkpoint shows that the one before was loaded. Every fifth run is killed in its set-up.
                if k == 0 or k % 5:
                    wait_until(lambda before=newest, r=running: checkpoint_steps(folder)[-1:] > [before] or
                               r.process.poll() is not None, "a new checkpoint")
                    time.sleep(dice.random() * 0.05)
                else:
                    wait_until(lambda r=running: len(r.ranks()) == (ranks or 1), "it has begun")
                    time.sleep(dice.random() * 0.2)
                self.assertIsNone(running.process.poll(), f"the checkpoint of step {newest}: " + running.said())
                self.kill(running, dice)
                done = last_step(folder)  # surely; the checkpoint of a step comes behind its report
                found = checkpoint_steps(folder)
                self.assertGreaterEqual(found[-1], newest, "a checkpoint is lost")
                newest = found[-1]
                # What was begun when the step before was done is whole; beside the steps, what was begun before that.
                least = (done - 1) // self.EVERY * self.EVERY - (0 if wait else self.EVERY)
                self.assertGreaterEqual(newest, least, f"killed after step {done}")
                # Two are kept; each of two kills in a row may have come between a new name and the oldest's removal.
                self.assertLessEqual(len(found), 4, "the oldest goes when the newest has its name")
                self.assertLessEqual(len(list((folder / "checkpoints").iterdir())), 5, "leftovers pile up")
            arguments = ["run", "--restart", folder, *self.OPTIONS]
        # After all of it, the bits of a run that was never killed.
        steps = newest + 7
        summary = self.go_on(folder, *self.OPTIONS, *sets(time__steps=steps))
        self.assertEqual(summary["first_step"], newest)
        self.assertEqual(list((folder / "checkpoints").glob("*.tmp")), [])
        whole = self.run_case(small_case(every=0, steps=steps, report=100000), *self.OPTIONS)
        self.assertEqual(outcome(summary), outcome(whole))

    def test_one_process(self):
        self.chain(20, None, wait=False, seed=1)

    def test_one_process_that_waits(self):
        self.chain(8, None, wait=True, seed=2)

    def test_three_ranks(self):
        self.chain(8, 3, wait=False, seed=3)


class FullDisk(RestartTest):
    def test_a_small_disk(self):
        # 6 MiB, in a mount name space of its own: the results of the start, then checkpoints of 1.1 MiB each.
        disk = self.folder / "disk"
        kept = self.folder / "kept"
        disk.mkdir()
        case = self.write("case.toml", box_case(n=23, time="steps = 40", output="every = 0\n[checkpoint]\nevery = 2\nminutes = 0\n"
                                                "keep = 100\n[report]\nevery = 1"))
        script = ('mount -t tmpfs -o size=6m none "$0" || exit 99; KEPT="$1"; shift; "$@"; CODE=$?; '
                  'mkdir "$KEPT"; cp -r "$0"/results/checkpoints "$KEPT"; exit $CODE')
        apart = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                start = [] if ranks is None else [*MPIRUN, "-np", str(ranks)]
                shutil.rmtree(kept, ignore_errors=True)
                result = run([*apart, "sh", "-c", script, str(disk), str(kept), *start, PROGRAM, "run", str(case), "-o",
                              str(disk / "results"), *EQUAL], timeout=120)
                if result.code in (1, 99) and not result.error_lines():
                    self.skipTest("no file system may be mounted here: " + result.err.strip())
                self.assert_error(result, IO, r"disk/results/checkpoints/step-\d{12}\.h5\.tmp: a checkpoint of \d{7} bytes cannot "
                                  "be written: No space left on device", "free space")
                steps = checkpoint_steps(kept)
                self.assertGreaterEqual(len(steps), 2)
                self.assertEqual(steps, list(range(2, 2 * len(steps) + 1, 2)))
                self.assertEqual(list((kept / "checkpoints").glob("*.tmp")), [], "half a checkpoint takes the space")
                summary = self.go_on(kept, *sets(time__steps=steps[-1] + 1))
                self.assertEqual(summary["first_step"], steps[-1])


@unittest.skipUnless(FAIL_WRITE, "TUTTI_FAIL_WRITE names no library")
class BrokenDisk(RestartTest):
    """A run that goes on from step 4 to step 8; the disk breaks while it writes the checkpoint of step 8."""

    def setUp(self):
        super().setUp()
        self.before = self.run_case(small_case(), *sets(time__steps=4))["folder"]
        self.good = checkpoint(self.before, 4).read_bytes()
        self.after = outcome(self.run_case(small_case(every=0), *sets(time__steps=9)))

    def go_on_with(self, ranks=None, **failure):
        """The Result, the folder, and what has failed."""
        folder, log = self.copy(self.before), self.folder / "failed.txt"
        log.unlink(missing_ok=True)
        environment = {"LD_PRELOAD": FAIL_WRITE, "FAIL_PATH": f"{folder.name}/checkpoints", "FAIL_LOG": log, **failure}
        result = with_environment(environment, "run", "--restart", folder, *EQUAL, *sets(time__steps=8), ranks=ranks)
        self.assertEqual(checkpoint(folder, 4).read_bytes(), self.good, "the old checkpoint stays as it is")
        return result, folder, log.read_text() if log.exists() else ""

    def assert_kept(self, folder):
        summary = self.go_on(folder, *sets(time__steps=8))
        self.assertIn(summary["first_step"], [4, 8])
        return summary

    def assert_new(self, folder):
        """The checkpoint of step 8 is there, whole, and right."""
        self.assertEqual(checkpoint_steps(folder), [4, 8])
        summary = self.go_on(checkpoint(folder, 8), "-o", self.elsewhere(), *sets(time__steps=9))
        self.assertEqual((summary["first_step"], outcome(summary)), (8, self.after))

    def at_every_call(self, *errors, ranks=None, **failure):
        """The errors in turn."""
        calls = []
        while True:
            k = len(calls) + 1
            error = errors[k % len(errors)]
            with self.subTest(call=k, error=error, ranks=ranks):
                result, folder, failed = self.go_on_with(ranks, FAIL_AT=k, FAIL_ERRNO=error, **failure)
                if not failed:
                    self.assertEqual(result.code, 0, result.err)
                    self.assert_new(folder)
                    return calls
                call, path = failed.split("\n")[0].split(" ", 1)
                calls.append(call)
                if result.code == 0:
                    # HDF5 may look whether a file is there by opening it, and may write again what was not taken.
                    self.assertIn(call, ["open", "open64", "pwrite", "pwrite64"])
                    self.assert_new(folder)
                    continue
                self.assert_error(result, IO, re.escape(f"{folder}/checkpoints"), re.escape(os.strerror(error)))
                if call not in ("open", "mkdir") and path.endswith(".tmp"):
                    self.assertRegex(result.error_lines()[0], r"\b\d+ bytes", call)
                self.assertEqual(list((folder / "checkpoints").glob("*.tmp")), [], call)
                self.assert_kept(folder)
            self.assertLess(k, 200)
            if len(calls) < k:  # the subtest has failed before it knew
                calls.append("?")

    def test_an_error_at_every_call(self):
        calls = self.at_every_call(errno.EIO, errno.ENOSPC)
        for call, least in {"open": 3, "pwrite": 5, "fsync": 3, "fallocate": 1, "close": 2, "rename": 1}.items():
            self.assertGreaterEqual(sum(c.startswith(call) for c in calls), least, calls)

    def test_one_rank_of_three(self):
        calls = self.at_every_call(errno.EIO, ranks=3, FAIL_RANK=2)
        # The first: every rank looks which checkpoints are there.
        self.assertEqual([c for c in calls if c != "pwrite"], ["open", "open", "fsync", "close"], calls)

    def test_full_after_some_bytes(self):
        size = len(self.good)
        for ranks, room, rank in [(None, 0, -1), (None, 1000, -1), (None, size // 2, -1), (None, size * 3 // 4, -1), (3, 500, 1)]:
            with self.subTest(ranks=ranks, room=room):
                result, folder, failed = self.go_on_with(ranks, FAIL_BYTES=room, FAIL_RANK=rank)
                self.assertTrue(failed)
                self.assert_error(result, IO, r"step-000000000008\.h5\.tmp: ", r"\b\d+ bytes", "No space left on device")
                self.assertEqual(checkpoint_steps(folder), [4])
                self.assertEqual(self.assert_kept(folder)["first_step"], 4)

    def test_half_of_each_write(self):
        # No error: what is not taken is written again.
        for ranks in (None, 3):
            result, folder, _ = self.go_on_with(ranks, FAIL_ERRNO=0)
            self.assertEqual(result.code, 0, result.err)
            self.assert_new(folder)

    def test_half_of_each_write_of_any_file(self):
        for arguments in ([self.write("case.toml", small_case(steps=4))], ["--restart", self.copy(self.before)]):
            folder = self.elsewhere()
            result = with_environment({"LD_PRELOAD": FAIL_WRITE, "FAIL_PATH": f"{folder.name}/", "FAIL_ERRNO": 0},
                                      "run", *arguments, "-o", folder, *EQUAL, *sets(time__steps=8))
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(outcome(self.go_on(folder, *sets(time__steps=9))), self.after)

    def test_half_of_each_write_of_long_arrays(self):
        # Long enough to pass the system's cache, where what is left of a half fits no block any more.
        folder = self.elsewhere()
        case = self.write("long.toml", small_case(n=32, every=1, steps=1, wait=True))
        result = with_environment({"LD_PRELOAD": FAIL_WRITE, "FAIL_PATH": f"{folder.name}/checkpoints", "FAIL_ERRNO": 0},
                                  "run", case, "-o", folder, *EQUAL, timeout=60)
        self.assertEqual(result.code, 0, result.err)
        self.assertGreater(checkpoint(folder, 1).stat().st_size, 3 << 20)
        other = self.run_case(small_case(n=32, every=0, steps=2))
        self.assertEqual(outcome(self.go_on(folder, *sets(time__steps=2))), outcome(other))


class Damaged(RestartTest):
    def test_over_three_ranks(self):
        # All places and bits are the business of mpi_checkpoint_damage; this is how the program says it.
        whole = self.run_case(small_case(), ranks=3)
        good = checkpoint(whole["folder"], 12).read_bytes()
        dice = random.Random(4)
        damages = [good[:0], good[:4096], good + b"\0", b"\0" * len(good)]
        for at in [40, dice.randrange(512, len(good))]:
            damages.append(good[:at] + bytes([good[at] ^ 1 << dice.randrange(8)]) + good[at + 1:])
        for k, content in enumerate(damages):
            with self.subTest(damage=k):
                folder = self.copy(whole["folder"])
                checkpoint(folder, 12).write_bytes(content)
                result = tutti("run", "--restart", folder, *EQUAL, ranks=3, timeout=SECONDS)
                self.assert_error(result, INPUT, r"step-000000000012\.h5: ")
                self.assertEqual(checkpoint(folder, 12).read_bytes(), content)
                if k % 3 == 0:
                    summary = self.go_on(folder, "--fallback", ranks=3)
                    self.assertEqual((summary["first_step"], outcome(summary)), (8, outcome(whole)))


class NotFinite(RestartTest):
    # In one corner, from t = 2500 on, the source makes more of a step than a double can hold: the step that begins at
    # 2600 is the first bad one.
    DT, FIRST_BAD = 200, 14
    PHYSICS = 'K = 1e-6\ninitial = "x"\nsource = "1.7e308*step(t-2500)*step(x-0.8)*step(y-0.8)"'

    def case(self, report, every):
        return case_of(n=4, physics=self.PHYSICS, boundary="", time=f"steps = 100\ndt = {self.DT}", every=every, report=report,
                       probe="")

    def test_found_at_the_next_report(self):
        for ranks, report in [(None, 1), (None, 7), (3, 7)]:
            with self.subTest(ranks=ranks, report=report):
                folder = self.elsewhere()
                case = self.write("case.toml", self.case(report, every=3))
                options = [*EQUAL, *sets(output__every=0)]
                # A run that ends before leaves the good checkpoint.
                good = tutti("run", case, "-o", folder, *options, *sets(time__steps=6), ranks=ranks)
                self.assertEqual(good.code, 0, good.err)
                before = {path.name: path.read_bytes() for path in (folder / "checkpoints").iterdir()}
                result = tutti("run", "--restart", folder, *options, *sets(checkpoint__every=0, time__steps=100),
                               ranks=ranks, timeout=SECONDS)
                self.assert_error(result, NUMERICAL, r"field 'u' is (inf|nan|-inf) in cell \d+ \(rank \d, part \d\) at time \S+, "
                                  r"step \d+; lower time.dt", "the last good state is in .*checkpoints")
                step = int(re.search(r"step (\d+);", result.error_lines()[0]).group(1))
                self.assertGreaterEqual(step, self.FIRST_BAD)
                self.assertLess(step, self.FIRST_BAD + report)
                self.assertEqual(before, {path.name: path.read_bytes() for path in (folder / "checkpoints").iterdir()})

    def test_never_in_a_checkpoint(self):
        # Nobody reports, so the checkpoint is the first to look.
        for ranks in (None, 3):
            folder = self.elsewhere()
            case = self.write("case.toml", self.case(report=1000, every=3))
            result = tutti("run", case, "-o", folder, *EQUAL, *sets(output__every=0), ranks=ranks, timeout=SECONDS)
            self.assert_error(result, NUMERICAL, r"field 'u' is (nan|-?inf) in cell \d+ \(rank \d, part \d\) at time \S+, step \d+",
                              "the last good state is in ")
            bad = int(re.search(r"step (\d+)", result.error_lines()[0]).group(1))
            steps = checkpoint_steps(folder)
            self.assertEqual((steps[-1], bad), (12, 15))
            self.assertEqual(list((folder / "checkpoints").glob("*.tmp")), [])
            summary = self.go_on(folder, *sets(time__steps=steps[-1] + 1))
            self.assertEqual(summary["first_step"], steps[-1])


class OneRank(SystemTest):
    """One rank of three fails, at any phase: all end, soon, with one line and one code."""

    def test_at_any_phase(self):
        case = self.write("case.toml", small_case(every=2, steps=8))
        folder = self.folder / "results"
        arguments = ["run", case, "-o", folder, "--overwrite", "--devices", "cpu", *EQUAL]
        said = tutti("-v", *arguments, ranks=3).out
        phases = re.findall(r"set-up: (\S+) ", said)
        self.assertGreaterEqual(len(phases), 8)
        faults = [(phase, "") for phase in phases]
        # The first time, and later: of what is done by the same code each time, later alone.
        faults += [("step", ""), ("step", ":3"), ("report", ":3"), ("probe", ":3"), ("checkpoint", ""), ("checkpoint", ":3"),
                   ("checkpoint-write", ""), ("checkpoint-write", ":3"), ("output", ""), ("output", ":2")]
        for k, (phase, count) in enumerate(faults):
            rank = k % 3
            with self.subTest(phase=phase + count, rank=rank):
                result = with_environment({"TUTTI_FAULT": f"{phase}@{rank}{count}"}, *arguments, ranks=3)
                self.assert_error(result, RESOURCE, f"rank {rank} fails at '{phase}'")
                self.assertNotIn("internal error", result.err)
        # The tests of the tests: no fault, no failure; a fault that never comes is none.
        for fault in ("", "nowhere@0", "step@0:1000", "step@7"):
            self.assertEqual(with_environment({"TUTTI_FAULT": fault}, *arguments).code, 0)
        self.assert_error(with_environment({"TUTTI_FAULT": "step"}, *arguments, ranks=3), 2, "PHASE@RANK")


class Memory(SystemTest):
    def test_every_allocation(self):
        case = self.write("case.toml", small_case(every=2, steps=4))
        arguments = ["run", case, "-o", self.folder / "results", "--overwrite", *EQUAL]
        arrays, k = [], 0
        while True:
            k += 1
            self.assertLess(k, 300)
            result = tutti(*arguments, "--devices", "fake:1,cpu", *sets(devices__fake_fail_allocation=k), timeout=SECONDS)
            if result.code == 0:
                break
            with self.subTest(allocation=k):
                self.assert_error(result, RESOURCE, rf"fake:0: no memory for '[^']+' of .*: allocation {k} fails")
                self.assertFalse((self.folder / "results" / "summary.json").exists())
            arrays.append(re.findall(r"no memory for '([^']+)'", result.err))
        self.assertGreater(len(arrays), 6, "the fake device has more arrays than that")
        # The others do not wait for the rank whose device is full. Every rank has a fake device; one of them speaks: the
        # lowest where the ranks agree on errors, whoever comes first in the middle of a step.
        for k in {1, len(arrays) // 2, len(arrays)}:
            with self.subTest(allocation=k, ranks=3):
                result = tutti(*arguments, "--devices", "fake:1,cpu", *sets(devices__fake_fail_allocation=k), ranks=3,
                               timeout=SECONDS)
                self.assert_error(result, RESOURCE, r"fake:[012]: no memory for '[^']+'")


class LostDevice(RestartTest):
    def lose(self, text, launches, ranks):
        """The Result and the folder of a run whose fake devices are lost after so many launches."""
        folder = self.elsewhere()
        case = self.write("case.toml", text)
        return tutti("run", case, "-o", folder, *EQUAL, "--devices", "fake:1,cpu",
                     *sets(devices__fake_lose_after=launches, output__every=0), ranks=ranks, timeout=60), folder

    def test_in_mid_run(self):
        text = small_case(every=5, steps=60, report=1000)
        whole = self.run_case(text, "--devices", "cpu", *sets(output__every=0))
        for ranks, choices in [(None, [1, *range(100, 10000, 80)]), (3, [1, 300])]:
            seen = 0
            for launches in choices:
                with self.subTest(ranks=ranks, launches=launches):
                    result, folder = self.lose(text, launches, ranks)
                    if result.code == 0 and launches > 1:
                        break  # over before
                    self.assert_error(result, PEER, r"fake:\d: the device was lost", "checkpoint")
                    steps = checkpoint_steps(folder)
                    if not steps or seen == 4:
                        continue
                    seen += 1
                    # Without the device.
                    summary = self.go_on(folder, "--devices", "cpu", *sets(devices__fake_lose_after=0), ranks=ranks)
                    self.assertEqual(summary["first_step"], steps[-1])
                    self.assertEqual(outcome(summary), outcome(whole))
            self.assertGreaterEqual(seen, 3 if ranks is None else 0, "too early to see a checkpoint")


if __name__ == "__main__":
    unittest.main()
