"""HTML of the page, written by templates that escape all they are given; the look is that of reports."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from voirdire.app.choices import OPTIONS, ROLES
from voirdire.app.session import Session, shorten_problems
from voirdire.app.uploads import MOST_BYTES
from voirdire.errors import InputError
from voirdire.infer.method import SECONDS
from voirdire.settings import PROB

if TYPE_CHECKING:
    from jinja2 import Environment

_VERBS = ("fit", "board", "agree", "metaeval", "replace")
#: Files that the page loads: where each is, and what it is.
ASSETS = {
    "style.css": ("voirdire.report", "text/css"),
    "app.css": ("voirdire.app", "text/css"),
    "app.js": ("voirdire.app", "text/javascript"),
}


def window_page(session: Session, root: str) -> str:
    """The page of a window as its work stands.

    Parameters
    ----------
    session : Session
    root : str
        The address of the window, with a slash at its end.
    """
    with session.lock:
        fitting = session.fitting
        found = session.findings
        return (
            _template_environment()
            .get_template("window.html.j2")
            .render(
                root=root,
                state="fitting" if fitting else "fitted" if session.fitted else "read" if found else "empty",
                session=session,
                problems=shorten_problems(session.problems),
                progress=None if fitting is None else fitting.progress,
                found=found,
                ready=[]
                if found is None or found.error
                else [one for one in _VERBS if one not in found.lacks],
                options=OPTIONS,
                roles=ROLES,
                usual={"prob": f"{PROB:g}", "seconds": f"{SECONDS:g}"},
                limit=MOST_BYTES // 2**20,
            )
        )


def message_page(title: str, text: str) -> str:
    """A page with a message and the way to a new window."""
    return _template_environment().get_template("message.html.j2").render(title=title, text=text)


def page_asset(name: str) -> tuple[str, str]:
    """A file that the page loads, and its type.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if name not in ASSETS:
        raise InputError(f"{name!r} is none of {', '.join(ASSETS)}")
    package, kind = ASSETS[name]
    return _read_asset(package, name), kind


@cache
def _template_environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(lambda name: _read_asset("voirdire.app", name)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _read_asset(package: str, name: str) -> str:
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")
