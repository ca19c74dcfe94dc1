"""Use of people's answers (anchors), joint or cut: the method that best predicts left-out anchors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import Inferred, Method
from voirdire.infer.posterior import Mode
from voirdire.kinds.human import CUT, JOINT, MODES, PEOPLE_ALONE, Anchored, HumanAnswers, LeftOut
from voirdire.kinds.kind import Kind
from voirdire.kinds.request import Request
from voirdire.model.target_answers import TargetAnswers
from voirdire.tables.people import check_people_not_judges, people_names
from voirdire.typing import Floats

MAX_ITEMS = 600  # most items of people's answers that estimate the gap between panel and people
MIN_ANCHORS = 3  # fewest anchors for a comparison of methods
DEFAULT_LEAD_ERRORS = 2.0  # standard errors by which a method must predict better than the default
ALONE_LEAD_ERRORS = 1.0  # the same for people alone against the default, and for a method against people alone


def infer_with_human(
    human: HumanAnswers[Any], mode: Mode, requested_mode: str | None, method: Method
) -> tuple[Inferred, Anchored]:
    """Choose the use of people's answers, and find the posterior with it.

    Parameters
    ----------
    mode : Mode
        Mode of the joint posterior.
    requested_mode : "joint", "cut" or None
        The requested use. None chooses by left-out answers, if both are possible.

    Raises
    ------
    InputError
        For "cut" with NUTS, or where the answers give no information about judges.
    """
    human.check_requested_method(requested_mode, method.name)
    can_cut = human.can_cut and method.name != "nuts"
    chosen = requested_mode or JOINT
    over, methods = "", tuple[dict[str, Any], ...]()
    if human.compares(requested_mode, can_cut):
        left_out = human.left_out(requested_mode, mode.x)
        default = human.default if human.default in left_out else JOINT
        chosen, over, rows = compare_methods(left_out, default)
        used = {chosen: human.of_chosen} | ({human.says_items: "items"} if human.says_items else {})
        methods = tuple({**row, "used": used.get(row["method"], "")} for row in rows)
    cut = can_cut and chosen != JOINT
    source = human.people_only if chosen == PEOPLE_ALONE else human
    inferred = source.cut(method) if cut else infer_posterior(human.problem, mode, method)
    return inferred, Anchored(MODES[cut], chosen, methods, human.pairs(chosen, inferred.posterior), over)


def split_target_answers(
    kind: Kind[Any, Any], table: Any, request: Request
) -> tuple[TargetAnswers | None, object, list[str]]:
    """Split people's answers into those that estimate the gap between panel and people and those for the likelihood.

    Also return notes. If the request names the subject of results (``about`` or ``judges``) and no ``anchor_mode``, all
    answers estimate the gap and none enter the likelihood. Of more than ``MAX_ITEMS`` items, those with most answers
    are used, because each item needs a row of a matrix.

    Raises
    ------
    InputError
        If people's answers are not valid, or a person is a judge of the table, too.
    """
    subject_named = request.about is not None or request.judges is not None
    if request.anchors is None or request.anchor_mode is not None or not subject_named:
        return None, request.anchors, []
    answers, notes = kind.target_answers(table, request.anchors)
    if answers is None:
        return None, request.anchors, notes
    answers = replace(answers, people=people_names(request.anchors))
    check_people_not_judges(answers.people, table.judges)
    if not answers.grid():
        note = "People's scores do not differ: they give no information on the gap between panel and people, and are "
        note += "not used."
        return None, None, [*notes, note]
    if len(answers.items) <= MAX_ITEMS:
        return answers, None, notes
    most_answered = frozenset(name for name, _ in answers.answers_per_item().most_common(MAX_ITEMS))
    kept = answers.select_items(most_answered)
    note = f"People's answers are about {len(answers.items):,} items: of those about the "
    note += f"{MAX_ITEMS} that they answered most"
    return kept, None, [*notes, f"{note} {kept.answers:,} of {answers.answers:,} are used."]


def describe_anchors(
    anchored: Anchored, requested_mode: str | None, human: HumanAnswers[Any], answers: str = "votes"
) -> str:
    """Describe the use of the anchors and its reason; ``answers`` names the judges' kind of answers."""
    if requested_mode is not None and not anchored.methods:
        return f"Anchors are used as asked: {requested_mode}."
    if not anchored.methods:
        reason = "these anchors allow no other way"
    elif anchored.chosen == human.default:
        reason = "no other way that says what judges are like predicts left-out anchors clearly better"
    elif anchored.over == PEOPLE_ALONE != anchored.chosen:
        reason = f"it predicts left-out anchors better than {PEOPLE_ALONE}, and these better than the default"
    else:
        better = "better" if anchored.chosen == PEOPLE_ALONE else "clearly better"
        reason = f"it predicts left-out anchors {better} than the default"
    judges = "the anchors alone" if anchored.mode == CUT else f"{answers} and anchors together"
    shown = human.of_chosen if anchored.methods and not anchored.pairs else "items and judges"
    sentence = f"Anchors: {anchored.chosen}, because {reason}; {shown} are shown as {judges} have them."
    if anchored.methods and human.says_items:
        sentence += (
            f" Classes of items (target) are the {human.says_items} of all ways and of the shares of {answers}, "
            "weighted by how well each predicts left-out anchors."
        )
    return sentence + _warn_of_reference(anchored, human)


