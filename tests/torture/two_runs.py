"""Two runs that want one folder: one has it, the other is told so, and the results are those of one run."""

import shutil
import subprocess

from io_failure import begun
from kill import end
from trials import IO, SECONDS, STEPS, USAGE, clear_error, goes_on, require, same_outcome, same_rows, sets, whole

SHORT, LONG = 15, 300
# The last: another run is about to overwrite what was there.
REFUSED = ("another run writes to this folder", "has the results of an earlier run", "it contains no checkpoint")


def trial(t):
    model, ranks = t.model_and_ranks(0.08)
    folder = t.folder / "results"
    again = t.dice.random() < 0.6
    if again:
        shutil.copytree(begun(t, model), folder)
    steps = sets(time__steps=STEPS)
    case = t.case(model)
    ways = [["--restart", folder, *steps]] if again else []
    ways += [[case, "-o", folder, "--overwrite"]] + ([] if again else [[case, "-o", folder]])
    seconds = whole(t, model, ranks).seconds
    killed = t.dice.random() < 0.3
    runs = []
    for k in range(t.dice.randint(2, 3)):
        runs.append(t.start(*t.dice.choice(ways), ranks=ranks))
        wait(runs[-1], t.dice.random() * seconds * t.dice.choice([0.05, 1]))
        if k == 0 and killed:
            end(runs[0], ranks, t.dice)
    results = [running.wait(SECONDS) for running in runs]
    if killed:
        results = results[1:]
    good = [result for result in results if result.code == 0]
    for result in results:
        if result.code != 0:
            clear_error(result, {USAGE, IO})
            require(any(text in result.err for text in REFUSED), result.err)
    if good:
        same_outcome(folder, whole(t, model).outcome, good[-1])
        same_rows(folder, whole(t, model))
    else:
        require(killed or ranks, "none of the runs had the folder")
    goes_on(t, model, folder, ranks)
    return f"{len(good)} of {len(runs)} ended in order"


def wait(running, seconds):
    try:
        running.process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
