"""What MkDocs does to the pages of the site beyond its own: formulas as MathML, links to sources, text in front of lists."""

import re
from pathlib import Path

import latex2mathml.converter

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\(([^)\s:#]+)\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.S)


def on_page_markdown(markdown, page, config, files):
    """A link to a source or a folder, which the site does not have, becomes its text and path. One to nothing stays: an error."""
    here = (ROOT / page.file.src_uri).parent

    def link(match):
        target = (here / match[2]).resolve()
        inside = target.is_relative_to(ROOT) and target.exists()
        if not inside or files.get_file_from_path(str(target.relative_to(ROOT))):
            return match[0]
        path = target.relative_to(ROOT)
        if config.repo_url:
            return f"[{match[1]}]({config.repo_url.rstrip('/')}/blob/main/{path})"
        return match[1] if match[1].strip("`") == str(path) else f"{match[1]} (`{path}`)"

    parts = re.split(r"(^```.*?^```|^    .*?$)", markdown, flags=re.S | re.M)
    return "".join(part if index % 2 else LINK.sub(link, part) for index, part in enumerate(parts))


def on_page_content(html, page, config, files):
    def formula(match):
        text = match[2].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
        return latex2mathml.converter.convert(text, display="block" if match[1] == "div" else "inline")

    return FORMULA.sub(formula, html)
