"""The page of voirdire app in a browser: from a dropped file to a fit in one click, by keys, in two windows, alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voirdire.app.server import serve_page

pytestmark = pytest.mark.slow
VIEWS = {"light": (1280, False), "dark": (1280, True), "phone": (400, False)}


def annotations(name: str = "Model", seed: int = 3) -> str:
    """A file as AlpacaEval writes it: two annotators compare three models with one on six instructions."""
    rng = np.random.default_rng(seed)
    records = [
        {
            "instruction": f"Task <{task}>",
            "output_1": "One.",
            "generator_1": "baseline",
            "output_2": "Two.",
            "generator_2": f"{name} {model}",
            "annotator": annotator,
            "preference": float(np.round(1.5 + 0.1 * (model - 1) + rng.uniform(-0.3, 0.3), 3)),
        }
        for annotator in ("gpt", "claude")
        for model in range(3)
        for task in range(6)
    ]
    return json.dumps(records)


def waited(condition: Callable[[], Any], seconds: float = 60) -> None:
    """Wait until a condition holds; a page that is being replaced holds none."""
    until = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except AssertionError:
            pass
        assert time.monotonic() < until
        time.sleep(0.05)


def shows(browser: Any, title: str) -> None:
    ready = "document.readyState === 'complete' && document.title"
    waited(lambda: str(browser.run(ready)).startswith(title))


def drop(browser: Any, text: str, name: str) -> None:
    """Let go of a file over the page's field."""
    browser.run(
        "(() => { const held = new DataTransfer();"
        f"held.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));"
        "document.querySelector('[data-upload]').dispatchEvent(new DragEvent('drop', {dataTransfer: held, "
        "bubbles: true, cancelable: true})); })()"
    )
    shows(browser, f"How the file is read · {name}")


def click(browser: Any, selector: str) -> None:
    """A click of the mouse in the middle of what is to be seen there."""
    place = browser.run(
        f"(() => {{ const it = document.querySelector({json.dumps(selector)}); it.scrollIntoView({{block: 'center'}});"
        "const at = it.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        where = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        browser.call("Input.dispatchMouseEvent", type=kind, **where)


def press(browser: Any, key: str) -> None:
    text = {"Enter": "\r", " ": " "}.get(key)
    for kind in ("keyDown", "keyUp"):
        more = {"text": text} if text and kind == "keyDown" else {}
        code = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39}.get(key, 0)
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)


def faults(browser: Any, axe: str) -> list[Any]:
    browser.call("Page.setBypassCSP", enabled=True)
    browser.run(f"{axe};0")
    found = browser.run(
        "axe.run(document, {resultTypes: ['violations'], iframes: false}).then((found) => "
        "found.violations.map((one) => [one.id, one.nodes.map((n) => n.html)]))"
    )
    browser.call("Page.setBypassCSP", enabled=False)
    return list(found)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serve_page() as guard:
        yield guard.address


@pytest.fixture(scope="module")
def asked(browser: Any, address: str) -> list[str]:
    """Addresses that the browser has asked for, before what was noted of it is cleared."""
    browser.open(address)
    shows(browser, "Drop a file")
    return list(browser.requests)


@pytest.fixture(scope="module")
def fitted(browser: Any, address: str, asked: list[str], artefacts: Path) -> str:
    """The address of a window whose file was dropped and fitted by one click."""
    browser.open(address)
    shows(browser, "Drop a file")
    drop(browser, annotations(), "annotations.json")
    click(browser, "form button.main")
    shows(browser, "Fitting")
    waited(lambda: "first" in browser.run("document.getElementById('known').textContent"))
    browser.screenshot(artefacts / "app-fitting.png")
    shows(browser, "The answer")
    assert browser.errors == []
    asked += browser.requests
    return str(browser.run("location.href"))


def test_one_click_after_the_drop_gives_the_decision_and_the_report(
    browser: Any, fitted: str, asked: list[str]
) -> None:
    browser.open(fitted)
    assert "first place" in browser.run("document.getElementById('decision').textContent")
    frames = (
        "performance.getEntriesByType('resource').filter((one) => one.initiatorType === 'iframe')"
        ".map((one) => [one.name, one.responseStatus])"
    )
    waited(lambda: browser.run(frames) == [[f"{fitted}report", 200]])
    assert browser.run("document.querySelector('iframe').contentDocument") is None  # an origin of its own
    assert browser.run("document.cookie") == ""
    assert browser.errors == []
    own = fitted.split("/s/")[0]
    elsewhere = [one for one in asked + browser.requests if not one.startswith((f"{own}/", "data:"))]
    assert elsewhere == []


