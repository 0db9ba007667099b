#!/usr/bin/env python3
"""Writes docs/reference/case.md, case-MODEL.md and command-line.md from what the program says about itself.

usage: scripts/write_reference.py [--program FILE] [--check]
  --program FILE  the built program (default: build/release/bin/tutti)
  --check         write nothing; fail where a page is not what the program says (a test does this)
"""
import argparse
import difflib
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference"
COMMANDS = ["", "run", "plan", "doctor", "devices", "mesh", "mesh info", "mesh convert", "mesh refine", "mesh quality", "mesh smooth", "mesh generate",
            "mesh generate box", "mesh generate biventricle", "nodes", "nodes generate",
            "nodes generate icosahedral", "nodes generate fibonacci", "nodes generate relaxed", "nodes generate random", "nodes info",
            "partition", "graph", "graph generate", "graph generate ssca2", "graph generate rmat", "graph generate grid",
            "graph generate torus", "graph info", "graph convert", "graph betweenness", "graph ssca2", "spectrum", "plot",
            "bench", "bench MODEL", "bench monodomain", "completion", "manual", "reference"]


def say(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"write_reference.py: {program} {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def models_of(program):
    """The first is the one whose keys `tutti reference` prints."""
    return re.search(r"\b\w+(\|\w+)*(?=\s+whose keys)", say(program, "reference", "--help"))[0].split("|")


def command_line(program, models):
    page = ["# The program `tutti`", "",
            "This page is what `tutti COMMAND --help` prints. `--quiet` and `--verbose` go with every command. Over MPI, put",
            "`mpirun -np N` before it.", ""]
    benches = [model for model in models if re.search(rf"^  {model} ", say(program, "bench", "--help"), re.MULTILINE)]
    for command in (one.replace("MODEL", model) for one in COMMANDS for model in (benches if "MODEL" in one else [""])):
        name = f"tutti {command}".strip()
        text = say(program, *command.split(), "--help").replace(str(program), "tutti")
        page += [f"## `{name}`", "", "```text", *(line.rstrip() for line in text.strip().split("\n")), "```", ""]
    return "\n".join(page[:-1]) + "\n"


def wrapped(page):
    """Paragraphs in lines of 120 characters, as people read them in a diff."""
    lines, code = [], False
    for line in page.split("\n"):
        code = code != line.startswith("```")
        parts = textwrap.wrap(line, 120, break_long_words=False, break_on_hyphens=False)
        paragraph = not code and len(line) > 120 and not re.match(r"[|#>\s]|[-+*] ", line)
        # A part must not begin as a list does.
        lines += parts if paragraph and not any(re.match(r"[-+*#>|]|\d+\.", part) for part in parts) else [line]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/bin/tutti", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.program.exists():
        sys.exit(f"write_reference.py: {options.program} does not exist; build it, or name it with --program")
    program = options.program.resolve()
    old = 0
    models = models_of(program)
    pages = {"case.md": wrapped(say(program, "reference")), "command-line.md": command_line(program, models)}
    pages |= {f"case-{model}.md": wrapped(say(program, "reference", model)) for model in models[1:]}
    for name, text in pages.items():
        page = PAGES / name
        before = page.read_text() if page.exists() else ""
        if options.check and before != text:
            old += 1
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), f"docs/reference/{name}",
                                                       "what the program says"))
        elif not options.check:
            page.write_text(text)
    if old:
        print("\nThe reference is not what the program says. Run scripts/write_reference.py.")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
