"""Draw docs/report.png, the top of the page that ``voirdire demo`` writes: run by ``make screenshot``.

Needs chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from voirdire.cli import demo_panel as demo

SIZE = (1160, 1250)
MOST = 200_000  # bytes


def shoot(page: Path, target: Path) -> None:
    """Write what a browser shows of a page as a PNG of few colours."""
    browser = next(path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        raw = Path(folder) / "raw.png"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/p"]
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        subprocess.run([browser, *flags, size, f"--screenshot={raw}", page.as_uri()], check=True, capture_output=True)
        with Image.open(raw) as shown:
            small = shown.convert("RGB").crop((0, 0, *SIZE)).quantize(160, dither=Image.Dither.NONE)
            small.save(target, optimize=True)
    if target.stat().st_size >= MOST:
        raise SystemExit(f"{target} is larger than {MOST:,} bytes")


if __name__ == "__main__":
    path = Path(__file__).with_name("report.png")
    with tempfile.TemporaryDirectory() as place:
        shoot(demo.fit_demo().helped.report(Path(place) / "report.html"), path)
    print(f"wrote {path}, {path.stat().st_size:,} bytes")
