"""Watching a run: the trace, metrics.jsonl and the progress line."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import unittest
from collections import defaultdict

from program import EQUAL, PROGRAM, SystemTest, box_case, sets, tutti

PROGRAM_ROW = 0


def ns(microseconds):
    return round(microseconds * 1000)


class Trace:
    """A trace file: slices as dictionaries with whole nanoseconds."""

    def __init__(self, path):
        self.json = json.loads(path.read_text(encoding="utf-8"))
        self.rows = {}  # (rank, row) -> name
        self.slices = []
        for e in self.json["traceEvents"]:
            if e["ph"] == "M" and e["name"] == "thread_name":
                self.rows[e["pid"], e["tid"]] = e["args"]["name"]
            elif e["ph"] == "X":
                self.slices.append({"name": e["name"], "rank": e["pid"], "row": (e["pid"], e["tid"]),
                                    "begin": ns(e["ts"]), "end": ns(e["ts"]) + ns(e["dur"]), **e["args"]})

    def of(self, step, rank, *names):
        """The tasks of these names in a step of a rank; not the threads' launches of them."""
        return [s for s in self.slices if s.get("step") == step and s["rank"] == rank
                and s["name"].startswith(names)]

    def names_on(self, pattern):
        """Names of slices on the rows that match."""
        return {s["name"] for s in self.slices if re.search(pattern, self.rows[s["row"]])}