def test_a_reload_shows_the_same_and_another_window_another_file(browser: Any, address: str, fitted: str) -> None:
    browser.open(fitted)
    before = browser.run("document.querySelector('main').textContent")
    browser.open(address.split("?")[0])
    shows(browser, "Drop a file")
    other = browser.run("location.href")
    assert other != fitted
    drop(browser, annotations("Other"), "other.json")
    browser.open(fitted)
    assert browser.run("document.querySelector('main').textContent") == before
    browser.open(other)
    shows(browser, "How the file is read")
    assert "other.json" in browser.run("document.title")


@pytest.mark.long
def test_questions_are_answered_by_keys_and_the_answers_enter_the_next_fit(
    browser: Any, fitted: str, axe: str, artefacts: Path
) -> None:
    browser.open(fitted)
    browser.run("document.getElementById('ask').focus()")
    press(browser, "Enter")
    shows(browser, "Which is better?")
    assert faults(browser, axe) == []
    browser.screenshot(artefacts / "app-ask.png")
    total = int(browser.run("document.getElementById('place').textContent").split()[-1])
    for number, key in enumerate((["1", "2", "3", "ArrowLeft", "ArrowRight"] * 2)[:total], 1):
        assert browser.run("document.getElementById('place').textContent") == f"Question {number} of {total}"
        press(browser, key)
    assert faults(browser, axe) == []
    assert browser.errors == []
    browser.run("document.querySelector('#send button').focus()")
    press(browser, "Enter")
    shows(browser, "Fitting")
    shows(browser, "The answer")
    assert f"{total} answer" in browser.run("document.querySelector('.note').textContent")
    assert "--anchors answers.csv" in browser.run("document.querySelector('pre').textContent")
    assert browser.run("localStorage.length") == 0


@pytest.mark.parametrize("view", VIEWS)
def test_every_step_is_fit_for_all(
    browser: Any, address: str, fitted: str, axe: str, artefacts: Path, view: str
) -> None:
    width, dark = VIEWS[view]

    def look(name: str) -> None:
        browser.screenshot(artefacts / f"app-{name}-{view}.png", whole=True)
        assert faults(browser, axe) == []
        assert browser.run("document.documentElement.scrollWidth") <= width

    browser.open(address, width=width, dark=dark)
    shows(browser, "Drop a file")
    look("empty")
    drop(browser, "who,what,says\na,x,1\n<b>,x,2\n", "strange.csv")
    look("unread")
    drop(browser, annotations(), "annotations.json")
    browser.run("document.querySelector('summary').click()")
    look("read")
    browser.open(fitted, width=width, dark=dark)
    look("answer")


def test_focus_goes_through_the_page_in_order_and_is_seen(browser: Any, address: str) -> None:
    browser.open(address)
    shows(browser, "Drop a file")
    drop(browser, annotations(), "annotations.json")
    browser.run("document.querySelector('summary').click()")
    seen = []
    while len(seen) < 60:
        press(browser, "Tab")
        now = browser.run(
            "(() => { const it = document.activeElement; const style = getComputedStyle(it);"
            "return [it.id || it.textContent.trim(), style.outlineStyle !== 'none', "
            "it.getBoundingClientRect().top + scrollY, it === document.body]; })()"
        )
        if now[3]:
            break
        seen.append(now)
    assert [name for name, outlined, *_ in seen if not outlined] == []
    tops = [round(top) for _, _, top, _ in seen]
    assert tops == sorted(tops)
    names = [name for name, *_ in seen]
    assert names[1:4] == ["Fit", "Choices", "c-about"]
    assert names[-1] == "file"


def test_without_the_app_the_page_says_so(browser: Any) -> None:
    with serve_page() as guard:
        browser.open(guard.address_once())
        shows(browser, "Drop a file")
    browser.run(
        "(() => { const held = new DataTransfer(); held.items.add(new File(['x'], 'x.csv'));"
        "const field = document.getElementById('file'); field.files = held.files;"
        "field.dispatchEvent(new Event('change')); })()"
    )
    said = "document.querySelector('.said').textContent"
    waited(lambda: "does not answer" in browser.run(said))
