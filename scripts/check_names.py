#!/usr/bin/env python3
"""Checks names in the tree: file and folder names, links between pages, paths of one machine, marks of unfinished work.

usage: scripts/check_names.py [--self-test] [ROOT]
One line a violation, file:line: text. What a type or a variable is called is clang-tidy's business (.clang-tidy).
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CODE_FOLDERS = ("tutti/", "app/", "tests/", "bench/")
SNAKE = re.compile(r"^[a-z0-9_]+(\.[a-z0-9_]+)*$")
EXACT = {"CMakeLists.txt", "README.md"}
TEXT = {".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".md", ".toml", ".txt", ".cmake", ".json", ".yml", ".yaml", ".cff"}
RULES = [
    (re.compile(r"(?<![\w.$}])/(home|root|Users|work)/\w"), "a path of one machine"),
    (re.compile(r"(?<![\w.$}])/tmp/\w"), "a fixed path under the temporary folder: make one (mktemp, temporary_directory)"),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "a mark of unfinished work: finish it or say it in the docs"),
    (re.compile(r"^\s*using\s+namespace\s+std\s*;"), "using namespace std"),
    (re.compile(r"EXPECT_TRUE\(true\)|ASSERT_TRUE\(true\)"), "a test that asserts nothing"),
]
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")  # of a page: a relative path, no URL
SELF = "scripts/check_names.py"  # holds the patterns themselves


def tracked(root):
    """Files below `root` that are no build output, relative, sorted."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True)
    if listing.returncode == 0 and listing.stdout:
        return sorted(name for name in set(listing.stdout.split("\n")) if name and (root / name).is_file())
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


def check(root):
    problems = []
    for name in tracked(root):
        if name.startswith(CODE_FOLDERS):
            for part in Path(name).parts:
                if part not in EXACT and not SNAKE.match(part):
                    problems.append(f"{name}:1: '{part}' is not snake_case")
        if name == SELF or Path(name).suffix not in TEXT and name != ".ci/run":
            continue
        for number, line in enumerate((root / name).read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            problems.extend(f"{name}:{number}: {text}" for pattern, text in RULES if pattern.search(line))
            if name.endswith(".md"):
                targets = (target for target in LINK.findall(line) if not (root / name).parent.joinpath(target).exists())
                problems.extend(f"{name}:{number}: link to {target}, which does not exist" for target in targets)
    return problems


def self_test():
    cases = {
        "good": ("tutti/base/vec3.hpp", "see tests/data and a/home/page, https://x.org/home/a\n", None),
        "camel case file": ("tutti/base/Vec3.hpp", "\n", "tutti/base/Vec3.hpp:1: 'Vec3.hpp' is not"),
        "home": ("docs/a.md", "\nlook at /home/me/x\n", "docs/a.md:2: a path of one machine"),
        "temporary": ("docs/a.md", "look at /tmp/x\n", "docs/a.md:1: a fixed path"),
        "unfinished": ("app/main.cpp", "// TODO later\n", "app/main.cpp:1: a mark of unfinished work"),
        "dead link": ("docs/a.md", "[b](b.md) [c](https://x.org/c.md) [d](#d)\n", "docs/a.md:1: link to b.md"),
        "empty test": ("tests/unit/a.cpp", "  EXPECT_TRUE(true);\n", "tests/unit/a.cpp:1: a test that"),
    }
    failures = 0
    for title, (name, text, expected) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            problems = check(Path(folder))
        if problems if expected is None else len(problems) != 1 or not problems[0].startswith(expected):
            failures += 1
            print(f"self-test '{title}': expected {expected!r}, got {problems}", file=sys.stderr)
    print(f"names self-test: {len(cases) - failures} right, {failures} wrong")
    return failures


def main():
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    if "--self-test" in arguments:
        return 1 if self_test() else 0
    problems = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    for line in problems:
        print(line)
    print(f"names: {len(problems)} violation{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
