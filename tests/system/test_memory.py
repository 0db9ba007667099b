"""Only the reader holds the whole mesh, and not for long."""

import sys
import unittest
from pathlib import Path

from program import EQUAL, MPIRUN, PROGRAM, SystemTest, box_case, run

HERE = Path(__file__).resolve().parent


class Memory(SystemTest):
    def peaks(self, cubes, ranks):
        """The largest resident set of each rank [bytes]."""
        self.runs += 1
        case = self.write(f"case{self.runs}.toml", box_case(n=cubes, time="steps = 1"))
        folder = self.folder / f"peaks{self.runs}"
        folder.mkdir()
        result = run([*MPIRUN, "-np", str(ranks), sys.executable, str(HERE / "rank_memory.py"), str(folder), PROGRAM, "run",
                      str(case), "-o", str(self.folder / "results"), *EQUAL, "--devices", "cpu", "--overwrite", "--set",
                      "numerics.check=false"], timeout=100)
        self.assertEqual(result.code, 0, result.err)
        return [int((folder / str(rank)).read_text()) for rank in range(ranks)]

    def test_other_ranks_never_hold_the_whole_mesh(self):
        ranks = 4
        idle = self.peaks(1, ranks)
        growth = [peak - base for peak, base in zip(self.peaks(32, ranks), idle)]  # 196,608 cells
        cells = 6 * 32 ** 3
        print(f"growth in bytes a cell of the whole mesh: {[round(g / cells) for g in growth]}")
        for other in growth[1:]:
            self.assertGreater(other, 0)
            # A quarter of the mesh with its halo and rows, against the whole mesh on the reader; with room for the allocator.
            self.assertLess(other, 0.65 * growth[0])


if __name__ == "__main__":
    unittest.main()
