"""What Choi, Kim and Yeom (2019) state in numbers, with its place in the paper.

Figures 1 to 4 are bars without numbers in the text; only what the text says of them stands here.
"""

# Table 1: shares of all data, in percent, of the arrays that kernels read.
TABLE1 = {
    "cell_coefficients": 50.81,
    "cell_basis_value": 16.94,
    "face_owner_basis_value": 5.77,
    "face_neighbor_basis_value": 5.77,
    "face_owner_coefficients": 5.77,
    "face_neighbor_coefficients": 5.77,
    "peribdry_owner_basis_value": 1.15,
    "peribdry_neighbor_basis_value": 1.15,
    "peribdry_owner_coefficients": 1.15,
    "Flux": 3.02,
    "solution": 0.17,
    "rhs": 0.17,
}
VOLUMES = ("cell_coefficients", "cell_basis_value")
# Not in the paper. The shares fit hexahedra with p = 6, 8 x 8 x 8 points a volume, 8 x 8 points a face, 11^3 of them.
ORDER, CELLS = 6, 11

ITERATIONS = 100
CORE_SPEEDUPS = {"8 threads of an i7-7700": 4.45, "GTX 1050 Ti": 9.02, "Titan XP": 74.88}  # Figure 1, over one core
HYBRID = {"GTX 1050 Ti": (7, 1.22), "Titan XP": (10, 1.11)}  # Figure 2: n of the box, over the GPU alone
BEST_WEIGHT = 0.72  # Figure 2: of the Titan XP
SAVED = {"compression": 0.25, "overwriting": 0.2848}  # Figure 4: of all data
OVER_UNIFIED = {"compression": 6.4, "overwriting": 3}  # Figure 4: times as fast as unified memory
CAPPED = 8  # Figure 4: n of the box

MISSING = """What the paper does not say, and what we took: the elements and their order (hexahedra, p = 6, fit Table 1 within 0.02 %); \
whether its timed runs are viscous (its flux array fits inviscid ones); the flux (local Lax-Friedrichs here); the time method (five \
updates a step: SSP-RK(5,4)); how much memory was filled before unified memory was timed (here the device's budget is what the \
compressed run needs); how accurate its compressed runs are (here: the array's relative L2 loss and what a uniform flow suffers); \
which copies unified memory prefetched. Its boxes are affine, all elements alike, which makes any compression of them look good: ours \
are run twice, with corners moved as well."""
