"""Reads the messages out of C++ sources: a tokenizer and an evaluator of the expressions that texts are made of.

A message is a list of parts: a plain text (str) or a Hole, the place of a value that is only known when it is printed.
"""
import re
from typing import NamedTuple


class Hole(NamedTuple):
    name: str
    sides: tuple = ()  # of a choice: the parts of either side


class Token(NamedTuple):
    kind: str  # name, text, number, mark
    text: str  # of a text: its value
    line: int


class Message(NamedTuple):
    kind: str  # usage, input ... or warning
    parts: tuple  # the whole message
    file: str
    line: int
    own: tuple  # without what is put around it


NAME = re.compile(r"[A-Za-z_]\w*")
NUMBER = re.compile(r"\.?\d(?:[\w.]|'(?=\w)|(?<=[eEpP])[+-])*")
RAW = re.compile(r'(?:u8|u|U|L)?R"([^()\\\s]*)\(')
QUOTED = re.compile(r'(?:u8|u|U|L)?"((?:[^"\\\n]|\\.)*)"')
CHARACTER = re.compile(r"'((?:[^'\\\n]|\\.)+)'")
MARKS = ("<<=", ">>=", "...", "->*", "<=>", "::", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "++",
         "--")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "'": "'", "\\": "\\"}


def unescape(text):
    return re.sub(r"\\x([0-9a-fA-F]+)|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else ESCAPES.get(m[2], m[2]), text)


def tokens_of(source):
    """Tokens without comments and preprocessor lines; adjacent texts are one."""
    tokens, at, line, line_begins = [], 0, 1, True
    while at < len(source):
        c = source[at]
        end = at + 1
        if c == "\n":
            line_begins = True
        elif c in " \t\r\f":
            pass
        elif source.startswith("//", at):
            end = source.find("\n", at) % (len(source) + 1)
        elif source.startswith("/*", at):
            end = source.index("*/", at) + 2
        elif c == "#" and line_begins:
            while (end := source.find("\n", end) % (len(source) + 1)) < len(source) and source[end - 1] == "\\":
                end += 1
        else:
            line_begins = False
            if raw := RAW.match(source, at):
                close = source.index(")" + raw[1] + '"', raw.end())
                token, end = Token("text", source[raw.end():close], line), close + len(raw[1]) + 2
            elif found := QUOTED.match(source, at):
                token, end = Token("text", unescape(found[1]), line), found.end()
            elif found := NAME.match(source, at):
                token, end = Token("name", found[0], line), found.end()
            elif found := NUMBER.match(source, at):
                token, end = Token("number", found[0], line), found.end()
            elif found := CHARACTER.match(source, at):
                token, end = Token("character", unescape(found[1]), line), found.end()
            else:
                mark = next((m for m in MARKS if source.startswith(m, at)), c)
                token, end = Token("mark", mark, line), at + len(mark)
            if token.kind == "text" and tokens and tokens[-1].kind == "text":
                tokens[-1] = tokens[-1]._replace(text=tokens[-1].text + token.text)
            else:
                tokens.append(token)
        line += source.count("\n", at, end)
        at = end
    return tokens


OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


def is_mark(token, *marks):
    return token.kind == "mark" and token.text in marks


def closing(tokens, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if is_mark(tokens[i], *OPEN):
            depth += 1
        elif is_mark(tokens[i], *CLOSE):
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"line {tokens[at].line}: a bracket is not closed")


def split(tokens, mark):
    """The pieces between marks outside of all brackets."""
    pieces, depth = [[]], 0
    for token in tokens:
        depth += is_mark(token, *OPEN) - is_mark(token, *CLOSE)
        if depth == 0 and is_mark(token, mark):
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]


# A call of these is named by what it is given: format_count(n) is {n}.
WRAPS = {"format_count", "format_bytes", "format_duration", "format_cores", "shown", "join", "list_names",
         "to_string", "string", "min", "max", "quote_toml", "name_of", "static_cast", "string_view", "c_str", "value",
         "abs", "format", "move", "size", "native", "max_size", "first", "second", "begin", "end", "data", "front",
         "back", "substr", "at", "get", "value_or", "count"}
# Calls whose name, or whose arguments, say too little.
CALLS = {"what": "cause", "strerror": "cause", "message": "cause", "system_cause": "cause; advice", "where": "place",
         "column_text": "place", "line_text": "place", "place": "place", "excerpt": "text", "describe": "type",
         "expected_text": "expected", "list_groups": "known groups", "with_nearest": "nearest", "full_name":
         "command", "reason": "reason", "metis_error": "cause", "condition_words": "condition", "cudaGetErrorString":
         "cause", "cudaGetErrorName": "code", "see": "see", "unknown_key_message": "unknown_key_message"}
