"""Puts the fastest of some runs of tutti and PyFR beside each other: prints rows of a table, adds them to a file of JSON.

usage: pyfr_row.py FOLDER ROUNDS FILE.json    # FOLDER has tutti-I, plain-I and anti-aliased-I for I < ROUNDS
"""

import json
import pathlib
import sys


def fastest(folder, name, rounds):
    reports = [json.loads((folder / f"{name}-{i}").read_text()) for i in range(rounds)]
    rows = [{"devices": r["devices"]} | r["results"][0] if "results" in r else r for r in reports]
    return min(rows, key=lambda row: row["seconds_best"])


def row(ours, peer):
    if peer["elements"] != ours["elements"]:
        sys.exit(f"pyfr.sh: PyFR ran {peer['elements']} elements, tutti {ours['elements']}")
    degree = [r["nanoseconds_a_degree_and_stage"] for r in (peer, ours)]
    element = [t * r["degrees_of_freedom"] / r["elements"] * 1e-3 for t, r in zip(degree, (peer, ours))]
    print(f"| {peer['elements']:,} {peer['element']} | {peer['equations']} | {peer['order']} | {peer['anti_aliasing']} "
          f"| {degree[0]:.4g} | {degree[1]:.4g} | {degree[0] / degree[1]:.2f} "
          f"| {element[0]:.4g} | {element[1]:.4g} | {element[0] / element[1]:.2f} |", flush=True)  # fmt: skip
    return {"pyfr": peer, "tutti": ours, "ratio_a_degree": degree[0] / degree[1], "ratio_an_element": element[0] / element[1]}


def main(folder, rounds, path):
    folder, path, rounds = pathlib.Path(folder), pathlib.Path(path), int(rounds)
    rows = json.loads(path.read_text())
    ours = fastest(folder, "tutti", rounds)
    rows += [row(ours, fastest(folder, kind, rounds)) for kind in ("plain", "anti-aliased")]
    path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
