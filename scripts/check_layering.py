#!/usr/bin/env python3
"""Checks the floors: every #include "tutti/..." of tutti/ and app/ points to a lower floor or stays in its own room.

Also: no cycle among headers, `#pragma once` in each header, no file over 600 lines. One line a violation, file:line: text.
usage: scripts/check_layering.py [--self-test] [ROOT]
"""
import re
import sys
import tempfile
from pathlib import Path

MAX_LINES = 600

# Which floors each floor may include besides itself. A new floor is entered here, once.
BELOW = {
    "base": [],
    "device": ["base"],
    "mesh": ["base"],
    "partition": ["base", "device"],
    "residency": ["base", "device"],
    "exchange": ["base", "device", "partition"],
    "io": ["base", "mesh", "partition"],
}
BELOW["schedule"] = ["base", "device", "mesh", "partition", "residency", "exchange", "io"]
BELOW["domain"] = BELOW["schedule"] + ["schedule"]
BELOW["simulation"] = BELOW["domain"] + ["domain"]
BELOW["program"] = BELOW["simulation"] + ["simulation"]
MODEL_BELOW = BELOW["program"] + ["program"]

SOURCES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}
HEADERS = {".hpp", ".cuh", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    """Floor of a path relative to the root: "io", "models/diffusion", "app"; None outside of the house."""
    parts = Path(path).parts
    if parts[0] == "app":
        return "app"
    if parts[0] != "tutti" or len(parts) < 3:
        return None
    return "/".join(parts[1:3]) if parts[1] == "models" else parts[1]


def allowed(room, target):
    """True when a file of `room` may include a file of `target`."""
    if room == "app" or room == target:
        return target != "app" or room == "app"
    return target in (MODEL_BELOW if room.startswith("models/") else BELOW[room])


def strip_comments(lines):
    """The lines with /* */ comments blanked, so that a commented include is none."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), "\n".join(lines), flags=re.S)
    return text.split("\n")


def check_include(root, path, number, bracket, name):
    """Messages about one include line; the target path when it is one of ours."""
    room = room_of(path)
    if not name.startswith("tutti/"):
        if bracket == '"' and not (room == "app" and name.startswith("app/") and (root / name).is_file()):
            yield f'{path}:{number}: "{name}": write includes as "tutti/floor/file.hpp", foreign ones in <>'
        return
    if not (root / name).is_file():
        yield f"{path}:{number}: {name} does not exist"
        return
    target = room_of(name)
    if target is None or not (target in BELOW or target.startswith("models/")):
        yield f"{path}:{number}: {name} is on no known floor"
    elif not allowed(room, target):
        yield f"{path}:{number}: {room} may not include {target} ({name})"


def find_cycle(graph):
    """Some cycle of {header: {header: line}} as a list of headers, first repeated at the end; None when there is none."""
    done = set()
    for start in sorted(graph):
        if start in done:
            continue
        stack, on_path = [(start, iter(sorted(graph[start])))], [start]
        while stack:
            node, targets = stack[-1]
            following = next((t for t in targets if t not in done), None)
            if following is None:
                stack.pop()
                on_path.pop()
                done.add(node)
            elif following in on_path:
                return on_path[on_path.index(following):] + [following]
            else:
                stack.append((following, iter(sorted(graph.get(following, {})))))
                on_path.append(following)
    return None


def check(root):
    """All violations below `root`, in path order."""
    problems = []
    graph = {}
    for path in sorted(p for top in ("tutti", "app") for p in (root / top).rglob("*") if p.suffix in SOURCES):
        relative = path.relative_to(root)
        room = room_of(relative)
        lines = path.read_text(encoding="utf-8").split("\n")
        count = len(lines) - (lines[-1] == "")
        if room is None or not (room == "app" or room in BELOW or room.startswith("models/")):
            problems.append(f"{relative}:1: is on no known floor (scripts/check_layering.py lists them)")
            continue
        if count > MAX_LINES:
            problems.append(f"{relative}:{count}: {count} lines, more than {MAX_LINES}: one idea a file")
        if path.suffix in HEADERS and not any(re.match(r"\s*#\s*pragma\s+once\b", line) for line in lines):
            problems.append(f"{relative}:1: no #pragma once")
        for number, line in enumerate(strip_comments(lines), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            bracket, name = found.groups()
            problems.extend(check_include(root, relative, number, bracket, name))
            if path.suffix in HEADERS and name.startswith("tutti/"):
                graph.setdefault(str(relative), {})[name] = number
    cycle = find_cycle(graph)
    if cycle:
        problems.append(f"{cycle[0]}:{graph[cycle[0]][cycle[1]]}: include cycle {' -> '.join(cycle)}")
    return problems


def self_test():
    """Small trees: a good one passes, and each broken one is found at the right place."""
    good = {
        "tutti/base/types.hpp": "#pragma once\n",
        "tutti/device/device.hpp": '#pragma once\n#include <vector>\n#include "tutti/base/types.hpp"\n',
        "tutti/mesh/mesh.hpp": '#pragma once\n#include "tutti/base/types.hpp"\n',
        "tutti/partition/plan.hpp": '#pragma once\n// #include "tutti/mesh/mesh.hpp"\n/*\n#include "tutti/mesh/mesh.hpp"\n*/\n',
        "tutti/exchange/exchange.cpp": '#include "tutti/device/device.hpp"\n#include "tutti/partition/plan.hpp"\n',
        "tutti/models/a/a.hpp": '#pragma once\n#include "tutti/mesh/mesh.hpp"\n',
        "tutti/models/a/a.cu": '#include "tutti/models/a/a.hpp"\n',
        "app/main.cpp": '#include "tutti/models/a/a.hpp"\n',
    }
    broken = {
        "upward": ({"tutti/base/up.cpp": '\n#include "tutti/mesh/mesh.hpp"\n'}, "tutti/base/up.cpp:2: base may not include mesh"),
        "wing to wing": ({"tutti/mesh/x.cpp": '#include "tutti/device/device.hpp"\n'}, "tutti/mesh/x.cpp:1: mesh may not"),
        "in angle brackets": ({"tutti/mesh/x.cpp": '#include <tutti/device/device.hpp>\n'}, "tutti/mesh/x.cpp:1: mesh may not"),
        "exchange to mesh": ({"tutti/exchange/x.cu": '#include "tutti/mesh/mesh.hpp"\n'}, "tutti/exchange/x.cu:1: exchange may not"),
        "io to device": ({"tutti/io/x.cpp": '#include "tutti/device/device.hpp"\n'}, "tutti/io/x.cpp:1: io may not"),
        "residency to partition": (
            {"tutti/residency/x.cpp": '#include "tutti/partition/plan.hpp"\n'}, "tutti/residency/x.cpp:1: residency may not"),
        "model to model": ({"tutti/models/b/b.cpp": '#include "tutti/models/a/a.hpp"\n'}, "tutti/models/b/b.cpp:1: models/b may not"),
        "cycle": ({"tutti/base/p.hpp": '#pragma once\n#include "tutti/base/q.hpp"\n',
                   "tutti/base/q.hpp": '#pragma once\n#include "tutti/base/p.hpp"\n'}, "tutti/base/p.hpp:2: include cycle"),
        "self include": ({"tutti/base/p.hpp": '#pragma once\n#include "tutti/base/p.hpp"\n'}, "tutti/base/p.hpp:2: include cycle"),
        "no pragma": ({"tutti/base/p.hpp": "// #pragma once\n"}, "tutti/base/p.hpp:1: no #pragma once"),
        "too long": ({"tutti/base/p.cpp": "\n" * 601}, "tutti/base/p.cpp:601: 601 lines"),
        "missing": ({"tutti/base/p.cpp": '#include "tutti/base/none.hpp"\n'}, "tutti/base/p.cpp:1: tutti/base/none.hpp does not exist"),
        "short form": ({"tutti/base/p.cpp": '#include "types.hpp"\n'}, 'tutti/base/p.cpp:1: "types.hpp": write'),
        "unknown floor": ({"tutti/attic/p.cpp": "\n"}, "tutti/attic/p.cpp:1: is on no known floor"),
    }
    failures = 0
    for title, (extra, expected) in [("good tree", ({}, None))] + list(broken.items()):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {**good, **extra}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            problems = check(root)
        right = not problems if expected is None else len(problems) == 1 and problems[0].startswith(expected)
        if not right:
            failures += 1
            print(f"self-test '{title}': expected {expected!r}, got {problems}", file=sys.stderr)
    print(f"layering self-test: {len(broken) + 1 - failures} right, {failures} wrong")
    return failures


def main():
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    if "--self-test" in arguments:
        return 1 if self_test() else 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not (root / "tutti").is_dir():
        print(f"check_layering.py: no folder tutti/ below {root}", file=sys.stderr)
        return 2
    problems = check(root)
    for line in problems:
        print(line)
    print(f"layering: {len(problems)} violation{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
