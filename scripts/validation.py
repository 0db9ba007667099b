"""What validate.py, validate_flow.py and validate_transport.py share: runs of the program, orders, limits, tables of
docs/validation.md, the command line."""
import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests/convergence/cases"
PARSED = argparse.Namespace()  # of the command line


def settings(**changes):
    """Words for run(): time__dt=0.1 is the key time.dt."""
    return [f"{key.replace('__', '.')}={json.dumps(value)}" for key, value in changes.items()]


def run(case, folder, changes):
    """The summary of a run whose results go to `folder`; changes: "key=value"."""
    command = [PARSED.program, "run", case, "-o", folder, "--quiet", *(["--devices", PARSED.devices] if PARSED.devices else [])]
    command += [word for change in changes for word in ("--set", change)]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{Path(sys.argv[0]).name}: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return json.loads((Path(folder) / "summary.json").read_text())


def order(x, error):
    """Slope of the line through the logarithms, least squares."""
    x, y = [math.log(v) for v in x], [math.log(v) for v in error]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


class Study:
    """Rows of a table with these columns, and limits that were held or broken."""

    def __init__(self, *columns):
        self.lines = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)] if columns else []
        self.broken = 0

    def row(self, *values):
        self.lines.append("| " + " | ".join(map(str, values)) + " |")
        print(self.lines[-1], flush=True)

    def limit(self, what, value, least, most):
        right = bool(least <= value <= most)
        self.broken += not right
        print(f"{what}: {value:.4g}, {least:g} to {most:g} expected: {'ok' if right else 'WRONG'}", flush=True)


def put_table(mark, lines):
    """Replaces what stands between <!-- mark --> and <!-- end --> in docs/validation.md."""
    page = ROOT / "docs/validation.md"
    pattern = re.compile(rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end -->)", re.S)
    text, times = pattern.subn(lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), page.read_text())
    if times == 0:
        sys.exit(f"docs/validation.md has no place '<!-- {mark} -->'")
    page.write_text(text)


def parse(doc, studies, default=None, devices="cpu", writes=True):
    """The names of the studies that were asked for; other words are in PARSED."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/bin/tutti", type=Path)
    parser.add_argument("--study", action="append", choices=list(studies))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--devices", default=devices)
    if writes:
        parser.add_argument("--write", action="store_true")
    parser.parse_args(namespace=PARSED)
    if not PARSED.program.exists():
        parser.error(f"{PARSED.program} does not exist; build it, or name it with --program")
    PARSED.program = PARSED.program.resolve()
    return PARSED.study or list(default or studies)
