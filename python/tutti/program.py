"""The program `tutti` from Python: found, started (over MPI, too), watched; its errors as exceptions, its warnings as warnings."""

import functools
import numbers
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
import weakref
from pathlib import Path

from tutti.messages import Error

_PROGRESS = re.compile(r"\s*\d+ %  ")


def find_program(program=None):
    """The program: as given, of $TUTTI, of this Python's environment (pip puts it there), of the PATH, or of the tree
    that this package lies in."""
    here = Path(__file__).resolve()
    own = [here.parents[4] / "bin" / "tutti"] if len(here.parents) > 4 else []  # PREFIX/share/tutti/python/tutti
    for name in (program, os.environ.get("TUTTI"), Path(sysconfig.get_path("scripts")) / "tutti", "tutti", *own):
        if name:
            found = shutil.which(str(name))
            if found:
                return found
            if name == program:
                break
    raise FileNotFoundError(f"{program or 'tutti'}: no such program; give its path as program=..., or set TUTTI")


@functools.cache
def _is_open_mpi(launcher):
    done = subprocess.run([launcher, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return any(name in done.stdout + done.stderr for name in ("Open MPI", "OpenRTE", "Open RTE", "PRRTE"))


def launcher_of(ranks, launch=None):
    """The words before the program: `launch` ("srun -n {ranks}"), or mpirun's for `ranks` that may run anywhere."""
    if ranks is not None and (not isinstance(ranks, numbers.Integral) or ranks < 1):
        raise ValueError(f"ranks={ranks!r}: not a whole number from 1 on; leave it out to run without MPI")
    if launch is not None:
        try:
            words = [word.format(ranks=ranks) for word in (launch.split() if isinstance(launch, str) else launch)]
        except (KeyError, IndexError, ValueError):
            raise ValueError(f"launch={launch!r}: only {{ranks}} can stand in braces") from None
        if not words or shutil.which(words[0]) is None:
            raise FileNotFoundError(f"launch={launch!r}: no such program; give its path, or leave it out for mpirun")
        return words
    if ranks is None:
        return []
    mpirun = shutil.which("mpirun") or shutil.which("mpiexec")
    if mpirun is None:
        raise Error(f"ranks={ranks}: no mpirun on the PATH; install MPI (Debian: apt install openmpi-bin), or give launch=...", 3)
    words = [mpirun, "-np", str(ranks)]
    if _is_open_mpi(mpirun):  # the program shares the cores out by itself
        words += ["--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    return words


def _in_notebook():
    try:
        return get_ipython().__class__.__name__ == "ZMQInteractiveShell"  # IPython puts the name there
    except NameError:
        return False


class TemporaryFolder:
    """A folder that is there as long as this object."""

    def __init__(self, prefix):
        self.name = tempfile.mkdtemp(prefix=prefix)
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


class ProgressLine:
    """One line that is written over and over. show: True, False, None (where a terminal or a notebook shows it), or a
    function that is given each line."""

    def __init__(self, show=None):
        self._tell = show if callable(show) else None
        self._on = self._tell is None and (_in_notebook() or sys.stdout.isatty() if show is None else bool(show))
        self._width = 0

    def show(self, text):
        if self._tell:
            self._tell(text)
        elif self._on:  # blanks instead of escape sequences, which not everything that shows a notebook knows
            sys.stdout.write("\r" + text.ljust(self._width))
            sys.stdout.flush()
            self._width = len(text)

    def end(self):
        if self._width:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._width = 0


def raise_error(command, code, stderr):
    """The program's own line, which says where, what and what to do, as an Error."""
    lines = stderr.strip().splitlines()
    errors = [found[1] for line in lines if (found := re.search(r"(?:^|\s)[^\s:]+: error: (.*)", line))]
    raise Error(errors[0] if errors else "\n".join(lines[-5:]) or f"{command[0]} ended with code {code}", code)


def run_program(words, ranks=None, launch=None, program=None, progress=False, stop_file=None, cwd=None):
    """Runs `tutti WORDS` and returns what it said. Error where it ends with another code than 0. Where Python is
    interrupted (Ctrl-C, a notebook's stop button), `stop_file` is made, which ends a run with a checkpoint; then
    KeyboardInterrupt goes on. A second interrupt ends the program at once."""
    command = [*launcher_of(ranks, launch), find_program(program), *map(str, words)]
    said, line = [], ProgressLine(progress)
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        # A session of its own: Ctrl-C is for Python, which then stops the run in an orderly way.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   errors="replace", cwd=cwd, start_new_session=True)
        try:
            _listen(process, said, line)
        except KeyboardInterrupt:
            if stop_file is None or not Path(stop_file).parent.is_dir():
                process.terminate()
            else:
                Path(stop_file).touch()
            _listen(process, said, line)
            raise
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
            line.end()
        errors.seek(0)
        stderr = errors.read()
    for text in re.findall(r"^[^\s:]+: warning: (.*)", stderr, re.MULTILINE):
        warnings.warn(text, stacklevel=3)
    if process.returncode != 0:
        raise_error(command, process.returncode, stderr)
    return "".join(said)


def _listen(process, said, line):
    for text in process.stdout:
        said.append(text)
        if _PROGRESS.match(text):
            line.show(text.rstrip())
    process.wait()