IGNORED = {"std", "fmt", "tutti", "fs", "double", "int", "Size", "Gid", "long", "unsigned", "char", "this",
           "uint64_t", "int64_t", "size_t"}


def hole_name(tokens):
    """A short readable name for an expression: {path} for path_.string(), {cause} for std::strerror(errno)."""
    words = []  # (name, it continues a chain a.b)
    for i, token in enumerate(tokens):
        called = i + 1 < len(tokens) and (is_mark(tokens[i + 1], "(") or token.text == "static_cast")
        if token.kind == "name" and called and token.text in CALLS:
            return CALLS[token.text]
        if token.text == "where":
            return "place"
        if token.kind == "name" and token.text not in IGNORED and not (called and token.text in WRAPS):
            words.append((token.text.strip("_"), i > 0 and is_mark(tokens[i - 1], ".", "->")))
    if not words:
        return "value"
    name = words[0][0]
    for word, continues in words[1:]:
        if not continues:
            break
        name = word
    return name


class Unreadable(Exception):
    pass


class Scan:
    """One file. `constants` are its named texts."""

    def __init__(self, file, source, texts=()):
        self.file = file
        self.tokens = tokens_of(source)
        self.constants = {**self._constants(), **dict(texts)}

    def _constants(self):
        """constexpr const char* advice = "..."; also std::string and std::string_view, and arrays of characters."""
        found = {}
        t = self.tokens
        for i in range(1, len(t) - 2):
            if t[i].kind == "text" and is_mark(t[i - 1], "=") and is_mark(t[i + 1], ";"):
                name = t[i - 2] if not is_mark(t[i - 2], "]") else t[i - 4]
                before = {token.text for token in t[max(0, i - 8):i - 2]}
                if name.kind == "name" and before & {"constexpr", "const"}:
                    found[name.text] = t[i].text
        return found

    def text(self, tokens):
        """Parts of an expression that makes a text."""
        while tokens and is_mark(tokens[0], "(") and closing(tokens, 0) == len(tokens) - 1:
            tokens = tokens[1:-1]
        condition = split(tokens, "?")
        if len(condition) >= 2:
            choice = tokens[len(condition[0]) + 1:]
            return (self._choice(choice),)
        terms = split(tokens, "+")
        if len(terms) > 1:
            return join_parts([self.text(term) for term in terms])
        if len(tokens) == 1:
            if tokens[0].kind == "text":
                return (tokens[0].text,)
        if tokens[0].text in self.constants and (len(tokens) == 1 or tokens[0].text == "see"):
            return fill(self.constants[tokens[0].text], ())
        if len(tokens) > 3:
            head = [token.text for token in tokens[:4]]
            if head[:3] == ["fmt", "::", "format"] and closing(tokens, 3) == len(tokens) - 1:
                return self.format(split(tokens[4:-1], ","))
            if head == ["std", "::", "string", "("] and tokens[4].text == ")":
                return ("",)
            if head == ["std", "::", "string", "("] and closing(tokens, 3) == len(tokens) - 1 and tokens[4].kind == "text":
                return self.text(tokens[4:-1])
        return (Hole(hole_name(tokens)),)

    def _choice(self, tokens):
        """a : b, of which either may be another choice."""
        depth = nested = 0
        for i, token in enumerate(tokens):
            depth += is_mark(token, *OPEN) - is_mark(token, *CLOSE)
            nested += depth == 0 and is_mark(token, "?")
            if depth == 0 and is_mark(token, ":"):
                if nested == 0:
                    sides = self.text(tokens[:i]), self.text(tokens[i + 1:])
                    if len(sides[1]) == 1 and isinstance(sides[1][0], Hole) and sides[1][0].sides:  # a ? b : c ? d : e
                        sides = sides[0], *sides[1][0].sides
                    if all(isinstance(part, Hole) and not part.sides for side in sides for part in side):
                        return sides[0][0]
                    return Hole("|".join(shown(side) for side in sides), sides)
                nested -= 1
        raise Unreadable("a choice without ':'")

    def format(self, arguments):
        """Parts of a format string and its arguments."""
        if not arguments:
            raise Unreadable("a format without a text")
        text = self.text(arguments[0])
        if len(text) != 1 or isinstance(text[0], Hole):
            raise Unreadable("a format that is no plain text")
        parts, used = [], 1
        for piece in re.split(r"(\{\{|\}\}|\{[^{}]*(?:\{\}[^{}]*)*\})", text[0]):
            if piece in ("{{", "}}"):
                parts.append((piece[0],))
            elif piece.startswith("{"):
                if used >= len(arguments):
                    raise Unreadable(f"'{text[0]}' has fewer arguments than places")
                parts.append(self._argument(arguments[used]))
                used += 1 + piece.count("{}", 1)
            elif piece:
                parts.append((piece,))
        return join_parts(parts)

    def _argument(self, tokens):
        """A text or a choice of texts is told, any other value is a hole."""
        parts = self.text(tokens)
        told = any(isinstance(part, str) or part.sides for part in parts)
        return parts if told else (Hole(hole_name(tokens)),)

    def calls(self, name):
        """(place, arguments) of every call of `name`, "a.error" only on an object a, ".error" on any; no declarations."""
        *owner, word = name.split(".")
        for i, token in enumerate(self.tokens[:-1]):
            if token.kind != "name" or token.text != word or not is_mark(self.tokens[i + 1], "("):
                continue
            before = self.tokens[i - 1] if i else Token("mark", ";", 0)
            member = is_mark(before, ".", "->")
            if owner:
                if not member or owner[0] and self.tokens[i - 2].text != owner[0]:
                    continue
            elif member:
                continue
            end = closing(self.tokens, i + 1)
            # `void error(const char* at, ...)` and `fail(ErrorKind kind, ...) {` are declarations.
            of_tutti = is_mark(before, "::") and self.tokens[i - 2].text == "tutti"
            of_a_type = before.kind == "name" and before.text not in ("return", "else", "throw", "do")
            if of_a_type or is_mark(before, "*", "&", ">", "::", "]") and not of_tutti:
                continue
            if end + 1 < len(self.tokens) and is_mark(self.tokens[end + 1], "{") or \
                    self.tokens[min(end + 1, len(self.tokens) - 1)].text in ("const", "noexcept", "override"):
                continue
            yield token.line, split(self.tokens[i + 2:end], ",")

    def braces(self, name):
        """(line, entries) of every name{...}."""
        for i, token in enumerate(self.tokens[:-1]):
            before = self.tokens[i - 1].text if i else ""
            declares = before in ("struct", "class")
            if token.text == name and token.kind == "name" and is_mark(self.tokens[i + 1], "{") and not declares:
                yield token.line, split(self.tokens[i + 2:closing(self.tokens, i + 1)], ",")

    def returns(self, function):
        """(line, expression) of every return of a function of this file."""
        t = self.tokens
        for i, token in enumerate(t[:-1]):
            if token.text != function or not is_mark(t[i + 1], "("):
                continue
            body = closing(t, i + 1) + 1
            while body < len(t) and t[body].text in ("const", "noexcept", "override"):
                body += 1
            if body >= len(t) or not is_mark(t[body], "{"):
                continue
            end = closing(t, body)
            j = body
            while j < end:
                if is_mark(t[j], "[") and is_mark(t[j - 1], "=", "(", ",", "return"):  # a function in the function
                    while not is_mark(t[j], "{"):
                        j += 1
                    j = closing(t, j)
                elif t[j].text == "return" and not is_mark(t[j + 1], ";"):
                    yield t[j].line, split(t[j + 1:end], ";")[0]
                j += 1

    def assignments(self, name):
        """(line, expression) of every `name = ...;`, with or without an object before it."""
        t = self.tokens
        for i, token in enumerate(t[:-2]):
            if token.text == name and token.kind == "name" and is_mark(t[i + 1], "=", "+="):
                yield token.line, split(t[i + 2:], ";")[0]

    def throws(self):
        """(line, type) of every throw that throws something new."""
        for i, token in enumerate(self.tokens):
            if token.text == "throw" and token.kind == "name" and not is_mark(self.tokens[i + 1], ";"):
                j, words = i + 1, []
                while self.tokens[j].kind == "name" or is_mark(self.tokens[j], "::"):
                    words.append(self.tokens[j].text)
                    j += 1
                yield token.line, "".join(words)


def join_parts(pieces):
    """One list of parts; neighbouring texts become one."""
    parts = []
    for piece in pieces:
        for part in piece:
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            else:
                parts.append(part)
    return tuple(parts)


def fill(around, parts):
    """`around` with `parts` in the place of {} and a hole for every {name}."""
    pieces = []
    for piece in re.split(r"(\{\w*\})", around):
        if piece == "{}":
            pieces.append(parts)
        elif piece:
            pieces.append((Hole(piece[1:-1]) if piece.startswith("{") else piece,))
    return join_parts(pieces)


def shown(parts):
    """As the page shows it: {name} for a hole."""
    return "".join(part if isinstance(part, str) else "{" + part.name + "}" for part in parts)


def pattern(parts):
    """A regular expression that matches the whole message as it is printed."""
    def one(part):
        if isinstance(part, str):
            return re.escape(part)
        return "(?:" + "|".join(pattern(side) for side in part.sides) + ")" if part.sides else ".*"
    return "".join(one(part) for part in parts)
