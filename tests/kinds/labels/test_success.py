"""Which class counts as a success: known words, the one that is named, and refusals with their remedy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import load
from voirdire.cli import app
from voirdire.errors import InputError
from voirdire.fit import verb
from voirdire.fit.store import save
from voirdire.infer import hmc_cost
from voirdire.kinds.labels.success import NEUTRAL_WORDS, SHORT_WORDS, SUCCESS_WORDS, known_success

pytestmark = pytest.mark.usefixtures("unmoved")
RIGHT = [0.25, 0.4, 0.55, 0.75, 0.95]  # of the systems s0 to s4


@pytest.fixture
def unmoved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of the Laplace approximation as they are: who is first can be told from them, in a tenth of the time."""
    monkeypatch.setattr(hmc_cost, "MAX_MIXTURE_WORK", 0)


def answered(good: str, bad: str, *others: str, seed: int = 0) -> pd.DataFrame:
    """Three judges, mostly right, on the answers of five systems to 30 questions; some cannot tell."""
    rng = np.random.default_rng(seed)
    s, x, k = (part.ravel() for part in np.indices((5, 30, 3)))
    truth = rng.random((5, 30)) < np.array(RIGHT)[:, None]
    said = truth[s, x] == (rng.random(len(s)) < 0.92)
    label = np.where(said, good, bad).astype(object)
    for other in others:
        label[rng.random(len(s)) < 0.06] = other
    names = {"judge": k, "context": x, "system": s}
    table = pd.DataFrame({name: [f"{name[0]}{one}" for one in code] for name, code in names.items()})
    return table.assign(label=label)


def board(table: pd.DataFrame, **how: Any) -> dict[str, Any]:
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace", **how)
    found: dict[str, Any] = fit.board()
    return found


def order(found: dict[str, Any]) -> list[str]:
    return [row["item"] for row in found["items"]]


BEST_FIRST = ["s4", "s3", "s2", "s1", "s0"]


@pytest.mark.parametrize(
    ("good", "bad", "others"),
    [
        ("right", "wrong", ()),
        pytest.param("correct", "incorrect", (), marks=pytest.mark.slow),
        pytest.param("pass", "fail", (), marks=pytest.mark.slow),
        pytest.param("C", "I", (), marks=pytest.mark.slow),
        pytest.param("Yes", "No", ("Unsure",), marks=pytest.mark.slow),
        ("1", "0", ()),
        pytest.param("right", "made up", (), marks=pytest.mark.slow),
    ],
)
def test_the_best_is_first_whatever_the_words(good: str, bad: str, others: tuple[str, ...]) -> None:
    found = board(answered(good, bad, *others))
    assert order(found)[0] == "s4"
    assert order(found)[-1] == "s0"
    assert found["items"][0]["score"] > 0.75
    other = "CLASS" if others else shlex.quote(bad)
    assert (
        f"Success is taken to be {good!r}, so that more of it is better; --positive {other} says otherwise."
        in found["notes"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("good", "bad"), [("ham", "spam"), ("2", "1")])
def test_unknown_words_are_refused_and_named_ones_taken(good: str, bad: str) -> None:
    table = answered(good, bad)
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace")
    assert not any("Success" in note for note in fit.notes)
    assert "score" not in fit.systems()
    assert "sensitivity" not in fit.judges()
    first, second = sorted((good, bad))
    with pytest.raises(InputError, match=rf"--positive {first} or --positive {second} \(in Python positive="):
        fit.board()
    assert order(fit.board(positive=good)) == order(board(table, positive=good))
    assert order(fit.board(positive=good))[0] == "s4"
    assert fit.systems(positive=bad)["system"].iloc[0] == "s0"
    with pytest.raises(InputError, match="positive 'Ham' is no class"):
        fit.board(positive="Ham")


@pytest.mark.slow
def test_a_word_can_be_overruled(tmp_path: Path) -> None:
    """Is the answer toxic? Yes is no success, which only the question says."""
    table = answered("no", "yes")
    found = board(table, positive="no")
    assert order(found)[0] == "s4"
    assert not any("Success" in note for note in found["notes"])
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="laplace", positive="no")
    save(fit, tmp_path / "run")
    again = load(tmp_path / "run")
    pd.testing.assert_frame_equal(again.systems(), fit.systems())
    pd.testing.assert_frame_equal(again.judges(), fit.judges())
    more = fit.update(answered("no", "yes", seed=1).assign(context=lambda t: "new " + t["context"]))
    assert more.problem.positive == "no"


def test_sensitivity_is_of_the_success() -> None:
    """The same answers in other words have the same sensitivity."""
    table = answered("right", "wrong")
    words = table.assign(label=table["label"].map({"right": "a good one", "wrong": "b"}))
    columns = ["sensitivity", "specificity"]
    fits = [
        voirdire.fit(table, method="map"),
        voirdire.fit(words, method="map", positive="a good one"),
        voirdire.fit(words, method="map", positive="b"),
    ]
    right, first, turned = (fit.judges().sort_values("judge")[columns].to_numpy(float) for fit in fits)
    np.testing.assert_allclose(right, first, atol=1e-6)
    np.testing.assert_allclose(right, turned[:, ::-1], atol=1e-6)


@pytest.mark.parametrize(
    "classes",
    [
        ("good", "excellent"), ("pass", "distinction"), ("relevant", "highly relevant"), ("ok", "great"),
        ("accept", "strong accept"), ("yes", "definitely yes"), ("safe", "harmless"), ("helpful", "very helpful"),
    ],
)  # fmt: skip
def test_a_word_is_not_known_where_the_other_label_may_be_better(classes: tuple[str, str]) -> None:
    assert known_success(classes) is None
    assert known_success(classes[::-1]) is None


