"""Draw docs/demo.svg, what ``voirdire demo`` shows: run by ``make picture``."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from voirdire.cli import demo_panel as demo
from voirdire.cli.demo import show_demo

# without the fonts that the usual format fetches from the network
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
FORMAT = FORMAT.replace("font-family: Fira Code, monospace", "font-family: monospace")

if __name__ == "__main__":
    console = Console(record=True, width=72, file=io.StringIO(), force_terminal=True, highlight=False)
    show_demo(demo.fit_demo(), console)
    svg = console.export_svg(title="voirdire demo", theme=DIMMED_MONOKAI, code_format=FORMAT, unique_id="demo")
    path = Path(__file__).with_name("demo.svg")
    path.write_text(svg, encoding="utf-8")
    print(f"wrote {path}")
