"""The page that asks people: by keyboard alone, closed and resumed, on a phone, hostile texts; answers as anchors."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app
from voirdire.collect.questionnaire import page_text, read_questions, write_page

HOSTILE = (
    "<script>window.hit=1</script><img src=x onerror='window.hit=1'>",
    "</script><svg onload=window.hit=1>",
    "<!--SCRIPT--> # heading **bold** [a](javascript:window.hit=1)",
    "line one\n\n    indented\n\u202eright to left",
    "long " + "word " * 400,
)
NAMES = [f"item-{at}" for at in range(7)]
ITEMS = pd.DataFrame(
    {"id": NAMES, "text": [f"{HOSTILE[at % len(HOSTILE)]} ({at})" for at in range(7)], "context": "Say <b>hello</b>."}
)
PAIRS = pd.DataFrame(
    [
        {"first": NAMES[a], "second": NAMES[b], "winner": "", "gain": 0.7, "information": 0.9}
        for a in range(7)
        for b in range(a)
    ]
)[:20]


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    def make(questions: pd.DataFrame = PAIRS, name: str = "ask.html", **more: Any) -> Path:
        return write_page(questions, ITEMS, tmp_path / name, **more)

    return make


def press(browser: Any, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)


def waited(condition: Callable[[], Any], otherwise: Callable[[], Any] = lambda: None) -> None:
    """Wait until a condition holds; every two seconds that it does not, do what may help."""
    until = time.monotonic() + 60
    helped = time.monotonic() + 2
    while not condition():
        assert time.monotonic() < until
        if time.monotonic() > helped:
            otherwise()
            helped = time.monotonic() + 2
        time.sleep(0.05)


def opened(browser: Any, place: Path, **view: Any) -> None:
    """Open a page and wait until it is the one that is there: a load that is told may be of the page before."""
    browser.open(place, **view)
    ready = f"location.href === {json.dumps(place.as_uri())} && document.readyState === 'complete'"
    waited(lambda: browser.run(ready))


def begin(browser: Any, place: Path, name: str, **view: Any) -> None:
    """Open a page and begin as a person, or (no name) as the one whom the browser has kept.

    What a page keeps reaches the next process of the browser a moment later, so the page is loaded until it is there.
    """
    opened(browser, place, **view)
    if not name:
        kept = "document.getElementById('person').value"
        waited(lambda: browser.run(kept), lambda: opened(browser, place, **view))
    browser.run("document.getElementById('person').focus()")
    if not browser.run("document.getElementById('person').value"):
        browser.call("Input.insertText", text=name)
    press(browser, "Enter")
    waited(lambda: text(browser, "place"), lambda: press(browser, "Enter"))


def text(browser: Any, name: str) -> str:
    return str(browser.run(f"document.getElementById('{name}').textContent"))


def shown(browser: Any) -> list[str]:
    return list(browser.run("[...document.querySelectorAll('article .text')].map((one) => one.textContent)"))


def faults(browser: Any, axe: str) -> list[Any]:
    browser.call("Page.setBypassCSP", enabled=True)
    browser.run(f"{axe};0")
    return list(
        browser.run("axe.run().then((found) => found.violations.map((one) => [one.id, one.nodes.map((n) => n.html)]))")
    )


def read(browser: Any) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(browser.run("document.getElementById('csv').value")))


def by_text(label: str) -> str:
    return ITEMS["id"][ITEMS["text"] == label].item()


def test_twenty_answers_by_keyboard_closed_and_resumed(
    browser: Any, made: Callable[..., Path], artefacts: Path
) -> None:
    place = made(seed=3)
    begin(browser, place, "Ann Ä.")
    want = {}
    for number in range(1, 9):
        assert text(browser, "place") == f"Question {number} of 20"
        assert browser.run("document.activeElement.id") == "question"
        left, right = map(by_text, shown(browser))
        key, winner = [("ArrowLeft", left), ("ArrowRight", right), ("t", "tie")][number % 3]
        want[frozenset((left, right))] = winner
        press(browser, key)
    browser.screenshot(artefacts / "ask.png")
    press(browser, "u")  # the eighth is asked again, and answered otherwise
    left, right = map(by_text, shown(browser))
    want[frozenset((left, right))] = right
    press(browser, "ArrowRight")
    press(browser, "s")
    assert text(browser, "place") == "Question 10 of 20"
    browser.call("Page.navigate", url="about:blank")
    begin(browser, place, "")
    assert text(browser, "place") == "Question 10 of 20"
    for _ in range(11):
        left, right = map(by_text, shown(browser))
        want[frozenset((left, right))] = left
        press(browser, "ArrowLeft")
    assert text(browser, "left") == "1 question has no answer."
    assert browser.run("document.getElementById('save').download") == "answers-Ann-Ä.csv"
    assert len(read(browser)) == 19
    browser.run("document.getElementById('again').click()")
    left, right = map(by_text, shown(browser))
    want[frozenset((left, right))] = "tie"
    press(browser, "t")
    found = read(browser)
    assert set(found["person"]) == {"Ann Ä."}
    assert list(found.columns) == ["person", "first", "second", "winner"]
    got = {frozenset((row["first"], row["second"])): row.get(row["winner"], "tie") for row in found.to_dict("records")}
    assert got == want
    assert browser.run("window.hit") is None
    assert browser.errors == []
    assert [one for one in browser.requests if not one.startswith(("file:", "blob:", "about:"))] == []


def test_sides_and_order_are_each_persons_own(browser: Any, made: Callable[..., Path]) -> None:
    place = made()
    seen = []
    for name in ("ann", "bob"):
        opened(browser, place)
        browser.run(f"document.getElementById('person').value = '{name}'")
        browser.run("document.querySelector('form button').click()")
        for _ in range(20):
            press(browser, "ArrowLeft")
        seen.append(read(browser))
    one, two = seen
    swapped = (one["first"] != two["first"]).sum()
    assert 3 < swapped < 17
    shown_first = (one["first"].to_numpy() == PAIRS["first"].to_numpy()).sum()
    assert 3 < shown_first < 17


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_people_out(
    browser: Any, axe: str, made: Callable[..., Path], artefacts: Path, width: int, dark: bool
) -> None:
    opened(browser, made(PAIRS[:2]), width=width, dark=dark)
    assert faults(browser, axe) == []
    begin(browser, made(PAIRS[:2], "other.html", seed=2 * width + dark), "ann", width=width, dark=dark)
    assert faults(browser, axe) == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.screenshot(artefacts / f"ask-{width}-{'dark' if dark else 'light'}.png")
    press(browser, "ArrowLeft")
    press(browser, "ArrowLeft")
    assert faults(browser, axe) == []


def test_scores_and_labels_are_asked_too(browser: Any, made: Callable[..., Path]) -> None:
    asked = pd.DataFrame({"item": NAMES[:3], "score": "", "criterion": "<i>clear</i>"})
    begin(browser, made(asked), "ann")
    assert text(browser, "question") == "How good is this text? By: <i>clear</i>"
    for key in "251":
        press(browser, key)
    found = read(browser)
    assert sorted(found["score"]) == [1, 2, 5]
    assert set(found["criterion"]) == {"<i>clear</i>"}
    asked = pd.DataFrame({"item": NAMES[:2], "label": ""})
    begin(browser, made(asked, "labels.html", levels=["yes", "no"]), "ann")
    for key in "12":
        press(browser, key)
    assert sorted(read(browser)["label"]) == ["no", "yes"]


def test_names_and_worth_of_answers_are_not_shown() -> None:
    text = page_text(read_questions(PAIRS, ITEMS))
    assert "0.7" not in text
    assert text.count("<script") == 2
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert [one["text"] for one in data["items"]] == ITEMS["text"].tolist()


def test_the_command_and_what_it_refuses(tmp_path: Path) -> None:
    PAIRS.to_csv(tmp_path / "ask.csv", index=False)
    ITEMS.to_csv(tmp_path / "items.csv", index=False)
    words = ["ask", str(tmp_path / "ask.csv"), "--items", str(tmp_path / "items.csv")]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "a.html"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"page": str(tmp_path / "a.html")}
    assert CliRunner().invoke(app, [*words, "--out", str(tmp_path / "a.html")]).exit_code == 1
    for questions, said in (
        (PAIRS.assign(first="item-9"), "first 'item-9' is not among the items; did you mean"),
        (PAIRS.assign(winner="tie"), "every row has an answer already"),
        (PAIRS.assign(second=PAIRS["first"]), "an item is compared with itself"),
        (pd.DataFrame({"item": NAMES}), "name the columns first and second"),
        (pd.DataFrame({"item": NAMES, "label": ""}), "say which labels there are"),
    ):
        with pytest.raises(InputError, match=said):
            read_questions(questions, ITEMS)
    with pytest.raises(InputError, match="level 'good' of a score is no number"):
        read_questions(pd.DataFrame({"item": NAMES, "score": ""}), ITEMS, ["good", "bad"])
    assert read_questions(PAIRS, ITEMS.rename(columns={"id": "item"})) == read_questions(PAIRS, ITEMS)
    part = PAIRS.assign(winner=["tie", *[""] * 19])
    with pytest.warns(UserWarning, match="1 questions have an answer already"):
        assert len(read_questions(part, ITEMS).rows) == 19


@pytest.mark.slow
@pytest.mark.parametrize("mode", [None, "joint", "cut"])
def test_people_who_disagree_go_into_one_fit(tmp_path: Path, mode: str | None) -> None:
    rows = [
        {
            "judge": judge,
            "first": NAMES[a],
            "second": NAMES[b],
            "winner": "first" if (a < b) == (judge != "bad") else "second",
        }
        for judge in ("good", "fair", "bad")
        for a in range(7)
        for b in range(7)
        if a != b
    ]
    votes = pd.DataFrame(rows)
    people = []
    for name, flipped in (("ann", ()), ("bob", (0, 3))):
        answers = PAIRS[["first", "second"]].assign(person=name)
        better = answers[["first", "second"]].min(axis=1)
        answers["winner"] = [
            low if at not in flipped else ({*answers.loc[at, ["first", "second"]]} - {low}).pop()
            for at, low in enumerate(better)
        ]
        answers.to_csv(tmp_path / f"answers-{name}.csv", index=False)
        people.append(tmp_path / f"answers-{name}.csv")
    fit = voirdire.fit(votes, anchors=people, anchor_mode=mode, model="crowd-bt")
    assert fit.kind.has_anchors(fit.problem)
    judges = fit.judges().set_index("judge")["reliability"]
    assert judges["good"] > 0.8 > 0.5 > judges["bad"]
    votes.to_csv(tmp_path / "votes.csv", index=False)
    words = [word for path in people for word in ("--anchors", str(path))]
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "votes.csv"), *words, "--method", "map", "--json"])
    assert done.exit_code == 0, done.output
    whole = pd.concat([pd.read_csv(path) for path in people]).drop(columns="person")
    with pytest.raises(InputError, match="is answered both ways"):
        voirdire.fit(votes, anchors=whole)


def test_labels_and_scores_of_several_people(tmp_path: Path) -> None:
    from voirdire.tables.people import as_anchors

    one = pd.DataFrame({"item": ["x", "y"], "score": [1, 4]})
    one.to_csv(tmp_path / "answers-ann.csv", index=False)
    one.assign(score=[3, 4]).to_csv(tmp_path / "answers-bob.csv", index=False)
    found: Any = as_anchors([tmp_path / "answers-ann.csv", tmp_path / "answers-bob.csv"])
    assert list(found["score"].astype(int)) == [1, 4, 3, 4]
    scores = pd.DataFrame({"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "score": [1, 4, 2, 3]})
    for score, message in (("good", "anchors: row 2: score 'good' is not a number"), (None, "row 2: score is empty")):
        with pytest.raises(InputError, match=message):
            voirdire.fit(scores, anchors=one.assign(person="ann", score=[1, score]))
    with pytest.raises(InputError, match="'answers-ann' answers 'x' twice"):
        as_anchors([tmp_path / "answers-ann.csv"] * 2)
    with (
        pytest.warns(UserWarning, match="disagree about 1 item;"),
        pytest.raises(InputError, match="people agree about no item"),
    ):
        as_anchors([pd.DataFrame({"person": p, "item": ["x"], "label": [p]}) for p in ("a", "b")])
