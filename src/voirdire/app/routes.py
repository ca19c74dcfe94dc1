"""Routes of the page (pages, forms, uploads and downloads), and its HTML."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from voirdire.app.choices import FIELD_OPTIONS, ROLES, asking_page
from voirdire.app.session import BUSY_MESSAGE, FinishedFit, Session, Sessions, shorten_problems
from voirdire.app.uploads import MAX_UPLOAD_BYTES, TABLE_NAME, TEXTS_NAME, TooLargeError, receive_file, shown_name
from voirdire.collect.questionnaire import security_policy as asking_policy
from voirdire.errors import InputError
from voirdire.infer.method import DEFAULT_SECONDS
from voirdire.report.html import read_asset, template_environment
from voirdire.report.html import security_policy as report_policy
from voirdire.settings import PROB

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

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


_MAX_FORM_BYTES = 2**20  # bytes of a form
_GONE_MESSAGE = "The work of this window is not here any more: the app was started anew, or the address is not whole."


def make_app(sessions: Sessions) -> Starlette:
    """Make the application, without its guard (`voirdire.app.server`).

    Parameters
    ----------
    sessions : Sessions
    """
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, RedirectResponse
    from starlette.responses import Response as Answer
    from starlette.routing import Route

    def begin_session(request: Request) -> Response:
        try:
            return RedirectResponse(f"/s/{sessions.open_window()}/", 303)
        except InputError as error:
            return HTMLResponse(message_page("Too many windows", str(error)), 503)

    def send_asset(request: Request) -> Response:
        try:
            text, kind = page_asset(request.path_params["name"])
        except InputError:
            return Answer("Not found", 404)
        return Answer(text, media_type=kind)

    def page_not_found(request: Request, error: Exception) -> Response:
        return HTMLResponse(message_page("Not found", _GONE_MESSAGE), 404)

    def session_route(path: str, show: Callable[..., Any], method: str = "GET") -> Route:
        """Make a route below a window's address."""

        async def answer_request(request: Request) -> Response:
            session = sessions.find_window(request.path_params["key"])
            return page_not_found(request, KeyError()) if session is None else await show(request, session)

        return Route(f"/s/{{key}}/{path}", answer_request, methods=[method])

    return Starlette(
        routes=[
            Route("/", begin_session),
            Route("/assets/{name}", send_asset),
            session_route("", _show_window),
            session_route("progress", _send_progress),
            session_route("ask", _ask_person),
            session_route("report", _show_report),
            session_route("download/{what}", _send_download),
            session_route("file", _take_upload, "POST"),
            session_route("texts", _take_upload, "POST"),
            session_route("reading", _form_route(Session.apply_choices), "POST"),
            session_route("fit", _form_route(_choose_and_fit), "POST"),
            session_route("forget", _form_route(lambda session, given: session.forget_answers()), "POST"),
            session_route("stop", _form_route(_stop_fit), "POST"),
            session_route(
                "answers", _form_route(lambda session, given: session.take_answers(given.get("csv", ""))), "POST"
            ),
        ],
        exception_handlers={404: page_not_found},
    )


def _session_root(request: Request) -> str:
    return f"/s/{quote(request.path_params['key'])}/"


async def _in_thread(work: Callable[..., Any], *given: Any) -> Any:
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(work, *given)


async def _show_window(request: Request, session: Session) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(await _in_thread(window_page, session, _session_root(request)))


async def _send_progress(request: Request, session: Session) -> Response:
    from starlette.responses import JSONResponse

    fitting = await _in_thread(lambda: session.fitting)
    return JSONResponse({"running": False} if fitting is None else {"running": True} | fitting.progress)


