#!/usr/bin/env python3
"""Checks the programs and shared libraries below the given folders, as built and as installed (needs readelf).

The loader must look for libraries in absolute folders only: an empty or relative entry of RUNPATH or RPATH, or a needed
library named by a relative path, would let a file of the current folder be loaded and run. --require names what else
they must have: pie (programs lie at another address each time), now (the tables of functions cannot be written),
stack (stack protector), fortify (checked library functions; programs), cet (jumps land where they may; programs).
usage: scripts/check_hardening.py [--self-test] [--compiler c++] [--require pie,now,stack,fortify,cet] FOLDER...
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


ENDBR64 = b"\xf3\x0f\x1e\xfa"  # where a jump may land: the first instruction of a function


def first_bytes_of_ours(path):
    """The first machine code of a function of tutti's, or of main (which in a test may be another library's); None where
    there is none."""
    symbols = readelf("-s", path)
    found = [re.search(rf"^\s*\d+: ([0-9a-f]+)\s+\d+ FUNC\s+GLOBAL\s+\w+\s+\d+ {name}$", symbols, re.MULTILINE)
             for name in (r"_ZN5tutti\w+", "main")]
    if not any(found):
        return None
    at = int((found[0] or found[1])[1], 16)
    for words in re.findall(r"^\s*LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", readelf("-l", path), re.MULTILINE):
        offset, begin, size = (int(word, 16) for word in words)
        if begin <= at < begin + size:
            with path.open("rb") as file:
                file.seek(offset + at - begin)
                return file.read(len(ENDBR64))
    return b""


def missing(path, required):
    """What of `required` a file has not."""
    header, segments, dynamic, symbols = (readelf(option, path) for option in ("-h", "-l", "-d", "--dyn-syms"))
    program = "INTERP" in segments
    ours = first_bytes_of_ours(path)
    has = {
        "pie": "DYN (" in header,
        "now": "GNU_RELRO" in segments and re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic) is not None,
        "stack": "__stack_chk_fail" in symbols,
        "fortify": not program or re.search(r"__(?!stack_)\w+_chk\b", symbols) is not None,
        "cet": not program or ours is None or ours == ENDBR64,
    }
    return [f"is built without {name}" for name in required if not has[name]]


def check(folders, required=()):
    """How many files were looked at, and the problems."""
    count, problems = 0, []
    for folder in folders:
        for path in binaries(folder):
            count += 1
            problems += [f"{path}: {text}" for text in run_path_problems(path) + missing(path, required)]
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
    full = ["-O2", "-fPIE", "-pie", "-Wl,-z,relro,-z,now", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
    required = ["pie", "now", "stack", "fortify"]
    if subprocess.run([compiler, "-fcf-protection=full", "-E", "-x", "c", os.devnull], capture_output=True).returncode == 0:
        full, required = [*full, "-fcf-protection=full"], [*required, "cet"]
    cases = [(title, flags, expected, ()) for title, flags, expected in cases]
    cases += [("all there is", full, "", required)]
    cases += [(f"without {name}", [*full, *flags], f"is built without {name}", required) for name, flags in [
        ("pie", ["-fno-pie", "-no-pie"]), ("now", ["-Wl,-z,lazy"]), ("now", ["-Wl,-z,norelro"]),
        ("stack", ["-fno-stack-protector"]), ("fortify", ["-U_FORTIFY_SOURCE"]), ("cet", ["-fcf-protection=none"]),
    ] if name in required]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "main.c").write_text("#include <string.h>\nvoid use(char*); void use(char* a) { a[0] = 1; }\n"
                                     "int main(int n, char** words) { char a[9]; strcpy(a, words[n - 1]); use(a); return a[0]; }\n")
        (root / "mine.c").write_text("int mine(void) { return 1; }\n")
        (root / "sub").mkdir()
        subprocess.run([compiler, "-x", "c", "-shared", "-fPIC", "mine.c", "-o", "sub/libmine.so"], check=True, cwd=root)
        for number, (title, flags, expected, wanted) in enumerate(cases):
            place = root / str(number)
            (place / "CMakeFiles").mkdir(parents=True)
            command = [compiler, "-x", "c", "main.c", "-x", "none", "-Wl,--no-as-needed", *flags]
            for to in (place / "program", place / "CMakeFiles" / "a.out"):
                subprocess.run([*command, "-o", str(to)], check=True, cwd=root)
            (place / "text").write_text("no program\n")
            count, problems = check([place], wanted)
            if count != 1 or (expected == "") != (not problems) or expected not in "".join(problems):
                failures += 1
                print(f"self-test '{title}': {count} files, expected '{expected}', got {problems}", file=sys.stderr)
    print(f"hardening self-test: {len(cases) - failures} right, {failures} wrong")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--require", default="", metavar="NAME,...")
    parser.add_argument("--self-test", action="store_true")
    a = parser.parse_args()
    if a.self_test:
        return 1 if self_test(a.compiler) else 0
    count, problems = check(a.folders, [name for name in a.require.split(",") if name])
    for problem in problems:
        print(problem)
    print(f"hardening: {count} programs and libraries, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
