"""How errors are told: one line that says where, what and what to do (docs/reference/exit-codes.md)."""

import errno


def told(error):
    """The text of an OSError or a ValueError; what the system says about a file gets the file's name and an advice."""
    if isinstance(error, OSError) and error.filename is not None:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return f"{error.filename}: {error.strerror}; {'free space or choose another folder' if full else 'check the name and the permissions'}"
    return str(error)
