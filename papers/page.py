"""Tables, pictures and the report of a paper's page."""

import re
import shutil
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

BLUE, RED, ORANGE, GREY = "#3b6fa8", "#d9493f", "#f0a13c", "#8a8a8a"
BEGIN, END = "<!-- report: begin -->", "<!-- report: end -->"


def table(heads, rows):
    """A Markdown table; what is None is left open."""
    def line(cells):
        return "| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |"
    return "\n".join([line(heads), line(["---"] * len(heads)), *map(line, rows)]) + "\n"


def save(figure, file):
    """With a legend in each panel, unless the figure has one of its own beside them."""
    for axes in figure.axes:
        if not figure.legends and axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    figure.savefig(file, dpi=150, facecolor="white", bbox_inches="tight" if figure.legends else None)
    plt.close(figure)


def wrapped(text):
    """Paragraphs in lines of 140 characters; tables, lists, headings and pictures stay as they are."""
    def parts(line):
        if len(line) <= 140 or re.match(r"[|#>!\s]|[-+*] ", line):
            return [line]
        found = textwrap.wrap(line, 140, break_long_words=False, break_on_hyphens=False)
        return [line] if any(re.match(r"[-+*#>|]|\d+\.", part) for part in found[1:]) else found
    return "\n".join(part for line in text.split("\n") for part in parts(line))


def publish(page, folder, text):
    """Puts a report between the marks of a page, and the pictures of `folder` that it names beside the page."""
    pictures = [name for name in dict.fromkeys(re.findall(r"`([a-z0-9_]+\.png)`", text)) if (folder / name).exists()]
    for name in pictures:
        shutil.copyfile(folder / name, page.parent / name)
    whole = page.read_text()
    head, tail = whole.split(BEGIN)[0], whole.split(END)[1]
    images = "\n".join(f"![{Path(name).stem}]({name})" for name in pictures)
    page.write_text(f"{head}{BEGIN}\n{wrapped(text)}\n{images}\n{END}{tail}")
