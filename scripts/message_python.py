"""Reads the messages of `tutti plot` out of the Python package, which draws for it: what its modules raise, and say."""
import ast

from message_scan import Hole, join_parts

# What is raised, its kind, and what is put around its text; tutti.plot and the others print it, `tutti plot` passes it on.
RAISED = {
    "ValueError": ("input", "{}"),
    "FileNotFoundError": ("io", "{}"),
    "ArgumentTypeError": ("usage", "--view: {}"),  # the one option of which the module reads the text
}
RETURNED = {"told": "io"}  # a function that makes the text of an OSError
PRINTED = {"python/tutti/__main__.py": "resource"}  # module: the kind of what it prints itself
NAMES = {"error": "cause", "strerror": "cause"}


def hole_name(node):
    """{path} for an expression such as self.path or ', '.join(path)."""
    if isinstance(node, ast.Call):
        return hole_name(node.args[0] if node.args else node.func)
    if isinstance(node, ast.BoolOp):
        return hole_name(node.values[0])
    if isinstance(node, ast.Subscript):
        return hole_name(node.value)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "value")
    return NAMES.get(name, name)


def text_of(node):
    """Parts of a text; none when it is no text of the module's own."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    if isinstance(node, ast.JoinedStr):
        return join_parts([text_of(v) or (Hole(hole_name(v.value)),) for v in node.values])
    return None


def is_told_again(parents, node):
    """Inside of a try that makes another message of it."""
    while node := parents.get(node):
        if isinstance(node, ast.Try) and any(isinstance(n, ast.Raise) for h in node.handlers for n in ast.walk(h)):
            return True
        if isinstance(node, ast.ExceptHandler):
            node = parents[node]  # what a handler raises leaves its try
    return False


def read_python(file, source):
    """(kind, what is around the text, parts, line) of every message of a module."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and not is_told_again(parents, node):
            kind, around = RAISED[hole_name_of_call(node.exc)]
            yield kind, around, text_of(node.exc.args[0]), node.lineno
        elif isinstance(node, ast.FunctionDef) and node.name in RETURNED:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and (parts := text_of(inner.value)):
                    yield RETURNED[node.name], "{}", parts, inner.lineno
        elif isinstance(node, ast.Call) and hole_name_of_call(node) == "print" and any(
                k.arg == "file" and getattr(k.value, "attr", "") == "stderr" for k in node.keywords):
            parts = text_of(node.args[0])
            words = parts and parts[0].split(": ", 1)[1] if isinstance(parts and parts[0], str) and ": " in parts[0] else ""
            if words:  # else it prints an error's text
                yield PRINTED[file], "{}", (words, *parts[1:]), node.lineno


def hole_name_of_call(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
