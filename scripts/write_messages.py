#!/usr/bin/env python3
"""Writes docs/reference/messages.md: every message that a user can get, read from the sources, and checks their form.

usage: scripts/write_messages.py [--check] [--json] [--self-test]
  --check      write nothing; fail where the page is old or a message has another form than it should (a test does this)
  --json       print kinds, messages and regular expressions that match them
  --self-test  try the scan and the rules on small pieces of code

Messages are the texts of fail(), warn() and of what passes texts on to them (message_sources.py). A text that the scan
cannot read is an error of this script, so that the page cannot miss one.
"""
import difflib
import fnmatch
import itertools
import json
import re
import sys
from pathlib import Path

import message_sources as table
from message_python import read_python
from message_scan import Hole, Message, Scan, Unreadable, fill, is_mark, pattern, split, shown

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/reference/messages.md"
CODES = {"usage": 2, "resource": 3, "input": 4, "io": 5, "numerical": 6, "peer": 7, "warning": None}
FOLDERS = ("tutti", "app")
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}

# ---- the messages of the sources


def kinds_of(arguments):
    """ErrorKind::input, or both of a choice; none where the kind is that of another error."""
    tokens = [token for argument in arguments for token in argument]
    return [tokens[i + 2].text for i in range(len(tokens) - 2)
            if tokens[i].text == "ErrorKind" and is_mark(tokens[i + 1], "::")]


def texts_at(scan, source):
    """(line, arguments before the text, the text's parts) of everything that `source` finds in a file."""
    if source.how == "return":
        found = ((line, [text]) for line, text in scan.returns(source.name))
    elif source.how == "assign":
        found = ((line, [text]) for line, text in scan.assignments(source.name))
    else:
        found = scan.braces(source.name) if source.how == "braces" else scan.calls(source.name)
    for line, arguments in found:
        if len(arguments) == 1 and arguments[0] and is_mark(arguments[0][0], "{"):
            arguments = split(arguments[0][1:-1], ",")
        if len(arguments) <= source.text:
            continue
        rest = arguments[source.text:]
        try:
            yield line, arguments[:source.text], scan.format(rest) if source.format else scan.text(rest[0])
        except Unreadable as error:
            yield line, arguments[:source.text], error


def has_words(parts):
    return any(isinstance(part, str) and re.search("[A-Za-z]{2}", part) for part in parts)


def scan_file(file, text, used):
    """Messages of one file, and what is wrong with it. `used` collects the entries of the table that were of use."""
    scan = Scan(file, text, {name: value for (where, name), value in table.NAMED_TEXTS.items() if where == file})
    messages, problems, inner = [], [], []
    frames = {source.inside for source in table.SOURCES if source.inside and fnmatch.fnmatch(file, source.files)}
    for source in table.SOURCES:
        if not fnmatch.fnmatch(file, source.files):
            continue
        for line, before, parts in texts_at(scan, source):
            where = f"{file}:{line}"
            if isinstance(parts, Unreadable):
                if file not in table.PASS_ON:
                    problems.append(f"{where}: the text cannot be read: {parts}")
                continue
            used.add(source)
            if shown(parts).startswith("internal error"):
                continue
            if source.inside:
                inner.append((source, where, line, parts))
                continue
            kinds = source.kinds or [(kind, "{}") for kind in kinds_of(before)]
            if not shown(parts):
                continue
            if not has_words(parts) and not any(isinstance(p, Hole) and p.name in frames for p in parts):
                if (file, shown(parts)) in table.FORWARDS:
                    used.add((file, shown(parts)))
                else:
                    problems.append(f"{where}: '{shown(parts)}' has no words; say in FORWARDS where they come from")
                continue
            if not kinds:
                problems.append(f"{where}: the kind of the error cannot be read")
            for kind, around in kinds:
                messages.append(Message(kind, name_place(kind, fill(around, parts)), file, line, parts))
    return add_inner(messages, inner, problems), problems, scan


def name_place(kind, parts):
    """A value at the beginning of an error of a file is its name, however it is called there."""
    names_file = kind in ("input", "io") and len(parts) > 1 and str(parts[1]).startswith(":") and parts[0] != Hole("place")
    return (Hole("path"), *parts[1:]) if names_file and isinstance(parts[0], Hole) else parts


