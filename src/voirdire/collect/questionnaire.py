"""Questionnaires for people: a page without a server, from a table of questions, and its answers.

Self-contained questionnaire for people: no server, no network; answers stay in the browser until they are saved.

The page does not show names of items or the information value of a question. Texts are data: the page receives them as
JSON and inserts them as text, never as markup, and its security policy allows no other script. The order of questions
and the side of each text depend on the seed and the person's name; a reopened page shows the same order.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from voirdire.collect.items import read_items
from voirdire.collect.protocol import Item
from voirdire.errors import InputError
from voirdire.folders import write_file
from voirdire.notices import give_notice
from voirdire.tables.encode import Refused, cell_to_name, encode_column
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.read import columns_among, read_columns
from voirdire.tables.spreadsheet_escape import unescape_names

_OPTIONAL_COLUMNS = ("criterion", "context")
_MAX_LEVELS = 20
_MAX_LISTED = 20  # problems named before they are only counted


@dataclass(frozen=True)
class Questions:
    """Questions to people about items.

    Attributes
    ----------
    answer : "winner", "score" or "label"
        The column to fill in.
    rows : tuple of dict
        Columns of each question: first and second, or item; criterion and context if the table has them.
    items : dict of str to Item
        The items in the questions.
    levels : tuple of str
        Possible scores or labels; empty for comparisons.
    """

    answer: str
    rows: tuple[dict[str, str], ...]
    items: dict[str, Item]
    levels: tuple[str, ...] = ()


def read_questions(table: object, items: object, levels: Sequence[object] | None = None) -> Questions:
    """Read questions; rows with an answer are left out.

    Parameters
    ----------
    table : path or dataframe
        Columns ``first`` and ``second`` (which is better), or ``item`` and an empty column ``score`` or ``label``;
        optionally ``criterion`` and ``context``. Other columns, such as ``gain``, are ignored.
    items : path or dataframe
        As for ``voirdire collect``: id, text; optionally context or source (background of the text).
    levels : sequence, optional
        Possible scores (default: 1 to 5) or labels.

    Raises
    ------
    InputError
        Lists every problem: an item without a text, no question left, no levels.

    Examples
    --------
    >>> import pandas as pd
    >>> texts = pd.DataFrame({"id": ["x", "y"], "text": ["Once.", "Twice."]})
    >>> read_questions(pd.DataFrame({"first": ["x"], "second": ["y"]}), texts).rows
    ({'first': 'x', 'second': 'y'},)
    """
    problems = Problems("questions")
    item_by_name = {item.id: item for item in read_items(items)}
    present = columns_among(table, ["first", "second", "winner", "score", "label"], problems)
    problems.raise_any()
    pairs = {"first", "second"} <= set(present)
    item_columns = ["first", "second"] if pairs else ["item"]
    answer = "winner" if pairs else _answer_column(present, levels)
    cells = read_columns(table, item_columns, [answer, *_OPTIONAL_COLUMNS], problems)
    problems.raise_any()
    answers = cells.pop(answer, [None] * len(cells[item_columns[0]]))
    columns = {}
    for name, values in cells.items():
        encoded = encode_column(values, name, problems if name in item_columns else Problems(name))
        columns[name] = [encoded.levels[code] if code >= 0 else "" for code in encoded.codes]
    for name in item_columns:
        columns[name] = _read_items(columns[name], name, item_by_name, problems)
    sides = zip(*(columns[name] for name in item_columns), strict=True)
    same_rows = [index for index, names in enumerate(sides, 1) if len(names) > len(set(names))]
    if same_rows:
        problems.rows(same_rows, "an item is compared with itself")
    problems.raise_any()
    answered = [not isinstance(cell_to_name(cell), Refused) for cell in answers]
    all_rows = (
        {name: cells_of[index] for name, cells_of in columns.items() if cells_of[index]}
        for index in range(len(answered))
    )
    rows = tuple(row for row, is_done in zip(all_rows, answered, strict=True) if not is_done)
    if not rows:
        raise InputError("questions: every row has an answer already; there is nothing to ask")
    if any(answered):
        give_notice(f"{sum(answered)} questions have an answer already and are left out.")
    used = {row[name] for row in rows for name in item_columns}
    used_items = {name: item for name, item in item_by_name.items() if name in used}
    return Questions(answer, rows, used_items, () if pairs else _check_levels(answer, levels))


def _answer_column(present: Sequence[str], levels: Sequence[object] | None) -> str:
    columns = [name for name in ("score", "label") if name in present]
    if len(columns) != 1:
        raise InputError(
            "questions: name the columns first and second (which is better), or item and one empty column, score "
            "or label"
        )
    if columns == ["label"] and not levels:
        raise InputError("questions: say which labels there are to choose from (--levels yes,no; levels=)")
    return columns[0]


def _check_levels(answer: str, levels: Sequence[object] | None) -> tuple[str, ...]:
    names = tuple(str(level).strip() for level in (levels or range(1, 6)))
    if len(set(names)) < max(len(names), 2) or not all(names) or len(names) > _MAX_LEVELS:
        raise InputError(f"levels {', '.join(names)!r} are not 2 to {_MAX_LEVELS} different answers")
    for name in names if answer == "score" else ():
        try:
            finite = math.isfinite(float(name))
        except ValueError:
            finite = False
        if not finite:
            raise InputError(f"level {name!r} of a score is no number")
    return names


def _read_items(names: list[str], column: str, item_by_name: dict[str, Item], problems: Problems) -> list[str]:
    """Return names as in the table of items, without a form's escapes of spreadsheet formulas."""
    unescaped = dict(zip(dict.fromkeys(names), unescape_names(dict.fromkeys(names), item_by_name), strict=True))
    unknown = list(dict.fromkeys(unescaped[name] for name in names if name and unescaped[name] not in item_by_name))
    for name in unknown[:_MAX_LISTED]:
        rows = [row for row, cell in enumerate(names, start=1) if cell and unescaped[cell] == name]
        problems.rows(rows, f"{column} {name!r} is not among the items{nearest_name(name, tuple(item_by_name))}")
    if len(unknown) > _MAX_LISTED:
        count = len(unknown)
        problems.table(f"{count} names in {column} are not among the items; the first {_MAX_LISTED} are named")
    return [unescaped[name] for name in names]


