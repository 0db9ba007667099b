"""Less and less memory: exit code 0, or 3 and a line that says what was missing (tests/system/memory_limits.py)."""

import threading

from trials import require

import memory_limits

SHORT, LONG = 50, 3100
SETTINGS = [(model, ranks) for model in memory_limits.CASES for ranks in (1, 2)]
_bounds, _lock = {}, threading.Lock()


def bounds(sweep):
    """The least with which MPI starts, of any model, and what a whole run takes. A few MiB more or less do not matter."""
    if sweep.ranks not in _bounds:
        _bounds[sweep.ranks] = memory_limits.least(sweep.starts, 20, 600, 2) + 2
    low, key = _bounds[sweep.ranks], (sweep.model, sweep.ranks)
    if key not in _bounds:
        _bounds[key] = memory_limits.least(sweep.whole, low, 1000, 16)
    return low, _bounds[key]


def fraction(number):
    """Evenly spread over [0, 1), however many there are: the digits of the number, mirrored."""
    value, digit = 0.0, 0.5
    while number:
        value, digit, number = value + digit * (number % 2), digit / 2, number // 2
    return value


def trial(t):
    model, ranks = SETTINGS[t.number % len(SETTINGS)]
    sweep = memory_limits.Sweep(t.folder, model, ranks)
    with _lock:
        low, high = bounds(sweep)
    megabytes = low + (high - low) * fraction(t.number // len(SETTINGS))
    code, failure = sweep.one(0, megabytes)
    require(failure is None, f"{model}, {ranks} ranks, prlimit --as of {failure}")
    return f"{model}, ranks {ranks}: {code if code == memory_limits.NO_MPI else f'exit code {code}'}"
