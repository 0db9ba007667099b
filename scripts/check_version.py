#!/usr/bin/env python3
"""The version is that of CMakeLists.txt everywhere: prints what differs, and ends with 1 where something does.

Usage: check_version.py [--set X.Y.Z]     --set writes X.Y.Z to all of them
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {  # file: a pattern with the version as its second group
    "CMakeLists.txt": r"(project\(tutti VERSION )(\d+\.\d+\.\d+)",
    "python/tutti/__init__.py": r'(__version__ = ")(\d+\.\d+\.\d+)',
    "CITATION.cff": r"(\nversion: )(\d+\.\d+\.\d+)",
    "packaging/conda/recipe.yaml": r"(\n  version: )(\d+\.\d+\.\d+)",
    "examples/own-model/CMakeLists.txt": r"(find_package\(tutti )(\d+\.\d+)",
    "docs/tutorial/own-model.md": r"(find_package\(tutti )(\d+\.\d+)",
    "CHANGELOG.md": r"(\n## \[)(\d+\.\d+\.\d+)",
}


def main(arguments):
    wanted = arguments[1] if arguments[:1] == ["--set"] else None
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PLACES}
    found = {name: re.search(pattern, texts[name]) for name, pattern in PLACES.items()}
    version = wanted or found["CMakeLists.txt"][2]
    wrong = [name for name, match in found.items() if match is None or match[2] != version[:len(match[2])]]
    for name in wrong:
        if wanted and found[name] and name != "CHANGELOG.md":
            short = version if found[name][2].count(".") == 2 else version.rsplit(".", 1)[0]
            (ROOT / name).write_text(re.sub(PLACES[name], rf"\g<1>{short}", texts[name], count=1), encoding="utf-8")
        else:
            print(f"{name}: version {found[name][2] if found[name] else 'none'}; {version} is expected")
    return 1 if wrong and not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
