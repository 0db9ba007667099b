"""Cases: read, changed, planned and run.

    case = Case.load("case.toml")
    case["physics.K"] = 0.2
    run = case.run(devices="all", ranks=4)
"""

import contextlib
import json
import numbers
import re
import tempfile
from pathlib import Path

from tutti import initial
from tutti.messages import Error
from tutti.program import TemporaryFolder, run_program

_STEP = re.compile(r"([A-Za-z0-9_-]+)((?:\[\d+\])*)")


def toml_text(value):
    """A value as TOML writes it, tables inline. TypeError where TOML has no such value."""
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)  # inf and nan, too
    if isinstance(value, (str, Path)):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(str(key))} = {toml_text(v)}' for key, v in value.items())}}}"
    raise TypeError(f"{type(value).__name__} is no value of a case; give a number, a text, a list or a dict")


def _steps(key):
    """["boundary", 0, "value"] of "boundary[0].value"."""
    steps = []
    for part in key.split("."):
        match = _STEP.fullmatch(part)
        if not match:
            raise KeyError(f"'{key}' is no key of a case; write e.g. time.end or boundary[0].value")
        steps += [match[1], *(int(i) for i in re.findall(r"\d+", match[2]))]
    return steps


def _put(tree, steps, value):
    """Sets the entry of the tree, made where it is not there; None takes it out."""
    for step, following in zip(steps, steps[1:]):
        if isinstance(tree, dict):
            tree = tree.setdefault(step, [] if isinstance(following, int) else {})
            continue
        if step == len(tree):
            tree.append({})
        tree = tree[step]
    if value is None:
        del tree[steps[-1]]
    elif isinstance(tree, list):
        tree[steps[-1]:steps[-1] + 1] = [value]
    else:
        tree[steps[-1]] = value


def _toml_module():
    try:
        import tomllib
    except ImportError:  # Python 3.9 and 3.10
        try:
            import tomli as tomllib
        except ImportError:
            raise Error("reading a key of a case: this Python has no tomllib; pip install tomli", 3) from None
    return tomllib


