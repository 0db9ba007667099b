"""Pictures as files: whole, or not there at all."""

import argparse
import io
import os
import stat
from pathlib import Path


def parse_dpi(text):
    """The option --dpi."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1200):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of dots per inch; write 1 to 1200, e.g. 160")
    return int(text)


def save_figure(figure, path, dpi):
    """The figure in the format that the path's ending names. OSError names the file; ValueError: no such format."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dpi, facecolor="white", format=Path(path).suffix[1:] or "png")
    write_whole(path, drawn.getvalue())


def write_whole(path, content):
    """Bytes under a name, which an old file keeps until all are there. A device or a pipe is written in place."""
    path = Path(path)
    target = Path(os.path.realpath(path))
    in_place = target.exists() and not stat.S_ISREG(target.stat().st_mode)
    written = target if in_place else target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        try:
            with open(written, "wb") as file:
                file.write(content)
            if not in_place:
                os.replace(written, target)
        finally:
            if not in_place:
                written.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
