"""What the papers' scripts ask the program."""

import re
import subprocess


class Failed(Exception):
    """A call that ended with an error: its exit code, the words and the error line."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def call(*words):
    """What the program says; Failed with its error line and exit code."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        lines = [line for line in done.stderr.split("\n") if "error:" in line] or [done.stderr.strip() or "no word"]
        raise Failed(done.returncode, f"{' '.join(map(str, words))}\n  {lines[-1]}")
    return done.stdout


def find_gpus(options):
    """Names of the accelerators of --devices, in order."""
    said = call(options.program, "devices", "--devices", options.devices)
    return [word for word in (line.split(" ")[0] for line in said.split("\n")) if re.match(r"(cuda|fake):", word)]
