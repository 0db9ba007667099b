"""python3 -m tutti WHAT ...: WHAT is plot, profile, history, timeline, convergence, quality or spectrum; `tutti plot` runs this."""

import argparse
import importlib
import sys

from tutti.messages import told

COMMANDS = {"plot": "a picture of a field", "profile": "profiles along lines, beside references", "history": "curves over time",
            "timeline": "who did what when in a step", "convergence": "errors over mesh width",
            "quality": "shapes of a mesh's cells", "convert": "a mesh that meshio reads as Gmsh's", "spectrum": "eigenvalues of tutti spectrum beside what a time step allows"}


def timeline(words):
    parser = argparse.ArgumentParser(prog="tutti.timeline", description="Who did what when, from a trace.")
    parser.add_argument("trace", help="file of tutti run --trace")
    parser.add_argument("-o", "--output", default="timeline.png")
    parser.add_argument("--step", type=int)
    options = parser.parse_args(words)
    try:
        from tutti.timeline import draw
    except ImportError as error:
        print(f"tutti.timeline: this package cannot draw timelines: {error}; install what is missing", file=sys.stderr)
        return 3
    try:
        draw(options.trace, options.output, step=options.step)
    except (OSError, ValueError) as error:
        print(f"tutti.timeline: {told(error)}", file=sys.stderr)
        return 5 if isinstance(error, OSError) else 4
    print(f"{options.output}: timeline of {options.trace}")
    return 0


def main(argv=None):
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] not in COMMANDS:
        lines = [f"  {name:<12} {text}" for name, text in COMMANDS.items()]
        asked = words[:1] in (["-h"], ["--help"])
        print("usage: python3 -m tutti WHAT ...", *lines, sep="\n", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    if words[0] == "timeline":
        return timeline(words[1:])
    return importlib.import_module("tutti." + words[0]).main(words[1:])


if __name__ == "__main__":
    sys.exit(main())
