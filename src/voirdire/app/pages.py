"""HTML of the page, from templates that escape all values, in the style of reports."""

from __future__ import annotations

from typing import Any

from voirdire.app.choices import FIELD_OPTIONS, ROLES
from voirdire.app.session import Session, shorten_problems
from voirdire.app.uploads import MAX_UPLOAD_BYTES
from voirdire.errors import InputError
from voirdire.infer.method import DEFAULT_SECONDS
from voirdire.report.html import read_asset, template_environment
from voirdire.settings import PROB

_VERBS = ("fit", "board", "agree", "metaeval", "replace")
#: Files that the page loads: package and media type of each.
PAGE_ASSETS = {
    "style.css": ("voirdire.report", "text/css"),
    "app.css": ("voirdire.app", "text/css"),
    "app.js": ("voirdire.app", "text/javascript"),
}


def window_page(session: Session, root: str) -> str:
    """Return the page of a window in its current state.

    Parameters
    ----------
    session : Session
    root : str
        The address of the window, with a slash at its end.
    """
    with session.lock:
        fitting, findings = session.fitting, session.findings
        lacks = _VERBS if findings is None or findings.error else findings.lacks
        state = "fitting" if fitting else "fitted" if session.fitted else "read" if findings else "empty"
        return _render(
            "window.html.j2",
            root=root,
            state=state,
            session=session,
            problems=shorten_problems(session.problems),
            progress=None if fitting is None else fitting.progress,
            found=findings,
            ready=[verb for verb in _VERBS if verb not in lacks],
            options=FIELD_OPTIONS,
            roles=ROLES,
            usual={"prob": f"{PROB:g}", "seconds": f"{DEFAULT_SECONDS:g}"},
            limit=MAX_UPLOAD_BYTES // 2**20,
        )


def message_page(title: str, text: str) -> str:
    """Return a page with a message and a link to a new window."""
    return _render("message.html.j2", title=title, text=text)


def page_asset(name: str) -> tuple[str, str]:
    """Return the text of a file that the page loads, and its media type.

    Raises
    ------
    InputError
        There is no such file.
    """
    if name not in PAGE_ASSETS:
        raise InputError(f"{name!r} is none of {', '.join(PAGE_ASSETS)}")
    package, kind = PAGE_ASSETS[name]
    return read_asset(package, name), kind


def _render(template: str, **shown: Any) -> str:
    environment = template_environment("voirdire.app", trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(template).render(**shown)