_DEFAULT_TASKS = {"winner": "Which text is better?", "score": "How good is this text?", "label": "What is this text?"}


def write_page(
    questions: object,
    items: object,
    out: str | Path,
    *,
    levels: Sequence[object] | None = None,
    ties: bool = True,
    task: str | None = None,
    seed: int = 0,
) -> Path:
    """Write a questionnaire for people.

    Parameters
    ----------
    questions, items : path or dataframe
        See :func:`voirdire.collect.questionnaire.read_questions`.
    out : path
        A new file to send to people. They send back its ``answers-NAME.csv``, a table for anchors.
    levels : sequence, optional
        Possible scores (default 1 to 5) or labels.
    ties : bool
        Comparisons: True allows the answer that neither is better.
    task : str, optional
        Wording of the question.
    seed : int
        Seed of the order of questions and of the sides.

    Raises
    ------
    InputError
        A table is invalid, or the file exists.
    """
    path = Path(out)
    if path.exists():
        raise InputError(f"{path} exists already; give the name of a new file")
    if path.suffix != ".html":
        raise InputError(f"{path.name!r} is to be a page; give a name that ends in .html")
    write_file(path, page_text(read_questions(questions, items, levels), ties=ties, task=task, seed=seed))
    return path


def page_text(
    questions: Questions,
    *,
    ties: bool = True,
    task: str | None = None,
    seed: int = 0,
    send: str | None = None,
    back: str | None = None,
) -> str:
    """Return the HTML of the page.

    Parameters
    ----------
    questions : Questions
    ties, task, seed
        See :func:`write_page`.
    send, back : str, optional
        For a page served by this machine: the address that receives the answers, as a form with the field ``csv``, and
        the address of the page to return to.

    Examples
    --------
    >>> from voirdire.collect.protocol import Item
    >>> texts = {"x": Item("x", "</script><b>"), "y": Item("y", "Twice.")}
    >>> made = page_text(Questions("winner", ({"first": "x", "second": "y"},), texts))
    >>> made.count("</script>"), "<b>" in made
    (2, False)
    """
    title = task or _DEFAULT_TASKS[questions.answer]
    data = {**_page_data(questions), "task": title, "seed": seed, "ties": ties}
    data |= {name: address for name, address in (("send", send), ("back", back)) if address is not None}
    # key of the answers in the browser's storage; pages with other questions have another key
    data["id"] = hashlib.sha256(_safe_json(data).encode()).hexdigest()[:16]
    shell = _read_asset("ask.html")
    for name, text in {
        "POLICY": html.escape(security_policy(send is not None), quote=True),
        "TITLE": html.escape(title),
        "STYLE": _read_asset("ask.css"),
        "SCRIPT": _read_asset("ask.js"),
        "DATA": _safe_json(data),
    }.items():
        shell = shell.replace(f"<!--{name}-->", text)
    return shell


def security_policy(sends: bool) -> str:
    """Return the security policy of the page: its own script and style, no requests except a form if it ``sends``.

    Examples
    --------
    >>> security_policy(False).endswith("form-action 'none'"), security_policy(True).endswith("form-action 'self'")
    (True, True)
    """
    script, style = (_hash_source(_read_asset(name)) for name in ("ask.js", "ask.css"))
    sources = f"default-src 'none'; script-src {script}; style-src {style}"
    return f"{sources}; base-uri 'none'; form-action '{'self' if sends else 'none'}'"


def _page_data(questions: Questions) -> dict[str, Any]:
    background_index: dict[str, int] = {}
    item_index = {name: index for index, name in enumerate(questions.items)}
    rows = []
    for row in questions.rows:
        row_items = [questions.items[row[name]] for name in ("first", "second", "item") if name in row]
        background = {text for text in (item.source or item.context for item in row_items) if text}
        background = background or {row[name] for name in ("context",) if name in row}
        entry: dict[str, Any] = {"items": [item_index[item.id] for item in row_items]}
        entry |= {name: row[name] for name in ("criterion", "context") if name in row}
        if background:
            entry["about"] = background_index.setdefault("\n\n".join(sorted(background)), len(background_index))
        rows.append(entry)
    return {
        "answer": questions.answer,
        "levels": list(questions.levels),
        "criteria": any("criterion" in row for row in questions.rows),
        "contexts": any("context" in row for row in questions.rows),
        "items": [{"name": item.id, "text": item.text} for item in questions.items.values()],
        "about": list(background_index),
        "questions": rows,
    }


def _read_asset(name: str) -> str:
    return resources.files("voirdire.collect").joinpath("assets", name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _safe_json(data: dict[str, Any]) -> str:
    """Serialise as JSON that cannot end the HTML element around it."""
    text = json.dumps(data, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
