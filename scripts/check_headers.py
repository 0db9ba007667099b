#!/usr/bin/env python3
"""Checks the headers as a user of the library meets them: each compiles when it is the only one that is included, and
includes nothing but tutti's headers, the C++ library, MPI, fmt and (below cuda/ or named *_cuda) CUDA. A header that
its own source (of the same name, .cpp or .cu) includes first compiles alone when that source does: a build without
precompiled headers (preset portable) shows it.

usage: scripts/check_headers.py [--compiler c++] [--include DIR]... [--flag=F]... [--cuda DIR] [--jobs 2] [--self-test] [ROOT]
ROOT holds the folder tutti/ (default: the repository). Without --cuda, headers below cuda/ are only read. One line a
finding, file: text.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What users must have anyway (cmake/tutti_packages.cmake finds it for them). Names without a point are the C++ library.
FOREIGN = {"mpi.h", "fmt/core.h", "fmt/format.h", "immintrin.h", "xmmintrin.h"}  # the last two are the compiler's own
CUDA = {"cuda_runtime_api.h", "cuda_runtime.h", "cuda_pipeline.h"}
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)


def foreign_includes(path, text):
    allowed = FOREIGN | (CUDA if "cuda" in path.parts or path.stem.endswith("_cuda") else set())
    return [name for name in INCLUDE.findall(text) if "." in name and name not in allowed and not name.startswith("tutti/")]


def is_shown_by_its_source(root, header):
    sources = [root / header.with_suffix(suffix) for suffix in (".cpp", ".cu")]
    firsts = [ANY_INCLUDE.search(source.read_text(encoding="utf-8")) for source in sources if source.exists()]
    return any(first and first[1] == header.as_posix() for first in firsts)


def compile_alone(command, root, header):
    """The compiler's first error, or nothing."""
    result = subprocess.run([*command, f"-I{root}", "-x", "c++", "-"], input=f'#include "{header}"\n', text=True,
                            capture_output=True)
    if result.returncode == 0:
        return None
    errors = [line for line in result.stderr.split("\n") if "error:" in line]
    return (errors or [result.stderr.strip() or f"{command[0]} ended with {result.returncode}"])[0]


def check(root, command, cuda, jobs):
    headers = sorted(p.relative_to(root) for p in (root / "tutti").rglob("*") if p.suffix in {".hpp", ".cuh"} and not p.stem.endswith("_internal"))  # not installed
    problems = []
    for header in headers:
        problems += [f"{header}: includes <{name}>, which users need not have: move it into the .cpp file"
                     for name in foreign_includes(header, (root / header).read_text(encoding="utf-8"))]
    alone = [h for h in headers if h.suffix == ".hpp" and (cuda or "cuda" not in h.parts) and not is_shown_by_its_source(root, h)]
    with ThreadPoolExecutor(jobs) as pool:
        for header, error in zip(alone, pool.map(lambda h: compile_alone(command, root, h), alone), strict=True):
            if error:
                problems.append(f"{header}: does not compile alone: {error}")
    return problems, len(alone), len(headers)


def self_test(command):
    leaning = "#pragma once\ninline std::vector<int> f() { return {}; }\n"
    cases = {  # title: the header, its source, what is found, how many are compiled
        "good": ("#pragma once\n#include <vector>\ninline std::vector<int> f() { return {}; }\n", "", None, 1),
        "leans on others": (leaning, "", "does not compile alone", 1),
        "is included behind another": (leaning, '#include <vector>\n#include "tutti/a.hpp"\n', "does not compile alone", 1),
        "is included first": (leaning, '// Why.\n#include "tutti/a.hpp"\n#include <vector>\n', None, 0),
        "leaks": ("#pragma once\n#include <stdio.h>\n", '#include "tutti/a.hpp"\n', "includes <stdio.h>", 0),
    }
    failures = 0
    for title, (text, source, expected, compiled) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tutti" / "a.hpp"
            path.parent.mkdir()
            path.write_text(text)
            path.with_suffix(".cpp").write_text(source)
            problems, alone, _ = check(Path(folder), command, None, 1)
        if alone != compiled or len(problems) != (expected is not None) or (expected and expected not in problems[0]):
            failures += 1
            print(f"self-test '{title}': expected {expected!r} and {compiled} compiled, got {problems} and {alone}", file=sys.stderr)
    print(f"headers self-test: {len(cases) - failures} right, {failures} wrong")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--cuda")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path)
    a = parser.parse_args()
    command = [a.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-fopenmp-simd", *a.flag]
    command += [f"-isystem{folder}" for folder in [*a.include, *([a.cuda] if a.cuda else [])] if folder]
    if a.self_test:
        return 1 if self_test(command) else 0
    problems, alone, count = check(a.root.resolve(), command, a.cuda, a.jobs)
    for line in problems:
        print(line)
    print(f"headers: {count}, {alone} of them compiled alone, {len(problems)} finding{'' if len(problems) == 1 else 's'}")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
