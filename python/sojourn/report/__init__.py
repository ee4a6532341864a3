"""Results as a document: one HTML file, figures for paper, or text in a terminal.

Map: `document` what is said (types only) · `cells` table cells to text · `prose` small markup to spans ·
`axis` limits of axes · `labels` names beside curves · `channels` position, colour, marker · `layers` marks ·
`chart` all of it, a figure as a Vega-Lite specification · `html` one self-contained page · `figures` image files ·
`terminal` verdict and tables by rich.
"""

from sojourn.report.document import (
    Block,
    Code,
    Document,
    Figure,
    Section,
    Series,
    Table,
    Text,
)
from sojourn.report.figures import render_svg, write_figures
from sojourn.report.html import render_html, write_html
from sojourn.report.terminal import render_terminal

__all__ = [
    "Block",
    "Code",
    "Document",
    "Figure",
    "Section",
    "Series",
    "Table",
    "Text",
    "render_html",
    "render_svg",
    "render_terminal",
    "write_figures",
    "write_html",
]
