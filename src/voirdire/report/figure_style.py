"""Style of all figures: colours that colour-blind readers can distinguish, no boxes, names as plain text.

The colours are those of Okabe and Ito (2008). Heat maps run from transparent to one colour (from orange over
transparent to blue where zero is the middle), so that they suit light and dark pages.

:func:`to_svg` gives a figure as SVG text for a page: no links, unique identifiers, the colours of the page.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from voirdire.report.page import shorten_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK, MUTED, GRID = "#1c2833", "#5f6b76", "#dfe3e8"
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
SERIES_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")

#: Names of the colours on a page, where dark mode changes them.
COLOUR_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "rule",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    RED: "red",
    PURPLE: "purple",
    SKY: "sky",
}

MAX_LETTERS = 28
_DARK_SHADE = {True: 0.85, False: 0.7}  # opacity of blue (else orange) from which dark text on it cannot be read
_MIN_ROW_POINTS = 8.0  # points that a row needs for its name
_STYLE_SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name does not begin mathematics
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "voirdire",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply this style to Matplotlib within a block, without warnings about letters that its font lacks."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from font", UserWarning)
        warnings.filterwarnings("ignore", "Matplotlib currently does not support", UserWarning)
        yield


def name_label(name: object, letters: int = MAX_LETTERS) -> str:
    """Return a name as a label: shortened, with characters that cannot be printed replaced."""
    text = str(name)
    clean = "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)
    return shorten_name(clean, letters)


def name_rows(ax: Axes, names: Sequence[object], letters: int = MAX_LETTERS) -> None:
    """Write names at the rows of an axes, the first on top; where rows are too narrow, only some are named."""
    count = len(names)
    points = 72.0 * _axes_height(ax) / count
    step = max(1, -(-_MIN_ROW_POINTS // points)) if points < _MIN_ROW_POINTS else 1
    shown = range(0, count, int(step))
    texts = [name_label(names[row], letters) for row in shown]
    ax.set_yticks(list(shown), texts, fontsize=min(9.0, max(6.0, 0.66 * points * step)), parse_math=False)
    ax.set_ylim(count - 0.5, -0.5)


def _axes_height(ax: Axes) -> float:
    """Estimate the height of an axes in inches, before the size of its labels is known."""
    spec = ax.get_subplotspec()
    share = 1.0 if spec is None else 1.0 / spec.get_gridspec().nrows
    return max(1.0, float(figure_of_axes(ax).get_size_inches()[1]) * share - 0.8)


def one_colour_map(colour: str = BLUE) -> Any:
    """Make a colour map from transparent to one colour."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    return LinearSegmentedColormap.from_list("one", [(*to_rgba(colour)[:3], 0.0), to_rgba(colour)])


def two_colour_map(low: str = ORANGE, high: str = BLUE) -> Any:
    """Make a colour map from one colour over transparent to another."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    ends = [to_rgba(low), (*to_rgba(low)[:3], 0.0), (*to_rgba(high)[:3], 0.0), to_rgba(high)]
    return LinearSegmentedColormap.from_list("two", list(zip((0.0, 0.5, 0.5, 1.0), ends, strict=True)))


def write_cells(ax: Axes, form: str, values: Any, shade: Any, least: float = -math.inf) -> None:
    """Write numbers into the cells of a heat map, in a colour that can be read on that of the cell.

    Parameters
    ----------
    form : str
        Format, as for ``str.format``.
    values : array, shape (rows, columns)
        Cells with NaN or a value below ``least`` are left empty.
    shade : array, shape (rows, columns)
        Colour of each cell: from -1 (full orange) over 0 (no colour) to 1 (full blue).
    """
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            # full colours are the same on light and dark pages, so the text on them is the same, too
            is_blue = shade[row][column] > 0
            is_dark = abs(shade[row][column]) > _DARK_SHADE[bool(is_blue)]
            colour = INK if not is_dark else "#ffffff" if is_blue else "#101418"
            text = form.format(value).replace("-", "\u2212") if value >= least else ""
            ax.text(column, row, text, ha="center", va="center", fontsize=7.5, color=colour)


def colour_key(ax: Axes, colours: Any, ticks: Sequence[float], texts: Sequence[str], title: str) -> None:
    """Draw a colour bar above an axes; ``ticks`` are from 0 to 1."""
    import numpy as np

    size = figure_of_axes(ax).get_size_inches()
    box = ax.get_position()
    width = min(0.9, 1.6 / (size[0] * box.width))
    inch = 1.0 / (size[1] * box.height)
    bar = ax.inset_axes((1.0 - width, 1.0 + 0.26 * inch, width, 0.1 * inch))
    bar.imshow(np.linspace(0, 1, 64)[None], cmap=colours, vmin=0, vmax=1, aspect="auto", extent=(0, 1, 0, 1))
    bar.set_yticks([])
    bar.set_xticks(list(ticks), list(texts), fontsize=7.5)
    bar.tick_params(pad=1.5)
    bar.set_title(title, fontsize=8, fontweight="normal", color=MUTED, pad=3, loc="right")


def write_above(ax: Axes, text: str, x: float, **look: Any) -> None:
    """Write a text above an axes, at a place of its x axis."""
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate(text, (x, 1.0), xytext=(0, 4), parse_math=False, **place, **look)


@contextmanager
def single_axes(width: float, height: float) -> Iterator[Axes]:
    """Give the only axes of a new figure (no pyplot; size in inches), with this style within the block."""
    with figure_style():
        yield empty_figure(width, height).subplots()


def figure_of_axes(ax: Axes) -> Figure:
    """Return the figure of an axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def empty_figure(width: float, height: float) -> Figure:
    """Make an empty figure (size in inches), without pyplot."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def to_svg(figure: Figure, name: str) -> str:
    """Return the SVG element of a figure.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        Name, unique on the page; the identifiers in the SVG begin with it.

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
            # print_svg instead of savefig, which draws everything twice
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
    for colour, variable in COLOUR_VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    return re.sub(r"\n\s*", "\n", svg)
