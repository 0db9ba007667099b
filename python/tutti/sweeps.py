"""Many runs of a case with other values of its keys, some at a time, and a table of them."""

import itertools
import numbers
import os
import queue
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tutti.messages import Error
from tutti.program import ProgressLine, TemporaryFolder
from tutti.runs import table

_COLUMNS = ("steps", "time", "dt", "wall_seconds", "cell_steps_per_second", "checksum")


def _of_summary(summary):
    """The columns of a row: of the summary, its errors and its diagnostics."""
    row = {name: summary[name] for name in _COLUMNS}
    row |= {f"error {name}": value for name, value in summary.get("errors", {}).items()}
    row |= summary.get("diagnostics", {})
    return {name: np.nan if value is None else value for name, value in row.items()}


def sweep(case, values, jobs=1, output=None, progress=None, threads=None, **options):
    """Runs the case with all combinations of {key: [value, ...]}, `jobs` at a time, each on its share of the cores.

    Returns a table (pandas.DataFrame or structured array) with a row a run, in order: the keys' values, figures of the
    summary, the diagnostics at the end, `run` (the Run; None where it failed) and `problem` ("" or the error's line).
    output: folder of the runs' folders, 000, 001, ...; None: temporary. options: those of Case.run.
    """
    for key, chosen in values.items():
        if isinstance(chosen, str) or not np.iterable(chosen):
            raise TypeError(f"sweep: {key}: {chosen!r} is no list of values; write [{chosen!r}]")
    if not isinstance(jobs, numbers.Integral) or jobs < 1:
        raise ValueError(f"sweep: jobs={jobs!r}: not a whole number from 1 on; leave it out for one run at a time")
    combinations = [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())]
    cores = sorted(os.sched_getaffinity(0))
    shares = queue.SimpleQueue()
    for job in range(jobs):
        shares.put(cores[job * len(cores) // jobs:(job + 1) * len(cores) // jobs] or cores[job % len(cores):][:1])
    temporary = TemporaryFolder("tutti_sweep_") if output is None else None
    folder = Path(temporary.name if temporary else output)

    def run_one(number):
        changed = case.copy()
        for key, value in combinations[number].items():
            changed[key] = value
        share = shares.get()
        os.sched_setaffinity(0, share)  # of this thread; the program inherits it and starts as many threads
        try:
            run = changed.run(folder / f"{number:03d}", progress=False, threads=len(share) if threads is None else threads, **options)
            run._temporary = temporary
            return run, ""
        except Error as error:
            return None, str(error)
        finally:
            shares.put(share)

    line, done = ProgressLine(progress), []
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_one, number) for number in range(len(combinations))]
        try:
            for future in futures:
                done.append(future.result())
                line.show(f"{len(done)} of {len(futures)} runs")
        except BaseException:
            for number, future in enumerate(futures):  # those that run end with a checkpoint
                if not future.cancel() and not future.done() and (folder / f"{number:03d}").is_dir():
                    (folder / f"{number:03d}" / "stop").touch()
            raise
        finally:
            line.end()
    rows = [combination | (_of_summary(run.summary) if run else {}) for combination, (run, _) in zip(combinations, done)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [(name, _column([row.get(name, np.nan) for row in rows])) for name in names]
    return table([*columns, ("run", _column([run for run, _ in done], object)), ("problem", [text for _, text in done])])


def _column(values, kind=None):
    """One dimension, whatever the values are: lists are objects."""
    if kind is None and all(isinstance(v, (bool, int, float, np.number)) for v in values):
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column
