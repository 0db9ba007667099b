"""What Bollig, Flyer and Erlebacher, J. Comput. Phys. 231, 2012, state in numbers, with its place in the paper.

Figures 8 to 18 are pictures and curves without numbers in the text; only what the text says of them stands here.
"""

SIZES = (17, 31, 50, 101)  # nodes of a stencil
# Maximum-determinant sets "from 1024 to 27,556" (section 4); which ones lie in between is not said. Those that are to be had:
NODES = (1024, 2500, 4096, 6400, 8100, 10201, 27556)

# Table 2 and Table 3: eps = c1 sqrt(N) - c2, k, gamma_c; Table 3's gamma_c is in 1/s, see the README.
TABLE2 = {17: (0.026, 0.08, 2, 8), 31: (0.035, 0.1, 4, 800), 50: (0.044, 0.14, 4, 145), 101: (0.058, 0.16, 4, 40)}
TABLE3 = {17: (0.026, 0.08, 2, 8e-4), 31: (0.035, 0.1, 4, 5e-2), 50: (0.044, 0.14, 6, 5e-1), 101: (0.058, 0.16, 8, 5e-2)}
U0 = 2 * 3.141592653589793 / 1036800  # 1/s, section 4.2: a turn in 12 days

FIGURE8 = {"nodes": 4096, "size": 101, "epsilon": 3.5}   # and Figure 11
FIGURE9 = {"nodes": 10201, "size": 50, "time": 10, "l2": 1.25e-2}
FIGURE10 = {"time": 3, "dt": 0.05}
FIGURE12 = {"nodes": 10201, "size": 101, "turns": 10}
FIGURE13 = {"turns": 10, "steps_a_turn": 1000}

# Section 5.1, one GPU over one CPU core of the same machine.
SPEEDUP = {
    "GTX480 over a Xeon 5570 core (Figure 15)": {17: "about 9, one thread per stencil", 101: "a warp per stencil: 2 or more times one thread"},
    "M2070 over a Xeon 5660 core (Figure 16)": {17: "3", 101: "2 to 3 (section 6)"},
}
WARP_FROM = 32  # nodes: "for n > 32 [...] one should operate with a full warp"
# Section 5.2, N = 27,556 in latitude slices, one process a host, InfiniBand QDR.
SCALING_NODES = 27556
CPU_SPEEDUP = (4, 7)        # on six processors, over one CPU (Figures 17a, c)
GPUS_END_AT = 4             # "more than four GPUs produces no gain" (Figures 17b, d)
COMMUNICATION_FROM = (6, 8)  # CPUs: it "gains dominance" (Figure 18a); of GPUs, beyond four