class Case:
    """A case file, or the text or the dict of one, with keys that are changed: what `--set` of the program does.

    Names of files in a text or a dict are relative to `folder`.
    """

    def __init__(self, content, folder="."):
        if not isinstance(content, (dict, str)):
            raise TypeError(f"{type(content).__name__} is no case; give a dict or the text of a case file, or use Case.load(file)")
        if isinstance(content, dict):
            content = "".join(f"{json.dumps(str(key))} = {toml_text(value)}\n" for key, value in content.items())
        self._text, self._folder, self.path, self._sets, self._values = content, Path(folder), None, {}, {}

    @classmethod
    def load(cls, path):
        """A case file. OSError where it cannot be read; what is wrong inside is told by check, plan and run."""
        case = cls(Path(path).read_text(encoding="utf-8"), Path(path).parent)
        case.path = Path(path)
        return case

    def copy(self):
        """The same case, to be changed on its own."""
        other = Case(self._text, self._folder)
        other.path, other._sets, other._values = self.path, dict(self._sets), dict(self._values)
        return other

    def __setitem__(self, key, value):
        """A number, a text, a list, a dict; for initial values, the diffusivity, sources, boundary values and velocities of
        transport also a function f(x, y, z) of arrays, which is evaluated on the mesh before the run, or an array with one
        value per cell, as run.fields has them."""
        _steps(key)
        given = initial.is_given(key, value)
        self._forget(key)
        if given:
            self._values[key] = value
        else:
            self._sets[key] = toml_text(value)

    def __delitem__(self, key):
        """Takes the key out, so that its default holds."""
        _steps(key)
        self._forget(key)
        self._sets[key] = ""

    def _forget(self, key):
        self._sets.pop(key, None)  # the last one counts, also where another key lies inside it
        self._values.pop(key, None)

    def __getitem__(self, key):
        """What was set, or what the file says. KeyError where neither does: its default holds."""
        if key in self._values:
            return self._values[key]
        value = self._tree()
        try:
            for step in _steps(key):
                value = value[step]
        except (KeyError, IndexError, TypeError):
            raise KeyError(f"{key}: the case does not say it; its default holds") from None
        return value

    def _tree(self):
        toml = _toml_module()
        try:
            tree = toml.loads(self._text)
        except toml.TOMLDecodeError as error:
            raise Error(f"{self.path or 'the case'}: {error}", 4) from None
        for key, text in self._sets.items():
            with contextlib.suppress(KeyError, IndexError, TypeError):  # the program tells what is wrong with it
                _put(tree, _steps(key), toml.loads(f"value = {text}")["value"] if text else None)
        return tree

    def __repr__(self):
        changed = "".join(f", {key}={text}" for key, text in self._sets.items())
        changed += "".join(f", {key} of Python" for key in self._values)
        return f"<Case {self.path or 'of a text'}{changed}>"

    @contextlib.contextmanager
    def _words(self):
        """CASE and the --set options for the program, as long as the file is there."""
        sets = [word for key, text in self._sets.items() for word in ("--set", f"{key}={text}")]
        if self.path is not None:
            yield [str(self.path), *sets]
            return
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self._folder, prefix="case-", suffix=".toml") as file:
            file.write(self._text)
            file.flush()
            yield [file.name, *sets]

    def plan(self, devices=None, threads=None, program=None):
        """What `tutti plan` says: memory, time step, expected speed. Nothing is run; an Error tells what is wrong."""
        with self._words() as words:
            words += initial.words_before(self._values)
            return run_program(["plan", *words, *device_words(devices, threads)], program=program)

    def run(self, output=None, overwrite=False, devices=None, ranks=None, threads=None, progress=None, options=(),
            launch=None, program=None):
        """Runs the case and returns its Run.

        output: the folder of the results; None: a temporary one, which goes with the Run. overwrite: remove the results of
        an earlier run there. devices: "all", "cpu", "cuda:0,cpu", ... or a list; ranks: over so many ranks of MPI, started
        by `launch` (default: mpirun); threads: of a rank. progress: True, False, None (in a terminal and in Jupyter), or
        a function that is given each line. options: more options of `tutti run`, e.g. ["--trace", "trace.json"].
        Error has the program's line; its warnings are Python's.
        """
        from tutti.runs import Run

        temporary = TemporaryFolder("tutti_run_") if output is None else None
        folder = Path(temporary.name) / "results" if temporary else Path(output)
        values = self._given(Path(temporary.name) if temporary else Path(f"{output}.inputs"), program) if self._values else []
        with self._words() as words:
            words += values + ["-o", str(folder), *(["--overwrite"] if overwrite else []), *device_words(devices, threads), *options]
            said = run_program(["run", *words], ranks, launch, program, progress, folder / "stop")
        return Run(folder, said, temporary)


    def _given(self, folder, program):
        """The --set options of the values that Python gives, which are written to files there: a run of no steps tells where."""
        from tutti.runs import Run

        with tempfile.TemporaryDirectory(prefix="tutti_mesh_") as looked, self._words() as words:
            words += [*initial.words_before(self._values), "--set", "time.end=", "--set", "time.steps=0", "--set",
                      'output.format="vtk"', "--set", "checkpoint.at_end=false"]
            run_program(["run", *words, "-o", f"{looked}/run"], program=program, progress=False)
            return initial.write(self._values, Run(f"{looked}/run"), folder, len(self._tree().get("field", [])))


def device_words(devices=None, threads=None):
    """The options --devices and --threads."""
    if threads is not None and (not isinstance(threads, numbers.Integral) or threads < 1):
        raise ValueError(f"threads={threads!r}: not a whole number from 1 on; leave it out to use all cores")
    if devices is not None and not isinstance(devices, str):
        devices = ",".join(devices)
    return [*(["--devices", devices] if devices else []), *(["--threads", str(threads)] if threads is not None else [])]
