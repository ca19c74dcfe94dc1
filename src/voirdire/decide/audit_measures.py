"""Measures of each judge with what they mean, and which of them are found to be a bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.decide.answer_rows import CONFIDENCE
from voirdire.decide.audit_answers import Answers
from voirdire.decide.audit_drift import (
    accuracy_over_time,
    excess_order_change,
    find_repeats,
    order_effects,
    others_repeat_disagreement,
    repeat_disagreement,
)
from voirdire.decide.audit_effects import (
    FEWEST,
    Effect,
    judge_effects,
    mean_effect,
    noise_ratios,
    outfit_statistics,
    truth_for,
)
from voirdire.decide.audit_information import Found, information_rows
from voirdire.decide.verdicts import ALARM, SMALL, alarm_interval, bias_direction
from voirdire.typing import Floats

OF_DRIFT = 0.015  # chance that drift is: a slow one is harder to find than any other bias
DRIFT = "drift"
FLIPS = 0.1  # share of repeats that may differ
NOISE = 0.3  # of mean square beyond the others' that matters


@dataclass(frozen=True)
class _Seen:
    """An effect that is looked at: what it says where it is found and where it is not, and what does not matter.

    Where ``usual`` is known, the effect that other judges have in the same questions, it is found beyond that alone.
    """

    measure: str
    effect: Effect
    more: str
    less: str
    none: float = 0.0
    matters: float = 0.0
    two_sided: bool = True
    usual: Effect | None = None
    is_ratio: bool = False

    def describe_size(self) -> str:
        """The effect's value in words: a difference with its sign, a ratio as how many times as much."""
        value = self.effect.value
        return f"{value:.2g} times as much" if self.is_ratio else f"{value:+.2g}"


def judge_measures(table: Any, answers: Answers, prob: float, needs: dict[str, str]) -> list[list[Found]]:
    """Measures of every judge of a table; what further ones would take is added to ``needs``.

    Those that are tested have the interval by which they are, wider than ``prob`` asks.
    """
    reach = (
        float(np.nanmax(answers.value) - np.nanmin(answers.value))
        if (~np.isnan(answers.value)).any()
        else 1.0
    )
    seen: list[list[_Seen]] = [[] for _ in answers.judges]

    def add_measure(
        measure: str, effects: list[Effect | None], need: str, more: str, less: str, **how: Any
    ) -> None:
        usual = how.pop("usual", None)
        for place, effect in enumerate(effects):
            if effect is not None:
                own = {} if usual is None else {"usual": usual[place]}
                seen[place].append(_Seen(measure, effect, more, less, **how, **own))
        if all(effect is None for effect in effects):
            needs[measure] = need

    judges = range(len(answers.judges))
    same = f"to the same items ({FEWEST} at the least)"
    compared = f"people's answers, or other judges', {same}"
    small = SMALL * reach
    orders = [order_effects(answers, judge) for judge in judges]
    repeats = find_repeats(answers)
    again = [repeat_disagreement(repeats, judge) for judge in judges]
    if answers.side is not None:
        beside = judge_effects(answers, answers.side, small, intercept=False)
        position = [
            _choose_position_effect(answers, judge, both[0], other)
            for judge, (both, other) in enumerate(zip(orders, beside, strict=True))
        ]
        add_measure(
            "position",
            position,
            compared,
            "picks what is shown first more often",
            "picks what is shown second more often",
            matters=small,
        )
        add_measure(
            "swap",
            [
                excess_order_change(both[1], same_order)
                for both, same_order in zip(orders, again, strict=True)
            ],
            "pairs that a judge sees in both orders, and some of them again in the same order",
            "changes its answer with the order",
            "",
            none=FLIPS,
            two_sided=False,
        )
    else:
        needs["position"] = "votes on pairs whose order shown is known"
    if not answers.paired:
        add_measure(
            "severity",
            judge_effects(answers, _other_family_mask(answers), small, intercept=False),
            compared + " (and --positive, of classes)",
            "is more lenient",
            "is more severe",
            matters=small,
        )
    for name, numbers in answers.numbers.items():
        if name != CONFIDENCE:
            spread = np.sqrt(np.nanmean(numbers**2)) if answers.paired else np.nanstd(numbers)
            scaled = numbers / (spread or 1.0)
            add_measure(
                name,
                judge_effects(answers, scaled, small, intercept=not answers.paired),
                compared,
                f"favours more {name}",
                f"favours less {name}",
                matters=small,
            )
    if not any(name != CONFIDENCE for name in answers.numbers):
        needs["length"] = "a column length (of votes length_first, length_second), or --covariates NAMES"
    if answers.own is None:
        needs["own family"] = "families of judges and of items (--families, --item-families)"
    else:
        own = judge_effects(answers, answers.own, small, intercept=not answers.paired, centred=False)
        add_measure(
            "own family", own, compared, "favours its own family", "disfavours its own family", matters=small
        )
    add_measure(
        "flips",
        again,
        "repeated answers to the same items (a column run)",
        "answers otherwise when asked again, more than the questions explain",
        "",
        none=FLIPS,
        usual=[others_repeat_disagreement(answers, repeats, judge) for judge in judges],
        two_sided=False,
    )
    later = (
        ("is right more often", "is right less often")
        if answers.paired
        else ("is more lenient", "is more severe")
    )
    add_measure(
        DRIFT,
        _drift_effects(answers, table, small),
        "a column time, and " + compared,
        *(f"{one} as time goes on" for one in later),
        matters=small,
    )
    add_measure(
        "noise",
        noise_ratios(answers),
        f"other judges' answers {same}",
        "errs more than the other judges",
        "",
        none=1.0,
        matters=NOISE,
        two_sided=False,
        is_ratio=True,
    )
    add_measure(
        CONFIDENCE,
        _confidence_effects(answers),
        f"a column {CONFIDENCE}",
        "is more confident than it is right",
        "is less confident than it is right",
        matters=SMALL,
    )
    unsure = [
        [] if both[1] is None or same_order is not None else [_swap_measure(both[1], prob)]
        for both, same_order in zip(orders, again, strict=True)
    ]
    if "swap" in needs and any(unsure):  # its share is shown; what is not known is how much of it is noise
        needs["swap beyond noise"] = needs.pop("swap")
    outfits = outfit_statistics(answers)
    return [
        [*_test_effects(mine), *unsure[place], *information_rows(answers, place, outfits[place], prob)]
        for place, mine in enumerate(seen)
    ]


