"""Only the reader holds the whole mesh, and not for long; a cache of stencils is written without a copy of it."""

import sys
import unittest
from pathlib import Path

from program import EQUAL, MPIRUN, PROGRAM, SystemTest, box_case, run

HERE = Path(__file__).resolve().parent

SPHERE = """model = "transport"
[nodes]
generate = "fibonacci"
count = 40000
[stencil]
{cache}
[velocity]
east = "cos(lat)"
[[tracer]]
name = "dye"
initial = "z"
[time]
steps = 1
"""


class Memory(SystemTest):
    def peaks(self, text, ranks):
        """The largest resident set of each rank [bytes]."""
        self.runs += 1
        case = self.write(f"case{self.runs}.toml", text)
        folder = self.folder / f"peaks{self.runs}"
        folder.mkdir()
        result = run([*MPIRUN, "-np", str(ranks), sys.executable, str(HERE / "rank_memory.py"), str(folder), PROGRAM, "run",
                      str(case), "-o", str(self.folder / "results"), *EQUAL, "--devices", "cpu", "--overwrite", "--set",
                      "numerics.check=false"], timeout=100)
        self.assertEqual(result.code, 0, result.err)
        return [int((folder / str(rank)).read_text()) for rank in range(ranks)]

    def test_a_cache_is_written_without_a_copy(self):
        text = SPHERE.format(cache="")
        cache = self.folder / "stencils.bin"
        for ranks in (1, 2):
            most = []
            # Peaks of two runs differ by up to 20 MiB: a copy, half of the cache for a rank of two, would be there in all.
            for _ in range(3):
                without = self.peaks(text, ranks)
                cache.unlink(missing_ok=True)
                written = self.peaks(SPHERE.format(cache='cache = "stencils.bin"'), ranks)
                size = cache.stat().st_size
                self.assertGreater(size, 90e6)
                shares = [(w - base) / size for w, base in zip(written, without)]
                print(f"{ranks} ranks: {size >> 20} MiB written with so much of it more in memory: {[round(s, 2) for s in shares]}")
                most.append(max(shares))
                if most[-1] < 0.3:
                    break
            self.assertLess(min(most), 0.3)

    def test_other_ranks_never_hold_the_whole_mesh(self):
        ranks = 4
        idle = self.peaks(box_case(n=1, time="steps = 1"), ranks)
        growth = [peak - base for peak, base in zip(self.peaks(box_case(n=32, time="steps = 1"), ranks), idle)]  # 196,608 cells
        cells = 6 * 32 ** 3
        print(f"growth in bytes per cell of the whole mesh: {[round(g / cells) for g in growth]}")
        for other in growth[1:]:
            self.assertGreater(other, 0)
            # A quarter of the mesh with its halo and rows, against the whole mesh on the reader; with room for the allocator.
            self.assertLess(other, 0.65 * growth[0])


if __name__ == "__main__":
    unittest.main()