def _warn_of_reference(anchored: Anchored, human: HumanAnswers[Any]) -> str:
    """Warn of a chosen method that predicts left-out anchors worse than the reference; empty otherwise."""
    rows = {row["method"]: row for row in anchored.methods}
    chosen, reference = rows.get(anchored.chosen), rows.get(human.reference)
    if chosen is None or reference is None or chosen["log_loss_se"] is None:
        return ""
    loss_gap = chosen["log_loss"] - reference["log_loss"]
    if loss_gap <= math.hypot(chosen["log_loss_se"], reference["log_loss_se"]):
        return ""
    return (
        f" Plain {human.reference} predicts left-out anchors better than {anchored.chosen} (log loss "
        f"{reference['log_loss']:.2f} and {chosen['log_loss']:.2f}): do not act on these {human.of_chosen} before "
        "you have named judges who share mistakes (families=, --families), dropped copies, or given more anchors."
    )


def compare_methods(
    left_out_by_method: dict[str, LeftOut], default: str
) -> tuple[str, str, tuple[dict[str, Any], ...]]:
    """Return the method to use, the method that others had to beat, and the table of all (see :class:`.Anchored`).

    Parameters
    ----------
    default : str
        The default method, used unless another is clearly better.

    Examples
    --------
    >>> half, good = np.full(20, 0.5), np.full(20, 0.9)
    >>> found = {"joint": LeftOut(half, half, half), "cut": LeftOut(good, 1 - good, half + 0.5)}
    >>> compare_methods(found, "joint")[0]
    'cut'
    """
    rows, losses = [], {}
    for name, left_out in left_out_by_method.items():
        loss = -np.log(np.clip(left_out.p, 1e-12, 1.0))
        losses[name] = Losses(loss, _loss_if_wrong(left_out.doubt))
        rows.append(
            {
                "method": name,
                "log_loss": float(loss.mean()) if len(loss) else None,
                "log_loss_se": float(loss.std(ddof=1) / np.sqrt(len(loss))) if len(loss) >= 2 else None,
                "accuracy": float(left_out.right.mean()) if len(loss) else None,
            }
        )
    usable = {name: loss for name, loss in losses.items() if left_out_by_method[name].usable}
    chosen = _best_method(usable, default)
    return (chosen, _method_to_beat(usable, default), tuple({**row, "chosen": row["method"] == chosen} for row in rows))


def _loss_if_wrong(other_probability: Floats) -> float:
    """Loss of one more, imaginary anchor that the method predicts wrongly with its average certainty."""
    return float(np.mean(-np.log(np.clip(other_probability, 1e-12, 1.0)))) if len(other_probability) else 0.0


class Losses(NamedTuple):
    """Log losses of left-out anchors, shape (anchors,), and of one imaginary anchor predicted wrongly."""

    by_anchor: Floats
    if_wrong: float

    def loss_reduction(self, reference: Losses) -> tuple[float, float]:
        """Mean reduction of the loss against other losses, with the imaginary anchor, and its standard error."""
        gain = reference.by_anchor - self.by_anchor
        mean = float(gain.sum() + reference.if_wrong - self.if_wrong) / (len(gain) + 1)
        return mean, float(gain.std(ddof=1)) / math.sqrt(len(gain))


def _best_method(losses: dict[str, Losses], default: str) -> str:
    """The default method, unless the log loss of another is lower by more than two standard errors.

    People's answers alone replace the default if their loss is lower by more than one standard error. Judges must then
    improve on people alone: another method replaces people alone if its loss is lower by more than one standard error.

    The lowest of several noisy losses is often low by chance. With ten anchors, an overconfident method looks best
    whenever its ten answers happen to be correct, with little noise. So the loss of each method includes one
    imaginary anchor that it predicts wrongly (as the rule of succession adds one failure), without noise.
    """
    if len(losses[default].by_anchor) < MIN_ANCHORS:
        return default
    best = _method_to_beat(losses, default)
    base, lead, clear = losses[best], 0.0, DEFAULT_LEAD_ERRORS if best == default else ALONE_LEAD_ERRORS
    for name in (name for name in losses if name != PEOPLE_ALONE):
        gain, noise = losses[name].loss_reduction(base)
        if gain > max(lead, clear * noise):
            best, lead = name, gain
    return best


def _method_to_beat(losses: dict[str, Losses], default: str) -> str:
    """People alone if their loss is lower than the default's by more than a standard error, else the default."""
    if PEOPLE_ALONE not in losses or len(losses[default].by_anchor) < MIN_ANCHORS:
        return default
    lower = losses[default].by_anchor - losses[PEOPLE_ALONE].by_anchor
    clear = lower.mean() > ALONE_LEAD_ERRORS * lower.std(ddof=1) / math.sqrt(len(lower))
    return PEOPLE_ALONE if clear else default