@pytest.mark.parametrize(
    ("classes", "success"),
    [
        (("helpful", "Not_helpful"), "helpful"),
        (("no pass", "pass"), "pass"),
        (("grounded", "ungrounded"), None),
        (("hallucinated", "correct"), "correct"),
        (("acceptable", "not acceptable", "unsure"), "acceptable"),
    ],
)
def test_a_word_is_known_beside_its_negation(classes: tuple[str, ...], success: str | None) -> None:
    assert known_success(classes) == success


def test_the_remedy_can_be_typed_where_a_label_holds_blanks() -> None:
    with pytest.raises(InputError, match="--positive 'not toxic' or --positive toxic "):
        voirdire.fit(answered("not toxic", "toxic"), method="map").board()


@pytest.mark.parametrize("word", [*SUCCESS_WORDS, *SHORT_WORDS])
def test_every_word_is_told_from_its_failures(word: str) -> None:
    for failure in (SUCCESS_WORDS | SHORT_WORDS)[word]:
        for one, other in ((word, failure), (word.upper(), failure.capitalize()), (word, failure.replace(" ", "_"))):
            assert known_success(sorted((one, other))) == one
        for neither in NEUTRAL_WORDS:
            assert known_success([failure, neither, word]) == word
        assert known_success([failure, "something else", word]) is None
        assert known_success([failure, failure + "?"]) is None


@pytest.mark.parametrize(
    "classes",
    [("1", "2"), ("0", "1", "2"), ("c", "d"), ("A", "B"), ("good", "correct"), ("toxic", "fine"), ("wrong", "false")],
)
def test_what_has_several_meanings_is_not_known(classes: tuple[str, ...]) -> None:
    assert known_success(classes) is None


def written(table: pd.DataFrame, folder: Path) -> str:
    table.to_csv(folder / "labels.csv", index=False)
    return str(folder / "labels.csv")


def test_a_board_says_what_it_needs_before_it_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fitted that would then be refused, and the message has the columns and the classes."""
    table, rng = answered("ham", "spam"), np.random.default_rng(1)
    kind = rng.integers(3, 6, (5, 30)).repeat(3)  # of the answer, in the order of the rows
    numbered = table.assign(label=np.where(rng.random(450) < 0.8, kind, rng.integers(3, 6, 450)))
    refused = {
        "the table has judge, item, label, and lacks context and system": table.assign(
            item=table["context"] + table["system"]
        ).drop(columns=["context", "system"]),
        "the table has judge, item, context, label, and lacks system": table.assign(item=table["system"]).drop(
            columns="system"
        ),
        "there is only the context 'c0'": table[table["context"] == "c0"],
        "--positive ham or --positive spam": table,
        "--levels 3,4,5": numbered,
    }
    with monkeypatch.context() as nothing_fitted:
        nothing_fitted.delattr(verb, "weigh_answers")
        for message, rows in refused.items():
            done = CliRunner().invoke(app, ["board", written(rows, tmp_path)])
            assert done.exit_code == 1
            assert message in " ".join(done.stderr.split())
    done = CliRunner().invoke(app, ["board", written(table, tmp_path), "--method", "map", "--positive", "ham"])
    assert done.exit_code == 1
    assert "a board needs draws" in done.stderr
    votes = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x", "y"]})
    done = CliRunner().invoke(app, ["board", written(votes, tmp_path), "--positive", "x"])
    assert "positive= is not for tables of votes" in done.stderr


def test_what_was_said_in_reading_is_kept(tmp_path: Path) -> None:
    path = written(answered("ham", "spam"), tmp_path)
    how = {"model": "hierarchical-dawid-skene", "method": "map"}
    assert voirdire.fit(voirdire.read(path, positive="spam"), **how).problem.positive == "spam"
    assert voirdire.fit(voirdire.read(path, positive="spam"), positive="ham", **how).problem.positive == "ham"


@pytest.mark.slow
def test_the_command_line_takes_the_class(tmp_path: Path) -> None:
    path = written(answered("ham", "spam"), tmp_path)
    how = ["--model", "hierarchical-dawid-skene", "--method", "laplace"]
    done = CliRunner().invoke(app, ["board", path, "--positive", "ham", *how])
    assert done.exit_code == 0, done.output
    assert "share of ham" in done.stdout
    done = CliRunner().invoke(app, ["fit", path, "--positive", "ham", *how])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["board", path, "--positive", "Ham", *how])
    assert "positive 'Ham' is no class; classes are 'ham', 'spam'; did you mean 'ham'?" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_numbers_are_ranked_where_they_are_grades() -> None:
    """Grades by their mean; classes that are numbers only by the share of one."""
    rng = np.random.default_rng(0)
    s, x, k = (part.ravel() for part in np.indices((4, 40, 4)))
    value = 0.8 * s + rng.normal(size=(4, 40))[s, x] + 0.4 * rng.normal(size=len(s))
    grade = np.clip(np.round(1.5 + value), 1, 5).astype(int)
    names = {"judge": k, "context": x, "system": s}
    table = pd.DataFrame({name: [f"{name[0]}{one}" for one in code] for name, code in names.items()})
    graded = table.assign(label=grade)
    assert order(board(graded, levels=[1, 2, 3, 4, 5])) == ["s3", "s2", "s1", "s0"]
    with pytest.raises(InputError, match="--levels 1,2,3,4,5"):
        board(graded)
    fives = board(graded, positive=5)
    assert order(fives)[0] == "s3"
    assert 0.0 < fives["items"][0]["score"] < 1.0
