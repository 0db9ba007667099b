"""Two runs in one folder, a folder that is moved and files that go while a run writes into them."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import test_restart
from program import EQUAL, PROGRAM, sets, tutti
from running import Running, checkpoint_steps, last_step, lines_of, wait_until
from test_restart import RestartTest, case_of, outcome

USAGE, IO = 2, 5


class TwoRuns(RestartTest):
    OPTIONS = [*EQUAL, "--threads", "1", *sets(output__every=0, output__probe_every=500)]

    def start(self, *arguments, ranks=None):
        folder = self.folder / f"said{len(list(self.folder.glob('said*')))}"
        folder.mkdir()
        return Running(folder, "run", *arguments, *self.OPTIONS, ranks=ranks)

    def owner(self, folder):
        """The process that holds the folder, by its lock."""
        return int(dict(line.split(" ", 1) for line in lines_of(folder / "tutti.lock"))["process"])

    def test_the_second_is_refused(self):
        case = self.write("case.toml", case_of(n=4, time="steps = 100000000", every=20, report=10, keep=3))
        for ranks in (None, 2):
            folder = self.elsewhere()
            with self.subTest(ranks=ranks), self.start(case, "-o", folder, ranks=ranks) as running:
                wait_until(lambda f=folder: checkpoint_steps(f), "a checkpoint")
                self.assertIn(self.owner(folder), running.ranks())
                before = (folder / "effective.toml").read_bytes()
                for arguments in ([case, "-o", folder], [case, "-o", folder, "--overwrite"], ["--restart", folder],
                                  ["--restart", folder, "-o", folder]):
                    result = tutti("run", *arguments, *self.OPTIONS, ranks=ranks)
                    self.assert_error(result, USAGE, r"another run writes to this folder \(process \d+ on \S+, since 20.*\); wait until it ends")
                self.assertEqual((folder / "effective.toml").read_bytes(), before)
                # From its checkpoints into another folder, all the same.
                steps = last_step(folder) + 1000
                self.go_on(folder, "-o", self.elsewhere(), *self.OPTIONS, *sets(time__steps=steps))
                (folder / "stop").touch()
                self.assertEqual(running.wait().code, 0)
                self.assertFalse((folder / "tutti.lock").exists())

    def test_many_restarts_at_once(self):
        whole = self.run_case(case_of(time="steps = 400"), *self.OPTIONS)
        part = self.run_case(case_of(time="steps = 400"), *self.OPTIONS, *sets(time__steps=8))["folder"]
        for _ in range(3):
            folder = self.copy(part)
            runs = [self.start("--restart", folder, "--set", "time.steps=400") for _ in range(4)]
            results = [running.wait() for running in runs]
            done = [result for result in results if result.code == 0]
            self.assertTrue(done)
            for result in results:
                if result.code != 0:
                    self.assert_error(result, USAGE, "another run writes to this folder")
            self.assertEqual(outcome(json.loads((folder / "summary.json").read_text())), outcome(whole))
            self.assertEqual(lines_of(folder / "history.csv"), lines_of(whole["folder"] / "history.csv"))
            times = [line.split(",")[0] for line in lines_of(folder / "probes.csv")[1:]]
            self.assertEqual(times, sorted(set(times), key=float), "no row twice")

    def test_a_killed_run_holds_nothing(self):
        case = self.write("case.toml", case_of(n=4, time="steps = 100000000", every=20, report=10, keep=3))
        for ranks in (None, 2):
            folder = self.elsewhere()
            with self.start(case, "-o", folder, ranks=ranks) as running:
                wait_until(lambda f=folder: checkpoint_steps(f), "a checkpoint")
                pid = self.owner(folder)
                for rank in running.ranks():
                    running.signal(signal.SIGKILL, rank)
                wait_until(lambda r=running: not r.ranks(), "all ranks are gone")
            self.assertTrue((folder / "tutti.lock").exists())
            summary = self.go_on(folder, *self.OPTIONS, *sets(time__steps=checkpoint_steps(folder)[-1] + 3), ranks=ranks)
            self.assertIn(f"left by a run that did not end normally (process {pid} on ", summary["out"])
            self.assertFalse((folder / "tutti.lock").exists())


class Taken(TwoRuns):
    """What goes while a run writes."""

    test_the_second_is_refused = test_many_restarts_at_once = test_a_killed_run_holds_nothing = None

    def run_until(self, ranks, output, how, *patterns):
        folder = self.elsewhere()
        case = self.write("case.toml", case_of(n=4, time="steps = 100000000", every=0, report=10 if output == "report" else 100000000))
        more = {"report": {}, "fields": dict(output__every=200), "probes": dict(output__probe_every=100),
                "checkpoints": dict(checkpoint__every=2000)}[output]
        options = sets(balance__rebalance=False, **{"output__probe_every": 100000000, **more})
        with self.start(case, "-o", folder, *options, ranks=ranks) as running:
            wait_until(lambda: (folder / "results.pvd").exists() and (folder / "probes.csv").exists(), "it runs")
            time.sleep(0.3)
            how(folder)
            result = running.wait(30)
        self.assert_error(result, IO, *patterns)
        return folder

    def test_the_folder(self):
        def move(folder):
            folder.rename(folder.with_name(folder.name + "-moved"))

        def replace(folder):
            move(folder)
            folder.mkdir()

        def remove(folder):  # under another name: a run that writes makes files meanwhile
            move(folder)
            shutil.rmtree(folder.with_name(folder.name + "-moved"), ignore_errors=True)

        for ranks in (None, 2):
            for output in ("report", "fields", "probes", "checkpoints"):
                for how in (move, replace, remove):
                    if ranks and how is not move:
                        continue
                    with self.subTest(ranks=ranks, output=output, how=how.__name__):
                        # Whoever meets it first says so: the watch of the folder, or who writes a checkpoint.
                        folder = self.run_until(ranks, output, how, r"results\d+\S*: ")
                        # Nothing goes on beside: at most what was being written when the folder went.
                        self.assertLessEqual(len(list(folder.rglob("*.h5")) + list(folder.rglob("*.pvtu"))), 1)
                        self.assertFalse((folder / "summary.json").exists())

    def test_a_file_of_rows(self):
        for name, output in (("probes.csv", "probes"), ("history.csv", "report"), ("metrics.jsonl", "report")):
            for how in (lambda path: path.unlink(), lambda path: path.rename(path.with_suffix(".old")),
                        lambda path: os.truncate(path, 3)):
                def take(folder, name=name, how=how):
                    wait_until(lambda: lines_of(folder / name)[1:], name)
                    how(folder / name)

                with self.subTest(name=name):
                    self.run_until(None, output, take, rf"{name}: the file was removed, moved or truncated while the run was writing it")


class MoreSignals(test_restart.Stop):
    """SIGHUP and SIGPIPE end a run like SIGTERM."""

    for _name in [name for name in dir(test_restart.Stop) if name.startswith("test_")]:
        locals()[_name] = None

    def test_hang_up_and_broken_pipe(self):
        for number in (signal.SIGHUP, signal.SIGPIPE):
            with self.subTest(signal=number):
                self.stop(lambda running, _, n=number: running.signal(n, running.ranks()[0]))
        self.stop(lambda running, _: running.signal(signal.SIGHUP, running.ranks()[-1]), ranks=2)

    def test_nobody_reads_any_more(self):
        folder = self.elsewhere()
        case = self.write("case.toml", case_of(n=4, time="steps = 100000000", every=0, report=10))
        with subprocess.Popen([PROGRAM, "run", case, "-o", folder, *self.OPTIONS], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            run.stdout.readline()
            run.stdout.close()
            run.stdout = None
            self.assertEqual(run.wait(60), 0)
        summary = json.loads((folder / "summary.json").read_text())
        self.assertTrue(summary["stopped"])
        self.assert_goes_on(folder, summary["steps"])

    def test_nohup(self):
        folder = self.elsewhere()
        case = self.write("case.toml", case_of(n=4, time="steps = 100000000", every=0, report=10))
        with Running(self.folder, "run", case, "-o", folder, *self.OPTIONS) as probe:  # not ignored: caught
            wait_until(lambda: last_step(folder) > 20, "some steps")
            probe.signal(signal.SIGHUP)
            steps = self.assert_stopped(probe, folder, first=20)
        arguments = ["run", "--restart", str(folder), *self.OPTIONS]
        with open(self.folder / "nohup.txt", "wb") as out:
            run = subprocess.Popen(["nohup", PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            wait_until(lambda: last_step(folder) > steps + 20, "some more steps")
            run.send_signal(signal.SIGHUP)
            before = last_step(folder)
            wait_until(lambda: last_step(folder) > before + 200, "it goes on")
            run.terminate()
            self.assertEqual(run.wait(60), 0)
        finally:
            run.kill()
            run.wait()

    def test_before_the_set_up(self):
        # From the first moment of the program on, long before it knows what it shall do.
        for number in (signal.SIGTERM, signal.SIGHUP):
            folder = self.elsewhere()
            with self.start(folder) as running:
                wait_until(lambda r=running: self.caught(r.pid, number), "it is caught")
                running.signal(number)
                self.assertEqual(self.assert_stopped(running, folder), 1)

    def caught(self, pid, number):
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        return int(dict(line.split(":\t", 1) for line in text.splitlines())["SigCgt"], 16) >> (number - 1) & 1

    def test_what_is_no_run_is_killed(self):
        run = subprocess.Popen([PROGRAM, "bench", "diffusion"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(20), -signal.SIGTERM)


class NoFalseWarnings(RestartTest):
    def test_trace_without_steps(self):
        part = self.run_case(case_of())["folder"]
        trace = self.folder / "trace.json"
        said = self.go_on(part, "--trace", trace)["err"]
        self.assertIn("nothing is left to do", said)
        self.assertNotIn("--trace-steps", said)
        said = self.go_on(part, "--trace", trace, "--trace-steps", "5:6")["err"]
        self.assertIn("--trace-steps is after the last step", said)


if __name__ == "__main__":
    unittest.main()