async def _take_upload(request: Request, session: Session) -> Response:
    """Save the body as the table or as the texts of items, depending on the last part of the address."""
    from starlette.responses import JSONResponse

    stem = TEXTS_NAME if request.url.path.endswith("/texts") else TABLE_NAME
    name = request.query_params.get("name", "")
    path = None
    try:
        if await _in_thread(lambda: session.fitting) is not None:
            raise InputError(BUSY_MESSAGE)
        announced = request.headers.get("content-length")
        path = await receive_file(request.stream(), session.folder, name, stem, announced)
        if stem == TABLE_NAME:
            await _in_thread(session.take_file, path, shown_name(name))
        else:
            await _in_thread(session.take_texts, path)
    except TooLargeError as error:
        return JSONResponse({"error": str(error)}, 413)
    except InputError as error:
        if path is not None:
            shutil.rmtree(path.parent, ignore_errors=True)
        return JSONResponse({"error": str(error).replace(TEXTS_NAME, shown_name(name))}, 400)
    return JSONResponse({"taken": shown_name(name)})


def _form_route(act: Callable[[Session, dict[str, str]], None]) -> Callable[..., Awaitable[Response]]:
    """Make a route that runs ``act`` on a form's fields and shows the window, with problems on the page."""

    async def take_form(request: Request, session: Session) -> Response:
        from starlette.responses import PlainTextResponse, RedirectResponse

        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MAX_FORM_BYTES:
                return PlainTextResponse("The form is too large.", 413)
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100)
            await _in_thread(act, session, dict(fields))
        except ValueError as error:  # InputError, a body that is not UTF-8, or too many fields
            problems = error.problems if isinstance(error, InputError) else ("the form cannot be read",)
            session.problems = tuple(map(session.restore_file_name, problems))
        return RedirectResponse(_session_root(request), 303)

    return take_form


def _choose_and_fit(session: Session, fields: dict[str, str]) -> None:
    with session.lock:
        session.apply_choices(fields)
        session.begin_fit()


def _stop_fit(session: Session, fields: dict[str, str]) -> None:
    fitting = session.fitting
    if fitting is not None:
        fitting.stop()


async def _ask_person(request: Request, session: Session) -> Response:
    from starlette.responses import HTMLResponse, RedirectResponse

    fitted, root = session.fitted, _session_root(request)
    if fitted is None or not fitted.outcome["questions"]:
        return RedirectResponse(root, 303)
    try:
        page = await _in_thread(asking_page, fitted.outcome["questions"], session.texts, f"{root}answers", root)
    except InputError as error:
        session.problems, session.texts = error.problems, None
        return RedirectResponse(root, 303)
    policy = f"{asking_policy(True)}; frame-ancestors 'none'"
    return HTMLResponse(page, headers={"content-security-policy": policy})


async def _show_report(request: Request, session: Session) -> Response:
    from starlette.responses import HTMLResponse, RedirectResponse

    if session.fitted is None:
        return RedirectResponse(_session_root(request), 303)
    # the sandbox gives the report a separate origin, so that it cannot reach the app
    policy = f"{report_policy()}; frame-ancestors 'self'; sandbox allow-scripts"
    text = (session.fitted.folder / "report.html").read_text(encoding="utf-8")
    return HTMLResponse(text, headers={"content-security-policy": policy})


async def _send_download(request: Request, session: Session) -> Response:
    from starlette.responses import RedirectResponse
    from starlette.responses import Response as Answer

    make_content = _DOWNLOADS.get(request.path_params["what"])
    content = None if make_content is None or session.fitted is None else await _in_thread(make_content, session.fitted)
    if content is None:
        return RedirectResponse(_session_root(request), 303)
    disposition = f'attachment; filename="{request.path_params["what"]}"'
    return Answer(content, media_type="application/octet-stream", headers={"content-disposition": disposition})


def _zip_run(fitted: FinishedFit) -> bytes:
    buffer = io.BytesIO()
    folder = fitted.folder / "run"
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, Path("run") / path.relative_to(folder))
    return buffer.getvalue()


def _read_answers(fitted: FinishedFit) -> bytes | None:
    path = fitted.folder / "answers.csv"
    return path.read_bytes() if path.is_file() else None


_DOWNLOADS: dict[str, Callable[[FinishedFit], bytes | None]] = {
    "report.html": lambda fitted: (fitted.folder / "report.html").read_bytes(),
    "run.zip": _zip_run,
    "answers.csv": _read_answers,
}
