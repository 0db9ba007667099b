"""Tables and the report of a paper's page."""

BEGIN, END = "<!-- report: begin -->", "<!-- report: end -->"


def table(heads, rows):
    """A Markdown table; what is None is left open."""
    def line(cells):
        return "| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |"
    return "\n".join([line(heads), line(["---"] * len(heads)), *map(line, rows)]) + "\n"


def put_between_marks(file, text):
    page = file.read_text()
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    file.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")
