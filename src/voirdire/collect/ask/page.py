"""Self-contained questionnaire for people: no server, no network; answers stay in the browser until they are saved.

The page does not show names of items or the information value of a question. Texts are data: the page receives them as
JSON and inserts them as text, never as markup, and its security policy allows no other script. The order of questions
and the side of each text depend on the seed and the person's name; a reopened page shows the same order.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from voirdire.collect.ask.questions import Questions, read_questions
from voirdire.errors import InputError
from voirdire.folders import write_file

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
        See :func:`voirdire.collect.ask.questions.read_questions`.
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
    return resources.files("voirdire.collect.ask").joinpath(name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _safe_json(data: dict[str, Any]) -> str:
    """Serialise as JSON that cannot end the HTML element around it."""
    text = json.dumps(data, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
