"""Hooks of MkDocs: pages made at build time, links into the repository, formulas as MathML, examples as sessions.

Documents link as they lie in the repository (``../models/README.md``), so that they can be read there, too. What the
site has a page for is linked to it; other files of the repository are named without a link.
"""

from __future__ import annotations

import html
import importlib
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

from voirdire.model.catalogue import models_readme

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "build" / "gallery"

# pages of the site that stand elsewhere in the repository
ELSEWHERE = {
    "models.md": "models/README.md",
    "simulations.md": "simulations/README.md",
    "paper_repro.md": "paper_repro/README.md",
    "benchmarks.md": "benchmarks/README.md",
    "aggregators-add.md": "benchmarks/aggregators/README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "architecture.md": "ARCHITECTURE.md",
}
HOMES = {place: page for page, place in ELSEWHERE.items()} | {"README.md": "index.md", "CITATION.cff": "cite.md"}
# what a search finds there comes behind what it finds on pages for readers
BEHIND = "---\nsearch:\n  boost: 0.1\n---\n\n"
FOLDERS = {"models": "models.md", "simulations": "simulations.md", "paper_repro": "paper_repro.md"}
FOLDERS |= {"benchmarks": "benchmarks.md"}

_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", flags=re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_SHIM = "https://unpkg.com/iframe-worker/shim"
_API = re.compile(r"^<!-- api: ([\w.]+)((?: \w+)*) -->$", flags=re.MULTILINE)
_FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', flags=re.DOTALL)


def on_config(config: Any) -> Any:
    """The notebooks that were made stand in the navigation."""
    pages = [{_title(path): f"gallery/{path.name}"} for path in _notebooks()]
    for entry in config.nav:
        if "Gallery" in entry:
            entry["Gallery"] = ["gallery/index.md", *pages]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that stand elsewhere, the cards of the models, and what `make gallery` has made."""
    for page, place in ELSEWHERE.items():
        text = models_readme() if page == "models.md" else (ROOT / place).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=BEHIND + text))
    for page in _notebooks():
        text = page.read_text(encoding="utf-8")
        files.append(File.generated(config, f"gallery/{page.name}", content=text))
        for path in (page.with_suffix(".ipynb"), *page.parent.glob(f"{page.stem}-[0-9].png")):
            files.append(File.generated(config, f"gallery/{path.name}", content=path.read_bytes()))
    return files


def _notebooks() -> list[Path]:
    """The pages of the scripts that are there, as they were made last."""
    made = (GALLERY / f"{path.stem}.md" for path in sorted((ROOT / "docs" / "gallery").glob("*.py")))
    return [path for path in made if path.is_file()]


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def _cards() -> str:
    """The notebooks as a list with their first pictures."""
    lines = []
    for page in _notebooks():
        title = _title(page)
        picture = re.search(r"!\[.*?\]\(.*?\)", page.read_text(encoding="utf-8"))
        lines.append(f"## [{title}]({page.name})\n\n{picture[0] if picture else ''}")
    return "\n\n".join(lines) or "None was made yet: `make gallery`."


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links as the site has them; examples with prompts as sessions."""
    source = page.file.src_uri
    place = ELSEWHERE.get(source, f"docs/{source}")
    markdown = _API.sub(_reference, markdown).replace("<!-- gallery -->", _cards())
    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_linked(markdown[end : fence.start()], place, source), _session(fence[0])]
        end = fence.end()
    return "".join([*parts, _linked(markdown[end:], place, source)])


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Formulas as MathML, which browsers draw themselves; corners of tables are no headings."""
    return _FORMULA.sub(_mathml, content).replace("<th></th>", "<td></td>")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """What the search needs on disk, fetched by the theme from another host, is our own; its dialog has a name."""
    own = posixpath.relpath("assets/site.js", posixpath.dirname(page.file.dest_uri) or ".")
    return output.replace(_SHIM, own).replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """The same for the page that a host shows where there is none."""
    return output.replace(_SHIM, "/assets/site.js").replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _reference(match: re.Match[str]) -> str:
    """What mkdocstrings reads, for the names of a module: those given, or those of its ``__all__``."""
    module = importlib.import_module(match[1])
    parts = []
    for name in match[2].split() or module.__all__:
        found = getattr(module, name)
        if hasattr(found, "__qualname__"):
            path = f"{found.__module__}.{found.__qualname__}"
            parts.append(
                f"::: {path}\n    options:\n      heading: {module.__name__}.{name}\n      toc_label: {name}\n"
            )
    return "\n".join(parts)


def _session(fence: str) -> str:
    return re.sub(r"^( *)```python\n(?=\s*>>>)", r"\1```pycon\n", fence)


def _linked(text: str, place: str, source: str) -> str:
    """Text with the links of a document at ``place`` in the repository as those of the page ``source``."""

    def at(match: re.Match[str]) -> str:
        bang, said, target = match.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        path, hash_, anchor = target.partition("#")
        found = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
        notebook = posixpath.basename(found).replace(".py", ".md")
        if found.startswith("docs/gallery/") and found.endswith(".py"):
            if not (GALLERY / notebook).is_file():
                return said
            to = f"gallery/{notebook}"
        elif found.startswith("docs/"):
            to = found.removeprefix("docs/")
        elif place == "models/README.md" and found.endswith(".toml"):
            to, hash_, anchor = source, "#", posixpath.basename(found).removesuffix(".toml")
        elif found in HOMES or found in FOLDERS:
            to = HOMES.get(found) or FOLDERS[found]
        else:
            return f"{said} (`{found}`)" if f"`{found}`" not in said and (ROOT / found).exists() else said
        relative = posixpath.relpath(to, posixpath.dirname(source) or ".")
        return f"{bang}[{said}]({relative}{hash_}{anchor})"

    return _LINK.sub(at, text)


def _mathml(match: re.Match[str]) -> str:
    latex = html.unescape(match[2]).strip()
    return convert(latex[2:-2].strip(), display="block" if match[1] == "div" else "inline")
