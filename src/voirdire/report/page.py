"""Content of a report, apart from how it is written: sections of texts, tables, figures and checks."""

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
_MAX_TITLE_NAMES, _MAX_TITLE_LETTERS = 3, 24  # names in a title, and how long


@dataclass(frozen=True)
class Text:
    """A paragraph; ``role`` is "lead" (the answer in one sentence), "note" (small print) or ""."""

    text: str
    role: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure that is drawn only where a format shows figures.

    ``title`` heads it; ``caption`` says how to read it, also to those who do not see it. ``draw`` gives its parts, in
    reading order: a long forest in columns, say, that stand beside each other where there is room.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Sequence[Drawing]]


@dataclass(frozen=True)
class Finding:
    """A check: its name, its level ("ok", "warn" or "fail") and what it says."""

    name: str
    level: str
    message: str


@dataclass(frozen=True)
class Findings:
    """Checks, worst first."""

    entries: tuple[Finding, ...]


def findings_of(checks: Iterable[Mapping[str, str]]) -> Findings:
    """Checks of a result as findings, worst first."""
    ordered = sorted(checks, key=lambda row: LEVELS.index(row["level"]))
    return Findings(tuple(Finding(row["check"], row["level"], row["message"]) for row in ordered))


@dataclass(frozen=True)
class Facts:
    """Names and values, as a list of definitions."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Code:
    """Text whose lines and spaces count, with a title."""

    title: str
    text: str
    copy: bool = False


Block: TypeAlias = Text | Table | Figure | Findings | Facts | Code


@dataclass(frozen=True)
class Section:
    """A section: the question it answers, its short name for the navigation, and what answers it."""

    name: str
    title: str
    short: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A report. ``tiles`` are its headline figures: a name, a value and a remark."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    tiles: tuple[tuple[str, str, str], ...] = ()
    level: str = "ok"
    made: tuple[tuple[str, str], ...] = field(default_factory=tuple)


def isolate_name(name: object) -> str:
    """A name within a sentence: isolated, so that its writing direction stays its own, and shortened.

    Examples
    --------
    >>> isolate_name("x") == "\\u2068x\\u2069", len(isolate_name("x" * 300))
    (True, 62)
    """
    return f"\u2068{shorten_name(str(name), _MAX_NAME_LETTERS)}\u2069"


def shorten_name(name: str, most: int) -> str:
    """A name of at most ``most`` characters: what is left out of the middle is an ellipsis.

    Examples
    --------
    >>> shorten_name("a-rather-long-name-of-a-model-v2", 16)
    'a-rather-l…el-v2'
    """
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - end - 1]}…{name[-end:]}"


def title_with_names(title: str, names: Iterable[object], what: str) -> str:
    """A title with the data in few words: the first names and how many more there are.

    Examples
    --------
    >>> title_with_names("Votes", "abcda", "items").translate({0x2068: None, 0x2069: None})
    'Votes: a, b, c and 1 more items'
    """
    distinct = list(dict.fromkeys(map(str, names)))
    shown = [f"\u2068{shorten_name(name, _MAX_TITLE_LETTERS)}\u2069" for name in distinct[:_MAX_TITLE_NAMES]]
    more_text = (
        f" and {len(distinct) - _MAX_TITLE_NAMES:,} more {what}" if len(distinct) > _MAX_TITLE_NAMES else ""
    )
    return f"{title}: {', '.join(shown)}{more_text}"
