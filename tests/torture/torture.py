"""Runs of tutti that things happen to, thousands of them: a line a kind with how many were tried, survived and failed.

    scripts/torture.sh [--short | --long] [--only KIND,...] [--seed N] [--jobs N] [--report FILE] [--build DIR]

A trial survives when the run ends as it should, and all that it left is whole: docs/reliability.md says what that is. What
happens is decided by the seed; when it happens, by the clock, too. A trial that fails prints what was wrong and the command
that repeats it, and its folder stays. Exit code 1 when any has failed.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ["kill", "io_failure", "damage", "power", "memory", "two_runs"]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/torture.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--short", action="store_true", help="some 300 trials, at most 4 minutes on two cores (the default)")
    length.add_argument("--long", action="store_true", help="7,500 trials, an hour and a half on two cores")
    parser.add_argument("--only", default=",".join(KINDS), metavar="KIND,...", help="kinds: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--trial", type=int, metavar="N", help="only this trial of each kind, which --only names")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time (default: %(default)s)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="the figures as JSON")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", metavar="DIR",
                        help="a build folder (default: build/release, which is built where it is not)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print a report as the table of docs/reliability.md, and stop")
    options = parser.parse_args()
    options.only = [kind for kind in options.only.split(",") if kind]
    for kind in options.only:
        if kind not in KINDS:
            parser.error(f"no kind '{kind}'; there are: {', '.join(KINDS)}")
    if options.jobs < 1:
        parser.error("--jobs needs a number from 1 on")
    return options


def set_environment(build):
    """What the tests get from CTest."""
    found = {"TUTTI": build / "bin" / "tutti", "TUTTI_FAIL_WRITE": build / "tests" / "libtutti_fail_write.so",
             "TUTTI_POWER_CUT": build / "tests" / "libtutti_power_cut.so"}
    for name, path in found.items():
        if not path.is_file():
            sys.exit(f"torture.sh: {path} is not built; build its target, or give another folder with --build")
        os.environ[name] = str(path.resolve())
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # One thread a program: a trial is short, and several go on at a time.
    os.environ.setdefault("OMP_NUM_THREADS", "1")


class Kind:
    """All trials of one kind, and how they ended."""

    def __init__(self, name, options, base):
        self.name, self.options, self.base = name, options, base
        self.module = __import__(name)
        self.ends = collections.Counter()
        self.failures = []

    def one(self, number):
        from trials import Trial
        trial = Trial(self.name, number, self.options.seed, self.base)
        try:
            end = self.module.trial(trial)
        except Exception as error:  # whatever it is, the trial has failed and the others go on
            detail = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
            (trial.folder / "failure.txt").write_text(detail, encoding="utf-8")
            return number, None, f"{detail}\n    repeat: {self.command(number)}\n    kept: {trial.folder}"
        shutil.rmtree(trial.folder, ignore_errors=True)
        return number, end, None

    def command(self, number):
        return f"scripts/torture.sh --build {self.options.build} --only {self.name} --seed {self.options.seed} --trial {number}"

    def run(self):
        count = self.module.LONG if self.options.long else self.module.SHORT
        numbers = range(count) if self.options.trial is None else [self.options.trial]
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for number, end, failure in pool.map(self.one, numbers):
                if failure:
                    self.failures.append({"trial": number, "what": failure})
                    print(f"  {self.name} {number} failed: {failure}", flush=True)
                else:
                    self.ends[end] += 1
        self.tried, self.seconds = len(numbers), time.monotonic() - begin
        print(f"{self.name:12} tried {self.tried:5}   survived {self.tried - len(self.failures):5}   failed {len(self.failures):4}"
              f"   {self.seconds:6.0f} s", flush=True)

    def figures(self):
        return {"tried": self.tried, "survived": self.tried - len(self.failures), "failed": len(self.failures),
                "seconds": round(self.seconds, 1), "ends": dict(self.ends.most_common()), "failures": self.failures}


def write_report(options, kinds):
    if not options.report:
        return
    options.report.parent.mkdir(parents=True, exist_ok=True)
    tried, failed = sum(kind.tried for kind in kinds), sum(len(kind.failures) for kind in kinds)
    report = {"date": datetime.date.today().isoformat(), "seed": options.seed, "long": options.long, "jobs": options.jobs,
              "tried": tried, "survived": tried - failed, "failed": failed,
              "kinds": {kind.name: kind.figures() for kind in kinds}}
    options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def table(report):
    """The figures of a report as a page shows them."""
    lines = ["| kind | tried | survived | failed |", "| --- | ---: | ---: | ---: |"]
    rows = [*report["kinds"].items(), ("all", report)]
    lines += [f"| {name} | {row['tried']:,} | {row['survived']:,} | {row['failed']:,} |" for name, row in rows]
    return "\n".join(lines)


def main():
    options = parse()
    if options.table:
        print(table(json.loads(options.table.read_text(encoding="utf-8"))))
        return 0
    set_environment(options.build)
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    base = Path(tempfile.mkdtemp(prefix="tutti_torture_"))
    kinds = [Kind(name, options, base) for name in options.only]
    try:
        for number, kind in enumerate(kinds):
            kind.run()
            write_report(options, kinds[:number + 1])  # whoever ends this has what was done
    finally:
        if not any(kind.failures for kind in kinds):
            shutil.rmtree(base, ignore_errors=True)
    tried, failed = sum(kind.tried for kind in kinds), sum(len(kind.failures) for kind in kinds)
    print(f"{'all':12} tried {tried:5}   survived {tried - failed:5}   failed {failed:4}   {sum(kind.seconds for kind in kinds):6.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
