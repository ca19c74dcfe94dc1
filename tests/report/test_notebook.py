"""In a notebook: what is shown of a fit, and that figures go on being shown."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

import voirdire
from voirdire.planning.votes import Plan

EVIL = '<img src=x onerror="alert(1)">$\\href{javascript:alert(1)}{x}$</table><script>\x1b[31m'


class Seen(HTMLParser):
    """Tags and text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_fit_is_shown_and_names_are_nothing_but_text() -> None:
    table = pd.DataFrame({"judge": EVIL, "first": [EVIL] * 6, "second": "plain", "winner": ["first"] * 5 + ["second"]})
    made = voirdire.fit(table, model="crowd-bt", method="map")._repr_html_()
    seen = Seen()
    seen.feed(made)
    assert seen.tags <= {
        "div",
        "p",
        "strong",
        "ul",
        "li",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "span",
    }
    assert seen.attributes == {"class"}
    assert seen.text.count(EVIL.replace("\x1b", "\ufffd")) >= 2  # as item and as judge
    assert "$\\" not in made  # mathematics needs its signs side by side
    assert "\x1b" not in made


def test_labels_are_shown() -> None:
    labels = pd.DataFrame(
        [(judge, item, "yes" if item < "d" else "no") for judge in "uvw" for item in "abcdef"],
        columns=["judge", "item", "label"],
    )
    shown = voirdire.fit(labels, method="map")._repr_html_()
    assert "Items, the least sure first" in shown
    assert "<th>answers</th>" in shown


@pytest.mark.slow
def test_figures_are_shown_after_the_first(tmp_path: Path) -> None:
    """A notebook's backend turns interactive drawing on when it is first used: plot() must not turn it off again."""
    (tmp_path / "inline.py").write_text(
        "import matplotlib\nfrom matplotlib.backends.backend_agg import FigureCanvasAgg, FigureManagerBase\n"
        "FigureCanvas = FigureCanvasAgg\nFigureManager = FigureManagerBase\n"
        "matplotlib.interactive(True)\nmatplotlib.rcParams['figure.dpi'] = 72\n"
    )
    code = """
import matplotlib, pandas, voirdire
table = pandas.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
fit = voirdire.fit(table, model="bradley-terry", method="map")
fit.plot("ranking")
print(matplotlib.is_interactive(), matplotlib.rcParams["figure.dpi"], matplotlib.rcParams["font.size"])
"""
    source = str(Path(voirdire.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": f"{source}:{tmp_path}", "MPLBACKEND": "module://inline"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["True", "72.0", "10.0"], done.stderr


def test_a_plan_is_shown_with_all_candidates() -> None:
    table = pd.DataFrame(
        {
            "judges": [EVIL, "b"], "share": 0.5, "repeats": 1, "votes": [20, 40], "price": [2.0, 4.0],
            "concordance": [0.8, 0.9], "sd": 0.1, "mcse": 0.01, "reached": [False, True],
        }
    )  # fmt: skip
    made = Plan(table, table.iloc[1].to_dict(), 0.85)._repr_html_()
    seen = Seen()
    seen.feed(made)
    assert "40 votes (price 4): b" in seen.text
    assert EVIL.replace("\x1b", "\ufffd") in seen.text
    assert seen.text.count("0.5") == 2
    assert not seen.tags & {"img", "script"}