def add_inner(messages, inner, problems):
    """Puts reasons into the messages that have a place for them, which go."""
    frames = set()
    added = []
    for source, where, line, parts in inner:
        mine = [m for m in messages if any(isinstance(p, Hole) and p.name == source.inside for p in m.parts)]
        if not mine:
            problems.append(f"{where}: no message of this file has a place for {{{source.inside}}}")
        for frame in mine:
            frames.add(frame)
            at = next(i for i, p in enumerate(frame.parts) if isinstance(p, Hole) and p.name == source.inside)
            whole = fill("{}", frame.parts[:at] + parts + frame.parts[at + 1:])
            added.append(Message(frame.kind, whole, frame.file, line, parts))
    return [m for m in messages if m not in frames] + added


def sources_of(root):
    return sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)


def scan_tree(root):
    messages, problems, used = [], [], set()
    for path in sources_of(root):
        file = path.relative_to(root).as_posix()
        found, wrong, scan = scan_file(file, path.read_text(encoding="utf-8"), used)
        messages += found
        problems += wrong
        for line, thrown in scan.throws():
            if not any(fnmatch.fnmatch(file, pattern) for pattern in table.THROWN.get(thrown, "").split()):
                problems.append(f"{file}:{line}: throws {thrown}; use fail(), or say in THROWN what it is")
        if file not in table.SPEAKERS:
            problems += [f"{file}:{t.line}: writes to stderr; use fail() or warn()" for t in scan.tokens
                         if t.kind == "name" and t.text in ("stderr", "cerr")]
    for file in table.PYTHON:
        for kind, around, parts, line in read_python(file, (root / file).read_text(encoding="utf-8")):
            if parts is None:
                problems.append(f"{file}:{line}: the text cannot be read")
            else:
                messages.append(Message(kind, name_place(kind, fill(around, parts)), file, line, parts))
    names = [*table.SOURCES, *table.FORWARDS]
    problems += [f"scripts/message_sources.py:1: of no use: {entry}" for entry in names if entry not in used]
    return messages, problems


# ---- the form of a message

# Names that are written large.
NAMES = {"CASE", "CUDA", "K", "METIS", "NCCL", "NumberOfComponents", "OpenMP", "Scotch"}
# Places other than a file: the mesh and the generators stand for the table [mesh] of the case.
PLACES = ("standard output: ", "mesh: ", "nodes: ", "gmsh: ", "box: ", "stencils: ", "cell {", "'", "--")
# Words of what was expected or of what to do. A truncated or damaged file is to be made or copied anew: the page says so.
REMEDY = re.compile(
    r"\b(expected|must|needs?|needed|wants|only|at (least|most)|not in|one of|numbered from|goes? with|known (are|here)|"
    r"belongs? to|it belongs|(is|are) written|this host has|the next one is|did you mean|\w+ (is|are) wrong|"
    r"truncated|damaged|incomplete|possible( here)?)\b|\?$|"
    r"[;:,(] ?(or |and |then )?(add|build|change|check|choose|draw|free|give|go on|improve|install|leave|lower|mesh|move|put|"
    r"raise|remove|rename|run|save|see|set|start|take|trace|try|unset|use|watch|write) |"
    r"; [^;]*\b(lets them share|the earlier one goes first|the first one counts|the last one counts)|"
    r"\{[^}]*(advice|expected|nearest|known)[^}]*\}")
# What tutti has done about what it warns of.
DONE = re.compile(r"\b(were|are kept|left out|does not count|no step will be|cannot go on|trying|incomplete)\b")


def variants(parts):
    """The message with every side of every choice."""
    def texts_of(part):
        plain = isinstance(part, str) or not part.sides
        return [shown((part,))] if plain else [text for side in part.sides for text in variants(side)]
    return ["".join(words) for words in itertools.product(*map(texts_of, parts))]


def form(message):
    """(rule, what is wrong) for every rule that the message breaks."""
    text = shown(message.parts)
    for words in {text, shown(message.own)}:
        first = re.match(r"[\w]+", words)
        if not re.match(r"[a-z{'\"$/-]", words) and (first is None or first[0] not in NAMES):
            yield "begin", f"it must begin with a small letter, a name or a place: '{words}'"
    if re.search(r"[\n\r\t]", text):
        yield "line", "it must be one line"
    if text.endswith(".") and not text.endswith("...") or text.endswith((";", ",", ":", " ")):
        yield "end", "it must end without a full stop"
    if "!" in text:
        yield "tone", "it must do without '!'"
    if re.search(r"\bplease\b", text, re.IGNORECASE):
        yield "tone", "it must do without 'please'"
    fixed = " ".join(part for part in message.parts if isinstance(part, str))
    if re.search(r"\b(invalid|illegal|bad|not valid)\b", fixed) and not re.search(r"\b(expected|must|write)\b", text):
        yield "judgement", "it must say what was expected, not that something is bad"
    if message.kind in ("input", "io"):
        begins = message.parts[0]
        goes_on = len(message.parts) > 1 and isinstance(message.parts[1], str) and message.parts[1].startswith(":")
        if not (isinstance(begins, Hole) and (goes_on or begins.name == "prefix")) and not text.startswith(PLACES):
            yield "place", "it must begin with a file, a place in it or a key"
    if not all(REMEDY.search(text) or message.kind == "warning" and DONE.search(text) for text in variants(message.parts)):
        yield "advice", "it must say what was expected or what to do"