class Timeline(SystemTest):
    def trace(self, *options, ranks=None, steps=20, n=10, physics='K = 1\ninitial = "x"'):
        path = self.folder / f"trace{self.runs}.json"
        self.run_case(box_case(n=n, time=f"steps = {steps}", physics=physics), "--trace", path, *options, ranks=ranks)
        return Trace(path)

    def assert_rows_do_not_overlap(self, trace):
        rows = defaultdict(list)
        for s in trace.slices:
            self.assertIn(s["row"], trace.rows, "a row without a name")
            self.assertGreaterEqual(s["end"], s["begin"])
            rows[s["row"]].append((s["begin"], s["end"], s["name"]))
        for row, slices in rows.items():
            slices.sort()
            for (_, end, before), (begin, _, after) in zip(slices, slices[1:]):
                self.assertLessEqual(end, begin, f"{trace.rows[row]}: {before} and {after}")

    def test_rows_and_order(self):
        for ranks in (None, 3):
            for overlap in ("full", "messages", "none"):
                with self.subTest(ranks=ranks, overlap=overlap):
                    trace = self.trace("--devices", "fake:2,cpu", "--threads", "2",
                                       *sets(devices__overlap=overlap), ranks=ranks)
                    self.check_order(trace, ranks or 1, overlap)

    def check_order(self, trace, ranks, overlap):
        self.assert_rows_do_not_overlap(trace)
        self.assertEqual(trace.json["otherData"]["ranks"], ranks)
        self.assertEqual({s["rank"] for s in trace.slices}, set(range(ranks)))
        steps = sorted({s["step"] for s in trace.slices if "step" in s})
        self.assertEqual(steps, [10, 11, 12, 13, 14])
        for device in ("fake:0", "fake:1"):
            self.assertEqual(trace.names_on(f"{device} compute"), {"separator", "interior"})
            self.assertEqual(trace.names_on(f"{device} compute separators"), {"separator"})
            out = trace.names_on(f"{device} copy out")
            self.assertLessEqual({"copy separators"} if ranks > 1 else set(), out)
            self.assertTrue(all(n.startswith(("copy separators", "store ")) for n in out), out)
            self.assertTrue(all(n.startswith("copy ghosts") for n in trace.names_on(f"{device} copy in")))
        self.assertLessEqual({"separator", "interior", "start separator", "start interior"},
                             trace.names_on("^thread"))
        self.assertLessEqual({"read", "assemble", "step 12", "output"}, trace.names_on("^program"))
        self.assertEqual({n.split()[0] for n in trace.names_on("^MPI")}, {"send", "receive"} if ranks > 1 else set())
        hidden = 0
        for step in steps:
            for rank in range(ranks):
                hidden += self.check_step(trace, step, rank, overlap)
        if overlap == "full":
            self.assertGreater(hidden, 0, "no copy or message was under way while some interior ran")

    def check_step(self, trace, step, rank, overlap):
        """Checks the order in one step of a rank; says how many exchanges an interior had beside it."""
        separators, interiors = trace.of(step, rank, "separator"), trace.of(step, rank, "interior")
        exchanges = trace.of(step, rank, "copy", "peer", "gather", "pack", "store", "send", "receive", "unpack")
        self.assertTrue(separators and interiors and exchanges)
        sends = trace.of(step, rank, "send")
        for send in sends:
            self.assertGreater(send["bytes"], 0)
            for s in separators:
                if s["part"] == send["part"]:
                    self.assertLessEqual(s["end"], send["begin"], "a message left before its separators were done")
        for copy in trace.of(step, rank, "copy separators"):
            for s in separators:
                if s["part"] == copy["part"]:
                    self.assertLessEqual(s["end"], copy["begin"])
        beside = [e for e in exchanges if any(i["begin"] < e["end"] and e["begin"] < i["end"] for i in interiors)]
        late = [e for e in exchanges if any(i["begin"] < e["end"] for i in interiors)]
        if overlap == "none":
            self.assertEqual(late, [], "the interior began before the exchange was over")
        if overlap == "messages":
            for e in beside:
                self.assertRegex(e["name"], "^(send|receive)", "only messages may be hidden")
        return len(beside)

    def test_clocks_are_one(self):
        # A message ends after it began, on the clock of rank 0, whoever sent it.
        trace = self.trace("--devices", "cpu", "--threads", "1", ranks=3)
        received = {(s["step"], s["name"].split()[1]): s for s in trace.slices if s["name"].startswith("receive")}
        sent = {(s["step"], s["name"].split()[1]): s for s in trace.slices if s["name"].startswith("send")}
        self.assertEqual(sent.keys(), received.keys())
        self.assertGreater(len(sent), 0)
        for key, send in sent.items():
            self.assertLessEqual(send["begin"], received[key]["end"], key)

    def test_every_stage_is_traced(self):
        trace = self.trace("--trace-steps", "3:4", *sets(time__method="rkc2", time__stages=5, time__safety=0.9), steps=6,
                           n=6)
        for step in (3, 4):
            # One run of the graph a stage, one after another.
            self.assertEqual(len(trace.of(step, 0, "step")), 1)
            rows = sum(s.get("rows", 0) for s in trace.of(step, 0, "interior", "separator"))
            self.assertEqual(rows, 5 * 6 * 6 ** 3)
        self.assertEqual({s["step"] for s in trace.slices if "step" in s}, {3, 4})

    def test_windows(self):
        case = self.write("case.toml", box_case(n=3, time="steps = 4"))
        path = self.folder / "t.json"

        def run(name, *options, ranks=None):
            return tutti("run", case, "-o", self.folder / name, *EQUAL, *options, ranks=ranks)

        self.assertEqual(run("short", "--trace", path).code, 0)
        self.assertEqual({s["step"] for s in Trace(path).slices if "step" in s}, {1, 2, 3, 4}, "a short run: all")
        result = run("behind", "--trace", path, "--trace-steps", "7:9")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, "warning: .*no step will be traced")
        self.assertGreater(len(Trace(path).slices), 0, "set-up and output are there")
        self.assert_error(run("wrong", "--trace", path, "--trace-steps", "4:2"), 2, "--trace-steps '4:2'")
        self.assert_error(run("alone", "--trace-steps", "1:2"), 2, "--trace")
        self.assert_error(run("none", "--trace", "/proc/none/t.json", ranks=2), 5, "/proc/none/t.json")

    def test_off_leaves_nothing(self):
        folder = self.run_case(box_case(n=3, time="steps = 4"))["folder"]
        self.assertEqual([p.name for p in folder.iterdir() if "trace" in p.name], [])


