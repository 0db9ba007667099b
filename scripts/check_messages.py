#!/usr/bin/env python3
"""Checks the form of messages (docs/reference/exit-codes.md): the texts in calls of fail(), warn() and of what passes texts on
to them, and what the Python package raises. The system tests hold what the program prints to the same rules, form().

usage: scripts/check_messages.py [--self-test]
"""
import ast
import fnmatch
import re
import sys
from pathlib import Path

NAMES = ("CASE", "CUDA", "K", "METIS", "NCCL", "NumberOfComponents", "OpenMP", "Scotch")  # written large
PLACES = ("mesh: ", "standard output: ", "nodes: ", "gmsh: ", "box: ", "stencils: ", "cell ", "'", "--")  # other than a file
# What was expected or what to do. A truncated or damaged file is to be made or copied anew: the page says so.
REMEDY = re.compile(
    r"\b(expected|must|needs?|needed|wants|only|at (least|most)|not in|one of|numbered from|goes? with|supported are|known (are|here)|"
    r"belongs? to|it belongs|(is|are) written|this host has|the next one is|did you mean|\w+ (is|are) wrong|"
    r"truncated|damaged|incomplete|possible( here)?)\b|\?$|"
    r"[;:,(?] ?(or |and |then )?(add|build|change|check|[cC]hoose|continue|draw|free|give|improve|install|leave|lower|make|mesh|move|put|"
    r"raise|remove|rename|restart|run|save|see|set|start|take|trace|try|unset|use|watch|write) |"
    r"; [^;]*\b(lets them share|the earlier one goes first|the first one counts|the last one counts|the mesh has)|is missing: ")
ADVICE = re.compile(r"advice|other_kind|system_cause|expected|nearest|(?<!un)known|list_groups|message|problem|\b(see|why|what\(\))")  # code for them
DONE = re.compile(r"\b(were|are kept|cannot be continued|left out|does not count|no step will be|trying|incomplete)\b")  # of a warning

# Calls: the number of the argument that is the text, and what is known of its kind; "part": a part of a message.
CALLS = {"fail": (1, None), "warn": (0, "warning"), "fail_spec": (1, "part"), "error": (1, "part"), "refuse": (0, "part"),
         "damaged": (0, "part"), "fail_at": (3, "part"), "warn_count": (1, "part"), "end_all": (0, "part")}
CALL = re.compile(rf"\b({'|'.join(CALLS)})\(")
# What may be thrown other than by fail(), and who may write to stderr.
THROWN = {"std::logic_error": "*", "std::bad_alloc": "tutti/*", "Error": "tutti/base/*", "SpecError": "tutti/mesh/*", "SharedError": "*"}
SPEAKERS = ("tutti/base/log.cpp", "tutti/program/program.cpp", "tutti/device/fake/fake_memory.cpp")
LEXEME = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\b\d(?:[\w.]|\'\w)*|\'(?:[^\'\\\n]|\\.)+\'', re.S)
TEXT = re.compile(r'"\d+"(?:\s*"\d+")*')


def form(text, kind="part", more="", advised=False):
    """What is wrong with a message. `more`: other texts that go into it; advised: it also takes what the code calls advice."""
    if not re.match(r"[a-z{'\"$/<-]", text) and not text.startswith(NAMES):
        yield "must begin with a small letter, a name or a place"
    if re.search(r"[\n\r\t]", text) or text.endswith((".", ";", ",", ":", " ")) and not text.endswith("..."):
        yield "must be one line without a full stop at its end"
    if "!" in text or re.search(r"\bplease\b", text, re.I):
        yield "must do without '!' and 'please'"
    if re.search(r"\b(invalid|illegal|bad|not valid|failed to)\b(?![./:_'-])", text) and not re.search(r"\b(expected|must|write)\b", text):
        yield "must say what was expected, not that something is bad"
    if kind in ("input", "io") and not re.match(r"\{[^}]*\}(:|;| at |[a-z])|[^ ]+: ", text) and not text.startswith(PLACES):
        yield "must begin with a file, a place in it or a key"
    if kind != "part" and not (advised or REMEDY.search(text) or REMEDY.search(more) or kind == "warning" and DONE.search(text)):
        yield "must say what was expected or what to do"


def masked(source):
    """The source without comments, its texts as numbers in quotes; the texts."""
    texts = []

    def mask(m):
        text = m[2] if m[2] is not None else m[3] and re.sub(r"\\(.)", lambda e: {"n": "\n", "t": "\t"}.get(e[1], e[1]), m[3])
        texts.append(text)
        return ("0" if text is None else f'"{len(texts) - 1}"') * (m[0][0] != "/") + "\n" * m[0].count("\n")
    return LEXEME.sub(mask, source), texts


