"""Any call that writes may fail, the disk may be full after any byte: one line with code 5, or it did no harm."""

import errno
import os
import shutil
import threading

from trials import (CASES, IO, MPIRUN, OPTIONS, PROGRAM, SECONDS, STEPS, Whole, clear_error, goes_on, preloaded, require, run,
                    same_outcome, sets, whole)

SHORT, LONG = 60, 900
ERRORS = [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES]
_most, _lock = {}, threading.Lock()


def run_with(t, folder, arguments, ranks, failure):
    """The Result, and what has failed."""
    log = t.folder / "failed.txt"
    environment = {"LD_PRELOAD": preloaded("TUTTI_FAIL_WRITE"), "FAIL_PATH": folder, "FAIL_LOG": log, **failure}
    start = [] if ranks is None else [*MPIRUN, "-np", str(ranks)]
    result = run([*start, "env", *(f"{name}={value}" for name, value in environment.items()), PROGRAM, "run",
                  *map(str, arguments), *OPTIONS], SECONDS)
    return result, log.read_text() if log.exists() else ""


def begun(t, model):
    """Results of the first steps, to go on from."""
    with _lock:
        folder = t.base / "begun" / model
        if not folder.exists():
            Whole(folder, CASES[model], options=sets(time__steps=STEPS // 2))
        return folder / "results"


def calls(t, model, fresh):
    """How many calls of a run can fail: found once, by counting up."""
    key = model, fresh
    if key not in _most:
        low, high = 0, 64
        while failed_at(t, model, fresh, high):
            low, high = high, 2 * high
        while high - low > 4:
            middle = (low + high) // 2
            low, high = (middle, high) if failed_at(t, model, fresh, middle) else (low, middle)
        _most[key] = high
    return _most[key]


def failed_at(t, model, fresh, k):
    folder = t.folder / "count"
    arguments = prepare(t, model, fresh, folder)
    (t.folder / "failed.txt").unlink(missing_ok=True)
    _, failed = run_with(t, folder, arguments, None, {"FAIL_AT": k})
    shutil.rmtree(folder, ignore_errors=True)
    (t.folder / "failed.txt").unlink(missing_ok=True)
    return bool(failed)


def prepare(t, model, fresh, folder):
    if fresh:
        return [t.case(model), "-o", folder]
    shutil.copytree(begun(t, model), folder)
    return ["--restart", folder, *sets(time__steps=STEPS)]


def trial(t):
    model, ranks = t.model_and_ranks()
    fresh = t.dice.random() < 0.4
    how = t.dice.choices(["call", "bytes", "halves"], [80, 17, 3])[0]
    with _count:
        most = calls(t, model, fresh)
    if how == "call":
        failure = {"FAIL_AT": t.dice.randint(1, most), "FAIL_ERRNO": t.dice.choice(ERRORS)}
    elif how == "bytes":
        failure = {"FAIL_BYTES": t.dice.randint(0, 120000)}
    else:
        failure = {"FAIL_ERRNO": 0}
    if ranks:
        failure["FAIL_RANK"] = t.dice.randrange(ranks)
    folder = t.folder / "results"
    arguments = prepare(t, model, fresh, folder)
    result, failed = run_with(t, folder, arguments, ranks, failure)
    if result.code != 0:
        require(failed, f"nothing failed, and exit code {result.code}:\n{result.err[-2000:]}")
        clear_error(result, {IO})
        cause = os.strerror(failure.get("FAIL_ERRNO", errno.ENOSPC))
        require(cause in result.err, f"the cause, '{cause}', is not told:\n{result.err[-2000:]}")
        require(str(folder) in result.err, f"the place is not told:\n{result.err[-2000:]}")
    else:
        same_outcome(folder, whole(t, model).outcome, result)
    goes_on(t, model, folder, ranks)
    return "error" if result.code else "no harm" if failed else "no failure"


_count = threading.Lock()
