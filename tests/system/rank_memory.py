"""Runs a command and leaves its largest resident set in bytes: rank_memory.py FOLDER COMMAND... One file per rank."""

import os
import resource
import subprocess
import sys
from pathlib import Path

folder, command = Path(sys.argv[1]), sys.argv[2:]
code = subprocess.run(command, close_fds=False).returncode  # MPICH talks to its ranks through one
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
rank = next(os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ)  # Open MPI, MPICH
(folder / rank).write_text(str(peak))
sys.exit(code)
