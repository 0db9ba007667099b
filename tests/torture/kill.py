"""kill -9 at any moment: what has a name is whole, no checkpoint is lost, and the run goes on with the same bits."""

import signal
import subprocess

from trials import checkpoint_steps, goes_on, require, whole

SHORT, LONG = 45, 800


def trial(t):
    model, ranks = t.model_and_ranks()
    folder = t.folder / "results"
    seconds = whole(t, model, ranks).seconds
    newest = 0
    for _ in range(t.dice.randint(1, 3)):
        arguments = ["--restart", folder] if newest else [t.case(model), "-o", folder, "--overwrite"]
        with t.start(*arguments, ranks=ranks) as running:
            try:
                code = running.process.wait(t.dice.random() * 1.1 * seconds)
                require(code == 0, f"exit code {code} before it was killed:\n{running.said()}")
            except subprocess.TimeoutExpired:
                end(running, ranks, t.dice)
        steps = checkpoint_steps(folder)
        require(not newest or (steps and steps[-1] >= newest), f"the checkpoint of step {newest} is lost: {steps}")
        require(len(steps) <= 4, f"old checkpoints pile up: {steps}")
        newest = steps[-1] if steps else 0
    goes_on(t, model, folder, ranks)
    return f"from step {newest}"


def end(running, ranks, dice):
    """All ranks at once, or now and then one, which mpirun must notice."""
    if ranks is None:
        running.signal(signal.SIGKILL)
    else:
        pids = running.ranks()
        for pid in pids if dice.random() < 0.7 else pids[:1]:
            running.signal(signal.SIGKILL, pid)
    try:
        running.process.wait(20)
    except subprocess.TimeoutExpired:  # mpirun may wait for ever for a rank that was killed while it was connecting
        for pid in [*running.ranks(), running.pid]:
            running.signal(signal.SIGKILL, pid)
        running.process.wait()
    # Without mpirun nobody waits for them.
    for pid in running.ranks():
        running.signal(signal.SIGKILL, pid)
