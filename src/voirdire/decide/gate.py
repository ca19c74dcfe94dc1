"""Gate of a release: a test for a worse new version, with pass, fail or inconclusive valid at every look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.agreement.replace.estimate import read_people
from voirdire.decide.gate_answers import prediction_powered_verdict, read_differences
from voirdire.decide.gate_pairs import Differences, Versions
from voirdire.decide.gate_verdicts import FAIL, INCONCLUSIVE, JUDGES, PASS, PEOPLE, POWERED, anytime_verdict
from voirdire.errors import InputError, raise_problems
from voirdire.settings import LIST, PROB, is_number, share_problems, suggest_words
from voirdire.tables.people import join_people_answers, split_people
from voirdire.tables.ratings import known_names

if TYPE_CHECKING:
    import pandas as pd

ITEMS = 400  # default number of planned items
ORDERS = ("table", "random")
RULE = (
    "Pass where the lower bound of new less old is above minus the margin, fail where the upper bound is below it, "
    "else inconclusive. Each bound is wrong with probability {alpha:.2g} at most, over all looks together."
)
LOSS_RULE = (
    "Pass where shipping the new version costs at most the loss on average (normal approximation, flat prior), fail "
    "where only keeping the old one does, else inconclusive. This is not valid at every look: decide once."
)
SHARED = "a mistake that judges share, such as liking a version's style, is not seen without people (--humans)"


def gate(
    new: object,
    old: object = None,
    *,
    versions: tuple[str | None, str | None] = (None, None),
    humans: object = None,
    people: Sequence[str] | str = (),
    margin: float = 0.0,
    loss: float | None = None,
    items: int = ITEMS,
    order: Literal["table", "random"] = "table",
    seed: int = 0,
    positive: object = None,
    levels: Sequence[object] | None = None,
    prob: float = PROB,
) -> dict[str, Any]:
    """Decide whether a new version is worse than the old one: pass, fail or inconclusive.

    Parameters
    ----------
    new : path, dataframe, Scores or Labels
        Judges' answers about the new version; or one table about both, with a column ``system``, or votes.
    old : path, dataframe, Scores or Labels, optional
        Judges' answers about the old version, by the same judges to the same items.
    versions : (str, str), optional
        Names of the new and of the old version in a table of both.
    humans : path or dataframe, or a list of them
        People's answers to a random sample of the items, as one table about both versions.
    people : sequence of str, optional
        Judges of the tables who are people.
    margin : float
        How much worse the new version may be, in the unit of answers; 0 or more.
    loss : float, optional
        Replaces bounds: largest acceptable expected loss of the new version, over the uncertainty (`LOSS_RULE`).
    items : int
        Planned number of items. Bounds are narrowest there, and valid at any number. Keep it the same at all looks.
    order : "table" or "random"
        Order of the items: as in the table, with new items at its end (or by its column ``time``), for any number of
        looks; or random, for one look at a finished table, which decides more often.
    seed : int
        Seed of the random order.
        Of the lot.
        The good label, by default the one whose word is known to be good.
        The label that is good, by default the one that is known by its word.
    levels : sequence, optional
        The ends of the scale of scores; or labels that are grades, lowest first.
    prob : float
        Coverage of the interval: each bound is wrong at any look with probability (1 - prob) / 2.

    Returns
    -------
    dict
        verdict; difference of means (new minus old), low, high; paired; n (units: contexts, else items); needed (total
        units, of ``humans`` their answers, until it is decided if the difference stays as it is; None for
        never); new, old (names), unit, what, scale, judges, humans, estimator ("judges", "people" or
        "prediction-powered"), margin, loss, expected_loss of shipping new and of keeping old, prob, items, order,
        seed, rule, note.

    Raises
    ------
    InputError
        A table or an argument is wrong; the versions have no item, or no judge, in common.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.DataFrame({"judge": "gpt", "item": range(200), "label": ["pass", "fail"] * 100})
    >>> new = old.assign(label=["pass", "pass", "pass", "fail"] * 50)
    >>> found = gate(new, old)
    >>> found["verdict"], found["difference"], round(found["low"], 2), found["n"]
    ('pass', 0.25, 0.18, 200)
    """
    _check_request(margin, loss, items, order, prob)
    if not LIST.holds(versions) or len(versions) != 2:
        raise InputError(f"versions {versions!r} are not two; write versions=('new', 'old')")
    alpha = (1 - prob) / 2
    tables, people_rows, levels = split_people([new] if old is None else [new, old], people, levels)
    judged = read_differences(
        tables[0], None if old is None else tables[1], Versions(*versions), positive=positive, levels=levels
    )
    random_order = order == "random"
    if random_order:
        rng = np.random.default_rng(seed)
        judged = judged.in_order(rng.permutation(len(judged.units)))
    people_answers = join_people_answers(
        humans, people_rows if old is None else _add_version_column(people_rows, judged.versions)
    )
    people_differences = (
        None if people_answers is None else _people_differences(people_answers, judged, positive, levels)
    )
    notes = list(judged.notes)
    bets_verdict = partial(anytime_verdict, margin=margin, alpha=alpha, planned=items, random_order=random_order)
    if people_differences is None:
        outcome = bets_verdict(judged, estimator=JUDGES)
        notes.append(SHARED)
    else:
        all_answered = {*people_differences.units} >= {*judged.units}
        if all_answered:
            outcome = bets_verdict(people_differences, estimator=PEOPLE)
        else:
            outcome = prediction_powered_verdict(judged, people_differences, margin, alpha)
        notes += [f"of people: {note}" for note in people_differences.notes]
    notes += outcome.notes
    outcome, expected = (outcome, None) if loss is None else outcome.verdict_by_loss(loss)
    shown = judged if people_differences is None else people_differences
    return {
        "verdict": outcome.verdict,
        "difference": outcome.value,
        "low": outcome.low,
        "high": outcome.high,
        "paired": True,
        "n": outcome.n,
        "needed": outcome.needed,
        "new": judged.versions.new,
        "old": judged.versions.old,
        "unit": judged.unit,
        "what": shown.compared,
        "scale": list(shown.scale),
        "judges": list(judged.judges),
        "humans": 0 if people_differences is None else len(people_differences.units),
        "estimator": outcome.estimator,
        "margin": margin,
        "loss": loss,
        "expected_loss": None if expected is None else expected._asdict(),
        "prob": prob,
        "items": items,
        "order": order,
        "seed": seed,
        "rule": RULE.format(alpha=alpha) if loss is None else LOSS_RULE,
        "note": "; ".join(notes),
    }


def verdict_sentence(result: dict[str, Any], name: Callable[[str], str] = str) -> str:
    """Write the verdict in one or two sentences; ``name`` formats a name.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.DataFrame({"judge": "gpt", "item": range(40), "label": ["pass", "fail"] * 20})
    >>> print(verdict_sentence(gate(old.assign(label=["pass", "pass", "fail", "fail"] * 10), old)))
    Inconclusive: new may be worse than old or not (+0.000, 90% interval -0.350 to +0.388).
    """
    new, old, verdict, margin = name(result["new"]), name(result["old"]), result["verdict"], result["margin"]
    interval = f"{100 * result['prob']:g}% interval {result['low']:+.3f} to {result['high']:+.3f}"
    interval = f"({result['difference']:+.3f}, {interval})"
    if result["loss"] is not None:
        return f"{verdict.capitalize()}: {_loss_sentence(result, new, old)} {interval}.{_more_answers_sentence(result)}"
    margin_text = f" by more than {margin:g}" if margin else ""
    if verdict == PASS:
        sentence = f"{new} is not worse than {old}{margin_text}" if margin else f"{new} is better than {old}"
    elif verdict == FAIL:
        sentence = f"{new} is worse than {old}{margin_text}"
    else:
        sentence = f"{new} may be worse than {old}{margin_text}{',' if margin else ''} or not"
    return f"{verdict.capitalize()}: {sentence} {interval}.{_more_answers_sentence(result)}"


def _loss_sentence(result: dict[str, Any], new: str, old: str) -> str:
    expected, loss = result["expected_loss"], result["loss"]
    if expected is None:
        return f"what shipping {new} costs is not known"
    # costs below a thousandth of the allowed loss or of the other cost do not affect the decision
    min_cost = 1e-3 * max(loss, *expected.values())
    new_cost, old_cost = (
        f"{cost:.2g}" if (cost := expected[name]) > min_cost else "next to nothing" for name in ("new", "old")
    )
    new_cost = f"shipping {new} costs {new_cost} on average against {old}"
    if result["verdict"] == PASS:
        return f"{new_cost}, at most the {loss:g} that it may"
    if result["verdict"] == FAIL:
        return f"{new_cost}, more than the {loss:g} that it may, and keeping {old} {old_cost}"
    return f"{new_cost} and keeping {old} {old_cost}, both more than {loss:g}"


def _more_answers_sentence(result: dict[str, Any]) -> str:
    """Number of further answers that decide an open verdict, as a sentence."""
    powered = result["estimator"] == POWERED
    count, unit = (result["humans"], "human answers") if powered else (result["n"], f"{result['unit']}s")
    if result["verdict"] != INCONCLUSIVE or result["needed"] is None or result["needed"] <= count:
        return ""
    return f" About {result['needed'] - count:,} more {unit} decide it if the difference stays as it seems."


def _check_request(margin: float, loss: float | None, items: int, order: str, prob: float) -> None:
    if not (is_number(margin) and margin >= 0):
        raise InputError(
            f"margin {margin!r} is not 0 or more; 0.05 lets the new version be worse by 0.05, in the unit of answers"
        )
    if loss is not None and not (is_number(loss) and loss > 0):
        raise InputError(
            f"loss {loss!r} is not above 0; 0.01 lets shipping cost 0.01 on average, in the unit of answers"
        )
    if loss is not None and margin:
        raise InputError("margin and loss are two rules; give one of them")
    if not (is_number(items) and items >= 1 and items == int(items)):
        raise InputError(f"items {items!r} is no count; give how many items are planned, such as {ITEMS}")
    if order not in ORDERS:
        raise InputError(f"order {order!r} is unknown; {suggest_words(order, ORDERS)}")
    raise_problems(share_problems(prob=(prob, PROB)))


def _add_version_column(people_tables: Sequence[pd.DataFrame], versions: Versions) -> list[pd.DataFrame]:
    """Add the name of the version to people's answers in each of two tables."""
    return [frame.assign(system=name) for frame, name in zip(people_tables, (versions.new, versions.old), strict=False)]


