"""Content of a report, independent of the format: sections of texts, tables, figures and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from voirdire.report.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

LEVELS = ("fail", "warn", "ok")  # worst first
LEVEL_WORDS = {"ok": "all fine", "warn": "warnings", "fail": "failed"}
_MAX_NAME_LETTERS = 60
_MAX_TITLE_NAMES, _MAX_TITLE_LETTERS = 3, 24  # number of names in a title, and their length


@dataclass(frozen=True)
class Text:
    """Paragraph; ``role`` is "lead" (the answer in one sentence), "note" (small print) or ""."""

    text: str
    role: str = ""


@dataclass(frozen=True)
class Figure:
    """Figure that is drawn only in formats with figures.

    ``title`` is its heading; ``caption`` explains it, also to readers who cannot see it. ``draw`` gives its parts in
    reading order, for example the columns of a long forest, which are side by side where there is room.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Sequence[Drawing]]


@dataclass(frozen=True)
class Finding:
    """Check: its name, its level ("ok", "warn" or "fail") and its message."""

    name: str
    level: str
    message: str


@dataclass(frozen=True)
class Findings:
    """Checks, worst first."""

    entries: tuple[Finding, ...]


def findings_of(checks: Iterable[Mapping[str, str]]) -> Findings:
    """Return the checks of a result as findings, worst first."""
    ordered = sorted(checks, key=lambda row: LEVELS.index(row["level"]))
    return Findings(tuple(Finding(row["check"], row["level"], row["message"]) for row in ordered))


@dataclass(frozen=True)
class Facts:
    """Names and values, as a list of definitions."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Code:
    """Text with significant spaces and line breaks, with a title."""

    title: str
    text: str
    copy: bool = False


Block: TypeAlias = Text | Table | Figure | Findings | Facts | Code


@dataclass(frozen=True)
class Section:
    """Section: the question that it answers, its short name for the navigation, and its content."""

    name: str
    title: str
    short: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """Report. ``tiles`` are its headline figures: a name, a value and a remark."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    tiles: tuple[tuple[str, str, str], ...] = ()
    level: str = "ok"
    made: tuple[tuple[str, str], ...] = field(default_factory=tuple)


def isolate_name(name: object) -> str:
    """Prepare a name for a sentence: isolate its writing direction, and shorten it.

    Examples
    --------
    >>> isolate_name("x") == "\\u2068x\\u2069", len(isolate_name("x" * 300))
    (True, 62)
    """
    return f"\u2068{shorten_name(str(name), _MAX_NAME_LETTERS)}\u2069"


def shorten_name(name: str, max_letters: int) -> str:
    """Shorten a name to at most ``max_letters`` characters, with an ellipsis in the middle.

    Examples
    --------
    >>> shorten_name("a-rather-long-name-of-a-model-v2", 16)
    'a-rather-l…el-v2'
    """
    if len(name) <= max_letters:
        return name
    end = max_letters // 3
    return f"{name[: max_letters - end - 1]}…{name[-end:]}"


def title_with_names(title: str, names: Iterable[object], noun: str) -> str:
    """Extend a title with the first names of the data and the number of further ones.

    Examples
    --------
    >>> title_with_names("Votes", "abcda", "items").translate({0x2068: None, 0x2069: None})
    'Votes: a, b, c and 1 more items'
    """
    distinct = list(dict.fromkeys(map(str, names)))
    shown = [f"\u2068{shorten_name(name, _MAX_TITLE_LETTERS)}\u2069" for name in distinct[:_MAX_TITLE_NAMES]]
    more_text = f" and {len(distinct) - _MAX_TITLE_NAMES:,} more {noun}" if len(distinct) > _MAX_TITLE_NAMES else ""
    return f"{title}: {', '.join(shown)}{more_text}"
