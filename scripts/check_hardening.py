#!/usr/bin/env python3
"""Checks the programs and shared libraries below the given folders, as built and as installed (needs readelf).

The loader must look for libraries in absolute folders only: an empty or relative entry of RUNPATH or RPATH, or a needed
library named by a relative path, would let a file of the current folder be loaded and run.
usage: scripts/check_hardening.py [--self-test] [--compiler c++] FOLDER...
One line a violation, file: text.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DYNAMIC = re.compile(r"\((NEEDED|RUNPATH|RPATH)\)[^\[]*\[(.*)\]")


def readelf(option, path):
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(["readelf", "-W", option, str(path)], check=True, capture_output=True, text=True, errors="replace",
                          env=environment).stdout


def is_program_or_library(path):
    """An ELF file that is loaded: no object file, no text, no link (what it leads to is looked at in its own place)."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(18)
    return len(head) == 18 and head[:4] == b"\x7fELF" and int.from_bytes(head[16:18], "little") in (2, 3)


def binaries(folder):
    """In CMakeFiles lie object files and what CMake tried compilers with."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "CMakeFiles")
        for name in sorted(files):
            path = Path(root) / name
            if is_program_or_library(path):
                yield path


def is_absolute(entry):
    return entry.startswith(("/", "$ORIGIN", "${ORIGIN}"))


def run_path_problems(path):
    problems = []
    for kind, value in DYNAMIC.findall(readelf("-d", path)):
        if kind == "NEEDED":
            if "/" in value and not is_absolute(value):
                problems.append(f"needs a library by a relative path: '{value}'")
            continue
        bad = [entry for entry in value.split(":") if not is_absolute(entry)]
        if bad:
            problems.append(f"{kind} '{value}' has an empty or relative entry: '{bad[0]}'")
    return problems


CHECKS = [run_path_problems]


def check(folders):
    """How many files were looked at, and the problems."""
    count, problems = 0, []
    for folder in folders:
        for path in binaries(folder):
            count += 1
            problems += [f"{path}: {text}" for look in CHECKS for text in look(path)]
    return count, problems


def self_test(compiler):
    cases = [
        ("an absolute folder", ["-Wl,-rpath,/opt/mpi/lib"], ""),
        ("beside the program", ["-Wl,-rpath,$ORIGIN/../lib"], ""),
        ("no folder", [], ""),
        ("an empty entry at the end", ["-Wl,-rpath,/opt/mpi/lib:"], "empty or relative entry: ''"),
        ("an empty entry in the middle", ["-Wl,-rpath,/a::/b"], "empty or relative entry: ''"),
        ("a relative entry", ["-Wl,-rpath,/a:lib"], "empty or relative entry: 'lib'"),
        ("the same as RPATH", ["-Wl,--disable-new-dtags,-rpath,/a:."], "RPATH '/a:.'"),
        ("a library by a relative path", ["sub/libmine.so"], "relative path: 'sub/libmine.so'"),
    ]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "main.c").write_text("int mine(void); int main(void) { return 0; }\n")
        (root / "mine.c").write_text("int mine(void) { return 1; }\n")
        (root / "sub").mkdir()
        subprocess.run([compiler, "-x", "c", "-shared", "-fPIC", "mine.c", "-o", "sub/libmine.so"], check=True, cwd=root)
        for number, (title, flags, expected) in enumerate(cases):
            place = root / str(number)
            (place / "CMakeFiles").mkdir(parents=True)
            command = [compiler, "-x", "c", "main.c", "-x", "none", "-Wl,--no-as-needed", *flags]
            for to in (place / "program", place / "CMakeFiles" / "a.out"):
                subprocess.run([*command, "-o", str(to)], check=True, cwd=root)
            (place / "text").write_text("no program\n")
            count, problems = check([place])
            if count != 1 or (expected == "") != (not problems) or expected not in "".join(problems):
                failures += 1
                print(f"self-test '{title}': {count} files, expected '{expected}', got {problems}", file=sys.stderr)
    print(f"hardening self-test: {len(cases) - failures} right, {failures} wrong")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--self-test", action="store_true")
    a = parser.parse_args()
    if a.self_test:
        return 1 if self_test(a.compiler) else 0
    count, problems = check(a.folders)
    for problem in problems:
        print(problem)
    print(f"hardening: {count} programs and libraries, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