def check_form(messages, allowed):
    problems, used = [], set()
    for message in messages:
        for rule, wrong in form(message):
            key = (rule, shown(message.parts))
            if key in allowed:
                used.add(key)
            else:
                problems.append(f"{message.file}:{message.line}: {message.kind}: '{shown(message.parts)}': {wrong}")
    return problems + [f"scripts/message_sources.py:1: of no use in ALLOWED: {key}" for key in allowed if key not in used]


# ---- the page

OPENING = """# Messages

Written by `scripts/write_messages.py` from the sources; a test holds it current and every message to this form:

```text
tutti: error: WHERE: what was found; what was expected; what to do
```

It is one line. WHERE is a file with line and column (`case.toml:7:3`), with line (`heart.msh:120`) or with a byte
(`heart.msh: byte 4096`), an option as it was typed (`--set time.dt=x`), or a device (`cuda:0`). `mesh:`, `gmsh:` and
`box:` mean the table `[mesh]` of the case, `nodes:` nodes on the sphere. Below, `{place}` stands for such a WHERE, `{name}` for other values,
`{this|that}` for one of several texts, and `{cause; advice}` for what the system says and what helps
(`No space left on device; free space or choose another folder`). A file that is truncated, incomplete or damaged has to be
copied or made anew.

The kind of an error is the [exit code](exit-codes.md) of the program. Over MPI one rank prints the message and all end.
Warnings begin with `tutti: warning:` and end nothing. A message that begins with `internal error` is a bug of tutti and is
not listed.
"""
TITLES = {"usage": "2: usage", "resource": "3: resource", "input": "4: input", "io": "5: I/O", "numerical": "6: numerical",
          "peer": "7: peer", "warning": "Warnings"}


def cell(text):
    """Text between backquotes in a cell of a table."""
    return "`" + text.replace("|", "\\|") + "`"


def page(messages):
    lines = [OPENING]
    for kind, title in TITLES.items():
        files = {}
        for message in messages:
            if message.kind == kind:
                files.setdefault(shown(message.parts), set()).add(message.file)
        lines += [f"## {title}", "", "| message | source |", "| --- | --- |"]
        lines += [f"| {cell(text)} | {', '.join(sorted(files[text]))} |"
                  for text in sorted(files, key=lambda t: (re.sub(r"[^a-z ]", "", t.lower()), t))]
        lines.append("")
    return "\n".join(lines)


def catalogue(root=ROOT):
    """Every message once: kind, exit code (None: a warning), the message and a regular expression for all of it."""
    entries = {(m.kind, shown(m.parts)): pattern(m.parts) for m in scan_tree(root)[0]}
    return [{"kind": kind, "code": CODES[kind], "message": text, "pattern": regex}
            for (kind, text), regex in sorted(entries.items())]


def check(root, compare):
    messages, problems = scan_tree(root)
    problems += check_form(messages, table.ALLOWED)
    text = page(messages)
    path = root / PAGE
    if compare:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if before != text:
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), PAGE, "the sources"))
            problems.append(f"{PAGE}:1: is not what the sources say; run scripts/write_messages.py")
    else:
        path.write_text(text, encoding="utf-8")
    for problem in problems:
        print(problem)
    print(f"messages: {len({(m.kind, shown(m.parts)) for m in messages})}, {len(problems)} problems")
    return 1 if problems else 0


def main():
    words = sys.argv[1:]
    if "-h" in words or "--help" in words:
        print(__doc__)
        return 0
    if "--self-test" in words:
        from message_self_test import self_test
        if self_test():
            return 1
    if "--json" in words:
        print(json.dumps(catalogue(), indent=1))
        return 0
    if words == ["--self-test"]:
        return 0
    return check(ROOT, "--check" in words)


if __name__ == "__main__":
    sys.exit(main())