def _people_differences(
    people_answers: object, judged: Differences, positive: object, levels: Sequence[object] | None
) -> Differences:
    """Differences between the versions in people's answers."""
    frame, probabilities = read_people(people_answers)
    if probabilities is not None and len({*probabilities.by_unit.values()}) > 1:
        raise InputError(
            "humans: the column 'probability' says that items were not as likely to be asked, which a gate does not "
            "weigh; take a random sample, or leave the column out"
        )
    names = judged.versions
    if "winner" not in frame and "system" not in frame:
        raise InputError(
            f"humans: there is no column 'system' that says which version each answer is about, {names.new!r} or "
            f"{names.old!r}; add it"
        )
    column = ["first", "second"] if "winner" in frame else ["system"]
    about = sorted({str(name) for column_name in column if column_name in frame for name in frame[column_name]})
    if about and not {names.new, names.old} <= {*about}:
        raise InputError(
            f"humans: they are about {known_names(about)}, and the versions are {names.new!r} and {names.old!r}; name "
            "both alike (--new and --old name the versions of two tables)"
        )
    differences = read_differences(
        frame, None, names, positive=positive, levels=levels, name="humans", scale_from=judged
    )
    if differences.unit != judged.unit:
        raise InputError(
            f"humans: they answer by {differences.unit} and judges by {judged.unit}; give both tables the column "
            f"{judged.unit!r}"
        )
    place, judged_units = {name: index for index, name in enumerate(differences.units)}, {*judged.units}
    if unknown := [name for name in differences.units if name not in judged_units]:
        raise InputError(
            f"people answered {len(unknown):,} {judged.unit}s that judges did not answer in both versions, such as "
            f"{unknown[0]!r}; leave them out, name {judged.unit}s as in the judges' table, or have judges answer them"
        )
    return differences.in_order([place[unit] for unit in judged.units if unit in place])
