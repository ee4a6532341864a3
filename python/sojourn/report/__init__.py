"""Results as a document: one HTML file, figures for paper, Markdown, JUnit, or text in a terminal.

Map: `document` what is said (types only) · `cell_text` table cells to text · `markup` small markup to spans ·
`axis_limits` limits of axes · `curve_labels` names beside curves · `figure_channels` position, colour, marker ·
`chart_layers` marks · `chart` all of it, a figure as a Vega-Lite specification · `html_page` one self-contained page ·
`vega_script` the script that draws its figures, kept in the user's cache · `figure_files` image files ·
`terminal_output` verdict and tables by rich · `markdown_text` the same for a pull request · `junit` verdicts for test
reporters.
"""

from sojourn.report.document import (
    Block,
    Cell,
    Code,
    Document,
    Figure,
    Section,
    Series,
    Style,
    Table,
    Text,
)
from sojourn.report.figure_files import render_svg, write_figures
from sojourn.report.html_page import render_html, write_html
from sojourn.report.junit import JunitCase, render_junit, write_junit
from sojourn.report.markdown_text import render_markdown, write_markdown
from sojourn.report.terminal_output import render_terminal

__all__ = [
    "Block",
    "Cell",
    "Code",
    "Document",
    "Figure",
    "JunitCase",
    "Section",
    "Series",
    "Style",
    "Table",
    "Text",
    "render_html",
    "render_junit",
    "render_markdown",
    "render_svg",
    "render_terminal",
    "write_figures",
    "write_html",
    "write_junit",
    "write_markdown",
]
