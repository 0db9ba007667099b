"""What the papers' scripts share: their words, what they ask the program, what they keep of it, and how they end."""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import page

ROOT = Path(__file__).resolve().parents[1]
# The last tables of a case whose steps are timed.
NOTHING_WRITTEN = "[output]\nevery = 0\n[checkpoint]\nminutes = 0\n"


class Failed(Exception):
    """A call that ended with an error: its exit code, the words and the error line."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def call(*words):
    """What the program says; Failed with its error line and exit code."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        lines = [line for line in done.stderr.split("\n") if "error:" in line] or [done.stderr.strip() or "no word"]
        raise Failed(done.returncode, f"{' '.join(map(str, words))}\n  {lines[-1]}")
    return done.stdout


def listed(values):
    return ",".join(map(str, values))


# Devices


def find_gpus(options):
    """Names of the accelerators of --devices, in order."""
    said = call(options.program, "devices", "--devices", options.devices)
    return [word for word in (line.split(" ")[0] for line in said.split("\n")) if re.match(r"(cuda|fake):", word)]


def device_lines(options):
    said = call(options.program, "devices", "--devices", options.devices).strip().split("\n")
    return [re.sub(r" +", " ", line) for line in said]


def machine(options):
    """What was run on: one line."""
    return f"{'; '.join(device_lines(options))}; {platform.system()} {platform.machine()}"


def faked(options):
    return bool(options.gpus) and options.gpus[0].startswith("fake")


def devices_of(options, gpus, cpu=False):
    """The first GPUs, and the CPU or not, as --devices takes them."""
    words = [f"fake:{gpus}"] if gpus and faked(options) else options.gpus[:gpus]
    return listed(words + (["cpu"] if cpu else []))


def device_counts(most):
    return [k for k in (1, 2, 4, 8) if k <= most]


# Runs


class Runs:
    """Runs the program and keeps what it measured in runs.json, by what was asked for."""

    def __init__(self, options):
        self.options, self.folder = options, options.output
        self.file = self.folder / "runs.json"
        self.kept = json.loads(self.file.read_text()) if self.file.exists() and not options.again else {}

    def keep(self, asked, make):
        """The record of what was asked for, made where it is not there."""
        key = json.dumps(asked, sort_keys=True)
        if key not in self.kept:
            self.kept[key] = {**asked, "date": time.strftime("%Y-%m-%d"), **make()}
            write_records(self.file, self.kept)
        return self.kept[key]

    def tell(self, *words, ranks=1):
        """What the program says, on so many ranks."""
        return call(*([*self.options.mpirun, "-np", ranks] if ranks > 1 else []), self.options.program, *words)

    def figures(self, *words, ranks=1, file=None):
        """What the program writes with --json, to a file that is kept where it is given."""
        path = file or self.folder / "figures.json"
        self.tell(*words, "--json", path, ranks=ranks)
        found = json.loads(path.read_text())
        if not file:
            path.unlink()
        return found

    def summary(self, case, *words, ranks=1, folder=None):
        """The summary of a run, whose results are kept where their folder is given."""
        path = folder or self.folder / "run"
        self.tell("run", case, "-o", path, "--overwrite", "--quiet", *words, ranks=ranks)
        found = json.loads((path / "summary.json").read_text())
        if not folder:
            shutil.rmtree(path)
        return found


def write_records(file, kept):
    """A line a record."""
    file.write_text("{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(record)}" for key, record in kept.items()) + "\n}\n")


# The command line and the report


def parser_of(paper, folder, parts, quick, devices, readme="put the report into the README.md beside this script"):
    """With the words that all scripts take."""
    parser = argparse.ArgumentParser(description=f"{paper} on this machine: figures and tables.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; default: all")
    parser.add_argument("-o", "--output", type=Path, default=Path("results") / folder, metavar="DIR")
    parser.add_argument("--devices", default="all", metavar="LIST", help=f"{devices} (default: all of the machine)")
    parser.add_argument("--quick", action="store_true", help=f"{quick}: to see that it works")
    parser.add_argument("--again", action="store_true", help="run anew what is there")
    parser.add_argument("--readme", action="store_true", help=readme)
    return parser


def options_of(parser, words, parts):
    """What was asked for, all parts where none is named, and the program."""
    options = parser.parse_args(words)
    wrong = set(options.parts) - set(parts)
    if wrong:
        parser.error(f"no part {', '.join(sorted(wrong))}; choose of {', '.join(parts)}")
    options.parts = options.parts or parts
    options.program = os.environ.get("TUTTI", str(ROOT / "build" / "release" / "bin" / "tutti"))
    if options.parts != ["report"] and not Path(options.program).is_file():
        parser.error(f"{options.program} is not there; build it, or set TUTTI")
    options.mpirun = os.environ.get("TUTTI_MPIRUN", "mpirun").split()
    return options


def write_report(options, readme, make):
    """The report that make() gives; the exit code."""
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        text = make()
    except Failed as error:
        print(f"reproduce.py: {error}", file=sys.stderr)
        return error.code
    (options.output / "report.md").write_text(text)
    if options.readme:
        page.publish(readme, options.output, text)
    print(f"{options.output}: report.md, and the figures it names")
    return 0
