"""How errors are told: one line that says where, what and what to do (docs/reference/exit-codes.md)."""

import errno

KINDS = {2: "usage", 3: "resource", 4: "input", 5: "io", 6: "numerical", 7: "peer"}


class Error(RuntimeError):
    """What the program refused or could not do, in its own words.

    code: the program's exit code; kind: its name, one of "usage", "resource", "input", "io", "numerical", "peer", or
    "bug" for any other code (docs/reference/exit-codes.md).
    """

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code
        self.kind = KINDS.get(code, "bug")


def need(module, what):
    """The module, or an Error that says what needs it and how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        package = {"vtkmodules": "vtk"}.get(module, module)
        raise Error(f"{what}: this Python has no {package}; pip install {package}", 3) from None


def told(error):
    """The text of an OSError or a ValueError; what the system says about a file gets the file's name and an advice."""
    if isinstance(error, OSError) and error.filename is not None:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return f"{error.filename}: {error.strerror}; {'free space or choose another folder' if full else 'check the name and the permissions'}"
    return str(error)