def arguments(code, at):
    """The arguments of the call whose parenthesis opens before `at`."""
    depth, begin, found = 0, at, []
    for end in range(at, len(code)):
        depth += (code[end] in "([{") - (code[end] in ")]}")
        if depth < 0 or depth == 0 and code[end] == ",":
            found.append(code[begin:end])
            begin = end + 1
        if depth < 0:
            break
    return found


def check_source(file, source):
    code, texts = masked(source)

    def joined(m):
        return "".join(texts[int(n)] for n in re.findall(r"\d+", m[0]))
    for call in CALL.finditer(code):
        (number, kind), given = CALLS[call[1]], arguments(code, call.end())
        if kind is None:
            kind = (re.findall(r"ErrorKind::(\w+)", given[0]) or ["part"])[0]
        more, advised = "; ".join(map(joined, TEXT.finditer(", ".join(given)))), ADVICE.search(", ".join(given))
        for m in TEXT.finditer(given[number] if number < len(given) else ""):
            text = joined(m) if kind != "part" else re.sub(r"^[ ;]+", "", joined(m))  # what goes on behind another part
            if re.search("[A-Za-z]{2}", text) and not text.startswith("internal error"):
                line = code.count("\n", 0, call.start()) + 1
                yield from ((line, f"'{text}' {wrong}") for wrong in form(text, kind, more, advised))
    for m in re.finditer(r"\bthrow ([\w:]+)|\b(stderr|cerr)\b", code):
        if m[2] and file not in SPEAKERS or m[1] and not fnmatch.fnmatch(file, THROWN.get(m[1], "")):
            yield code.count("\n", 0, m.start()) + 1, f"{m[0]}: use fail() or warn()"


def check_python(source):
    tree = ast.parse(source)
    tries = [t for t in ast.walk(tree) if isinstance(t, ast.Try) and any(isinstance(n, ast.Raise) for h in t.handlers for n in ast.walk(h))]
    told_again = {n for t in tries for body in t.body for n in ast.walk(body)}
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) and node not in told_again else None
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("ValueError", "FileNotFoundError"):
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in getattr(call.args[0], "values", call.args))
            yield from ((node.lineno, f"'{text}' {wrong}") for wrong in form(text, "usage"))


SELF_TEST = {  # code: a word of what is wrong with it, none where it is right
    'fail(ErrorKind::input, "{}: found {}; a number " /* " */ "is expected", path.string(), n);': "",
    'fail(ErrorKind::io, R"({}: cannot be read; check the name)", f("a, b", {1, 2}));  // fail(ErrorKind::io, "No.")': "",
    "fail(ErrorKind::usage, \"'{}' of 1'000; give {}\", c == '\"' ? 'a' : '\\'', n);": "",
    'warn("{} cells were turned", n); fail(ErrorKind::io, "{}: no: {}", path, system_cause(errno));': "",
    'fail(ErrorKind::usage, "Found nothing; give a name");': "small letter",
    'fail(ErrorKind::usage, "found\\nnothing; give a name");': "one line",
    'fail(ErrorKind::usage, "found nothing; give a " "name.");': "full stop",
    'fail(ErrorKind::usage, "no name, please; give one");': "'please'",
    'fail(ErrorKind::usage, "failed to find it; check it");': "what was expected, not",
    'fail(ErrorKind::input, "found nothing; a number is expected");': "a place in it",
    'fail(ErrorKind::usage, "the name is unknown");': "what to do",
    'source.error(line, "no number.");': "full stop",
    'throw std::runtime_error("x");': "fail()",
    'fmt::print(stderr, "x");': "stderr",
}


def self_test():
    found = {code: [text for _, text in check_source("test.cpp", code)] for code in SELF_TEST}
    wrong = [f"{code}: expected '{word}', got {found[code]}" for code, word in SELF_TEST.items()
             if len(found[code]) != bool(word) or word not in "".join(found[code])]
    wrong += [] if list(check_python('raise ValueError(f"{a}: no; give one.")')) else ["a full stop in Python"]
    print("\n".join([*wrong, f"messages self-test: {len(SELF_TEST) + 1 - len(wrong)} right, {len(wrong)} wrong"]))
    return wrong


def main():
    if "--self-test" in sys.argv[1:] and self_test():
        return 1
    root, found = Path(__file__).resolve().parent.parent, []
    for path in sorted(path for folder in ("tutti", "app", "python/tutti") for path in (root / folder).rglob("*.*")):
        file = path.relative_to(root).as_posix()
        if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".py"):
            text = path.read_text(encoding="utf-8")
            lines = check_python(text) if path.suffix == ".py" else check_source(file, text)
            found += [f"{file}:{line}: {wrong}" for line, wrong in lines]
    print("\n".join([*found, f"messages: {len(found)} findings"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