def _swap_measure(share: Effect, prob: float) -> Found:
    """The share of answers that change with the order where a judge was not asked again in the same order."""
    low, high = share.interval(prob)
    note = (
        "share of answers that change with the order, whether by the order or by noise, which answers repeated in the "
        "same order would tell; position is what the order does one way"
    )
    return Found("swap", share.value, max(low, 0.0), min(high, 1.0), share.units, None, note)


def _choose_position_effect(
    answers: Answers, judge: int, own: Effect | None, beside: Effect | None
) -> Effect | None:
    """A judge's position bias by its own pairs in both orders, where most of its pairs are; else beside other judges.

    Its own are compared with nobody, so that no bias of the others is taken for its.
    """
    if own is None or beside is None:
        return own or beside
    units = len(np.unique(answers.unit[answers.judge == judge]))
    return own if 2 * own.units >= units else beside


def _other_family_mask(answers: Answers) -> Floats | None:
    """1 of items that are not of the judge's family, else NaN: what it favours is no lenience."""
    return None if answers.own is None else np.where(answers.own == 0, 1.0, np.nan)


def _is_unusual(one: _Seen, prob: float) -> bool:
    """True where an effect is clearly above what is usual, or that is not known."""
    if one.usual is None:
        return True
    units = min(one.effect.units, one.usual.units)
    beyond = Effect(
        one.effect.value - one.usual.value, float(np.hypot(one.effect.error, one.usual.error)), units
    )
    return beyond.interval(prob)[0] > 0.0


def _test_effects(mine: list[_Seen]) -> list[Found]:
    """Effects with the intervals by which they are tested together."""
    rows, others = [], sum(one.measure != DRIFT for one in mine)
    for one in mine:
        alarm = OF_DRIFT if one.measure == DRIFT else ALARM / others
        tested = alarm_interval(alarm, 2 if one.two_sided else 1)
        low, high = one.effect.interval(tested)
        direction = bias_direction(
            one.effect.value, low, high, none=one.none, matters=one.matters, two_sided=one.two_sided
        )
        above, below = direction > 0 and _is_unusual(one, tested), direction < 0
        value = one.effect.value
        beside = "" if one.usual is None else f", {one.usual.value:.2g} of other judges in the same questions"
        note = (
            f"{one.more} ({one.describe_size()}{beside})"
            if above
            else f"{one.less} ({one.describe_size()})"
            if below
            else f"no bias found; above {one.none:g} it {one.more}{beside and ': ' + beside[2:]}"
        )
        rows.append(Found(one.measure, value, low, high, one.effect.units, above or below, note))
    return rows


def _drift_effects(answers: Answers, table: Any, matters: float) -> list[Effect | None]:
    if answers.time is None:
        return [None] * len(answers.judges)
    order = np.zeros(len(answers.time))
    for judge in range(len(answers.judges)):
        rows = answers.judge == judge
        rank = np.argsort(np.argsort(answers.time[rows], kind="stable"), kind="stable").astype(float)
        order[rows] = 2 * rank / max(len(rank) - 1, 1) - 1  # from -1, the first, to 1
    if answers.paired:  # leniency says nothing of pairs: what drifts is how right a judge is
        return accuracy_over_time(table, answers, order, matters)
    return judge_effects(answers, order, matters, intercept=True)


def _confidence_effects(answers: Answers) -> list[Effect | None]:
    if CONFIDENCE not in answers.numbers:
        return [None] * len(answers.judges)
    stated = answers.numbers[CONFIDENCE]
    stated = stated / 100 if np.nanmax(stated) > 1 else stated
    found: list[Effect | None] = []
    for judge in range(len(answers.judges)):
        truth = truth_for(answers, judge)
        if truth is None:
            found.append(None)
            continue
        rows, true, _ = truth
        known = ~np.isnan(stated[rows])
        right = (answers.said[rows] == true).astype(float)
        found.append(mean_effect((stated[rows] - right)[known], answers.unit[rows][known]))
    return found
