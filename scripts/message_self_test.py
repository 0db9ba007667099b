"""Tries the scan and the rules of write_messages.py on small pieces of code."""
import re
import sys

from message_scan import Scan, pattern, shown
from write_messages import check_form, form, scan_file

READ = {  # code: the messages that it holds
    'fail(ErrorKind::io, "{}: cannot be read: {}", path_.string(), std::strerror(errno));':
        ["io: {path}: cannot be read: {cause}"],
    'fail(ErrorKind::usage, "an" /* b */ " c; "\n  "d {:g} {}", x_, format_count(cells));  // fail(':
        ["usage: an c; d {x} {cells}"],
    'constexpr const char* advice = "use it";\nfail(ErrorKind::input, "{}: {}", name, advice);': ["input: {path}: use it"],
    'fail(bad ? ErrorKind::peer : ErrorKind::io, R"(an "b" {})", n == 1 ? "one" : n == 2 ? "two" : "none");':
        ['io: an "b" {one|two|none}', 'peer: an "b" {one|two|none}'],
    'warn("{} {{no}} {:>{}}", options.where("a.b"), value, width);': ["warning: {place} {no} {value}"],
    'fail(ErrorKind::input, "{}: no", f("a, b", {1, 2}, c[3]).name);': ["input: {path}: no"],
    '#define X fail(ErrorKind::io, "no")\n[[noreturn]] void fail(ErrorKind kind, const char* text) { }': [],
    'tutti::fail(ErrorKind::peer, "gone {}", a.b->c);': ["peer: gone {c}"],
    "fail(ErrorKind::io, \"'{}' it's 1'000\", c == '\"' ? 'a' : '\\'');": ["io: '{c}' it's 1'000"],
}
UNREADABLE = {
    "fail(ErrorKind::io, text);": "the text cannot be read",
    'fail(ErrorKind::io, "{}", text);': "has no words",
    'fail(kind, "{}: no", path);': "the kind of the error cannot be read",
    'fail(ErrorKind::io, "{} {} no", path);': "fewer arguments",
}
RIGHT = [("input", "{path}: found {n}; a number is expected"), ("io", "{path}: cannot be read; check the name"),
         ("usage", "--set {key}: write key=value"), ("warning", "{n} cells were turned"),
         ("resource", "CUDA: no memory; use a smaller mesh")]
WRONG = {
    "begin": ("usage", "Found nothing; give a name"),
    "line": ("usage", "found\nnothing; give a name"),
    "end": ("usage", "found nothing; give a name."),
    "tone": ("usage", "no name, please; give one"),
    "judgement": ("usage", "invalid number; check it"),
    "place": ("input", "found nothing; a number is expected"),
    "advice": ("usage", "found nothing"),
}


def found_in(code):
    messages, problems, _ = scan_file("test.cpp", code, set())
    return sorted(f"{m.kind}: {shown(m.parts)}" for m in messages), problems


def example(kind, text):
    """The message of fail(kind, text), {name} for an argument of that name."""
    words = re.findall(r"\{(\w+)\}", text)
    call = "warn(" if kind == "warning" else f"fail(ErrorKind::{kind}, "
    quoted = re.sub(r"\{\w+\}", "{}", text).replace("\n", "\\n")
    return scan_file("test.cpp", f'{call}"{quoted}"{"".join(", " + w for w in words)});', set())[0][0]


def self_test():
    wrong = []
    for code, expected in READ.items():
        found, problems = found_in(code)
        if found != expected or problems:
            wrong.append(f"{code!r}: expected {expected}, got {found} {problems}")
    for code, expected in UNREADABLE.items():
        problems = found_in(code)[1]
        if len(problems) != 1 or expected not in problems[0]:
            wrong.append(f"{code!r}: expected '{expected}', got {problems}")
    for kind, text in RIGHT:
        if broken := list(form(example(kind, text))):
            wrong.append(f"'{text}' is right, but: {broken}")
    for rule, (kind, text) in WRONG.items():
        message = example(kind, text)
        if [broken for broken, _ in form(message)] != [rule]:
            wrong.append(f"'{text}' breaks '{rule}', but: {list(form(message))}")
        if check_form([message], {(rule, text): "a reason"}):
            wrong.append(f"'{text}' is allowed, but an error")
    if not check_form([], {("advice", "gone"): "a reason"}):
        wrong.append("an entry of ALLOWED that is of no use is no error")
    scan = Scan("test.cpp", 'one ? fmt::format("a {}", n) : "b."')
    parts = scan.text(scan.tokens)
    for text, fits in (("a 7", True), ("b.", True), ("bc", False), ("c", False)):
        if bool(re.fullmatch(pattern(parts), text)) != fits:
            wrong.append(f"{pattern(parts)} and '{text}'")
    for line in wrong:
        print(f"self-test: {line}", file=sys.stderr)
    tried = len(READ) + len(UNREADABLE) + len(RIGHT) + 2 * len(WRONG) + 5
    print(f"messages self-test: {tried - len(wrong)} right, {len(wrong)} wrong")
    return len(wrong)