class MetricsHistory(SystemTest):
    def test_lines(self):
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                devices = ["--devices", "fake:1,cpu"]
                summary = self.run_case(box_case(time="steps = 12"), *devices, *sets(report__every=5), ranks=ranks)
                lines = [json.loads(line) for line in (summary["folder"] / "metrics.jsonl").read_text().splitlines()]
                self.assertEqual([line["step"] for line in lines], [1, 6, 11, 12])
                self.assertEqual(lines[-1]["time"], summary["time"])
                self.assertEqual(lines[-1]["dt"], summary["dt"])
                self.assertEqual(lines[-1]["diagnostics"]["mass"], summary["mass"]["final"])
                self.assertEqual(set(lines[0]["diagnostics"]), {"max|u|", "mass"})
                parts = summary["parts"]
                for name in ("separator", "interior", "exchange", "idle"):
                    for p, part in enumerate(parts):
                        total = sum(line["seconds"][name][p] for line in lines)
                        self.assertAlmostEqual(total, part["seconds"][name], delta=1e-9)
                walls = [line["wall_seconds"] for line in lines]
                self.assertEqual(walls, sorted(walls))
                before = {"step": 0, "wall_seconds": 0}
                for line in lines:
                    steps, seconds = (line[k] - before[k] for k in ("step", "wall_seconds"))
                    self.assertAlmostEqual(line["cell_steps_per_second"] * seconds / (summary["cells"] * steps), 1)
                    before = line

    def test_a_killed_run_leaves_its_history(self):
        case = self.write("case.toml", box_case(time="steps = 1000000"))
        folder = self.folder / "r"
        run = subprocess.Popen([PROGRAM, "-q", "run", str(case), "-o", str(folder), *EQUAL, *sets(report__every=1)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            history = folder / "metrics.jsonl"
            while run.poll() is None and not (history.is_file() and history.stat().st_size > 5000):
                pass
            self.assertIsNone(run.poll(), "it ended by itself")
        finally:
            run.kill()
            out = run.communicate()[0]
        self.assertEqual(out, b"", "-q says nothing")
        text = history.read_text()
        self.assertTrue(text.endswith("\n"))
        self.assertEqual([json.loads(line)["step"] for line in text.splitlines()],
                         list(range(1, len(text.splitlines()) + 1)))


class ProgressLine(SystemTest):
    def on_terminal(self, columns, *options, term="xterm"):
        """What a run prints on a terminal of so many columns."""
        self.runs += 1
        case = self.write("case.toml", box_case(n=3, time="steps = 30"))
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        run = subprocess.Popen([PROGRAM, *options, "run", str(case), "-o", str(self.folder / f"r{self.runs}"),
                                *EQUAL, *sets(report__every=1)], stdin=subprocess.DEVNULL, stdout=side, stderr=side,
                               env={**os.environ, "TERM": term})
        os.close(side)
        text = b""
        while select.select([main], [], [], 60)[0]:
            try:
                block = os.read(main, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not block:
                break
            text += block
        os.close(main)
        self.assertEqual(run.wait(timeout=60), 0)
        return text.decode()

    def test_is_rewritten_and_fits(self):
        for columns in (200, 80, 40, 20, 10):
            with self.subTest(columns=columns):
                text = self.on_terminal(columns)
                shown = re.findall(r"\r\x1b\[K([^\r\n\x1b]*)", text)
                self.assertEqual(len(shown), 30)
                for line in shown:
                    self.assertLess(len(line), columns, "a line that wraps cannot be rewritten")
                    self.assertRegex(line, r"^ *\d+ %")
                    self.assertEqual(line, line.rstrip())
                self.assertTrue(shown[-1].startswith("100 %"))
                # What follows begins on a line of its own.
                self.assertRegex(text, r"100 %[^\r\n]*\r\n[^\r\n%]*cell-steps/s, ")

    def test_under_mpirun_it_is_lines(self):
        result = tutti("run", self.write("case.toml", box_case(n=3, time="steps = 30")), "-o", self.folder / "r", *EQUAL,
                       *sets(report__every=1), ranks=2)
        self.assertNotIn("\x1b", result.out)
        self.assertEqual(len(re.findall(r"^ *\d+ %  step", result.out, re.M)), 30)

    def test_a_terminal_that_cannot_rewrite_gets_lines(self):
        text = self.on_terminal(80, term="dumb")
        self.assertNotIn("\x1b", text)
        self.assertEqual(len(re.findall(r"^ *\d+ %  step", text, re.M)), 30)

    def test_quiet(self):
        self.assertEqual(self.on_terminal(80, "-q"), "")


if __name__ == "__main__":
    unittest.main()
