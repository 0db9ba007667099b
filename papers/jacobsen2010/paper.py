"""What Jacobsen, Thibault and Senocak, AIAA Aerospace Sciences Meeting 2010, state in numbers, with its place in the paper.

Figures 1 and 7 to 10 are curves without numbers in the text; only what the text says of them stands here.
"""

# Table 1: one device each, the cavity in 256 x 32 x 256 cells, single precision; all cores of a CPU. Watts and dollars as printed.
TABLE1 = {
    "AMD 8216": {"watts": 68, "dollars": 800, "peak": 19.2, "sustained": 1.47},
    "Intel Q6600": {"watts": 95, "dollars": 200, "peak": 76.8, "sustained": 3.52},
    "9600GT": {"watts": 95, "dollars": 70, "peak": 336, "sustained": 11.6},
    "Tesla C870": {"watts": 170, "dollars": 1100, "peak": 519, "sustained": 12.3},
    "GTX260/216": {"watts": 171, "dollars": 170, "peak": 805, "sustained": 32.7},
    "Tesla C1060": {"watts": 188, "dollars": 1200, "peak": 936, "sustained": 33.8},
}
TABLE1_GRID = (256, 32, 256)

# Section VI.A
FIGURE4 = {"reynolds": 1000, "grid": (256, 32, 256)}
FIGURE5 = {"rayleigh": (140, 200_000), "prandtl": 7, "grid": (128, 16, 128)}
FIGURE6 = {"rayleigh": 100_000, "prandtl": 7, "grid": (256, 16, 256)}

# Section VI.B: Re 1000, fixed sweeps and steps, whole run but for output
STRONG_GRID = (1024, 64, 1024)                                # Figures 7 and 8; "approximately 4GB"
WEAK_GRIDS = {1: (1024, 64, 1024), 128: (11392, 64, 11776)}   # Figures 9 and 10
SPEEDUPS = {2: 21, 128: 130}                                  # Figure 7: GPUs, over 8 CPU cores; the text, also VII
WEAK_TERAFLOPS = {128: 2.4}                                   # Figure 9
WEAK_GIGABYTES = {128: 500}                                   # "almost 500GB"
STRONG_ENDS_AT = 16                                           # GPUs: "no significant gain in performance beyond"
POLICIES = {"none": "non-blocking MPI", "messages": "computation over MPI", "full": "computation over MPI and copies"}


def megaflops_per_watt(name):
    return 1e3 * TABLE1[name]["sustained"] / TABLE1[name]["watts"]


def cells(grid):
    return grid[0] * grid[1] * grid[2]


BYTES_A_CELL = 60  # 15 arrays of single precision: what makes 500 GB of Figure 9's largest grid
