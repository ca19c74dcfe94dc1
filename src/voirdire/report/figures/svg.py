"""A figure as SVG text that can stand in a page: no links, no clash of identifiers, colours of the page's own."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from voirdire.report.figures.style import VARIABLES, figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def to_svg(figure: Figure, name: str) -> str:
    """SVG element of a figure.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        Unique on the page: identifiers inside begin with it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> _ = figure.subplots().plot([0, 1], [0, 1], color="#0072b2")
    >>> svg = to_svg(figure, "one")
    >>> svg.startswith("<svg"), "var(--blue)" in svg, "http://" in svg.replace("http://www.w3.org", "")
    (True, True, False)
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with figure_style():
        buffer = io.StringIO()
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        canvas = figure.canvas
        try:
            # straight to the canvas: savefig draws everything twice
            drawn: Any = FigureCanvasSVG(figure)
            drawn.print_svg(buffer, metadata=metadata)
        finally:
            figure.set_canvas(canvas)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'((?:xlink:)?href="|url\()#', rf"\g<1>#{name}-", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    return re.sub(r"\n\s*", "\n", svg)
