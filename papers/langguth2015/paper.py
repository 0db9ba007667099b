"""What Langguth, Sourouri, Lines, Baden and Cai, IEEE Micro 35(4), 2015, state in numbers: Table 1 and the text.

Figures 4 and 5 are curves without numbers in the text; only what the text says of them stands here.
"""

FLOPS, BYTES = 33, 216  # a cell and step: eq. 3
FLOP_PER_BYTE = FLOPS / BYTES  # 0.153
FLOP_PER_BYTE_OF_TABLE = 0.157  # the text's "maximum flop-to-byte ratio", and Table 1: 34/216 gives its rows

SMALL_CELLS, LARGE_CELLS = 6_800_000, 115_000_000

# Table 1: GB/s and GFLOPS of one device; all sockets of a node are one CPU. Wilkes has two GPUs a node.
TABLE1 = {
    "Stampede": {"gpus": 1,
                 "cpu": {"peak": 102.4, "stream": 77.8, "P_peak": 16.11, "P_stream": 12.24, "P_real": 11.46},
                 "gpu": {"peak": 208.0, "stream": 151.1, "P_peak": 32.74, "P_stream": 23.78, "P_real": 21.46},
                 "r": {"peak": 0.67, "stream": 0.66, "opt": 0.65}},
    "Wilkes": {"gpus": 2,
               "cpu": {"peak": 102.4, "stream": 72.9, "P_peak": 16.11, "P_stream": 11.47, "P_real": 8.78},
               "gpu": {"peak": 208.0, "stream": 151.1, "P_peak": 32.74, "P_stream": 23.78, "P_real": 21.46},
               "r": {"peak": 0.80, "stream": 0.80, "opt": 0.83}},
}

# Heterogeneous at most, over GPU only: (P_real of the CPU + of the GPUs) / of the GPUs.
BOUNDS = {name: 1 + t["cpu"]["P_real"] / (t["gpus"] * t["gpu"]["P_real"]) for name, t in TABLE1.items()}
GPU_OVER_CPU = TABLE1["Stampede"]["gpu"]["P_real"] / TABLE1["Stampede"]["cpu"]["P_real"]

SPEEDUPS = {("Stampede", 128): 98.7, ("Wilkes", 32): 27.7, ("Wilkes", 64): 42.7}  # nodes, heterogeneous
EFFICIENCY = 0.80  # "about 80 percent" of the devices' P_real together, up to 32 GPUs
OF_COMMUNICATION_FREE = 0.95  # on 128 nodes of Stampede
