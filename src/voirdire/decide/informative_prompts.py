"""Prompts that tell items apart, those in which all are alike, and how few keep the ranking.

An answer y about an item i in a prompt c is a number: of a score or label itself less the mean of its judge there, of a
comparison 1, 0 or -1, to which the opponent's worth is added. Items are worth the mean of their answers,

    v_i = sum y / n_i,

in a prompt, or over some. What answers of other judges say independently is no noise: with v and w of two halves,

    spread^2 = mean_i v_ci w_ci,   slope = cov(v_c, worth in the other prompts) / variance of worth,
    information = -log2(1 - r^2) / 2,   r^2 = slope^2 variance of worth / variance of y

bits of an answer about what items are worth over all prompts (of normal variables; two items are compared at once).

Prompts are chosen one after the other, by the correlation of v over those chosen with v over all, noise added to its
variance. How well this keeps the ranking is measured where it was not chosen: prompts are chosen by one half of the
judges, and the rankings by these prompts and by all are compared (Kendall's tau) in the answers of the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.decide.answer_rows import rows_of
from voirdire.errors import InputError
from voirdire.kinds.labels.success import positive_example
from voirdire.settings import is_number
from voirdire.tables.detect import read_table
from voirdire.typing import Bools, Floats, Ints

SPLITS = 20
JUDGES = 4  # from which halves are of judges; else of answers
NOISE = (
    5.0  # times that the noise of a mean counts: the few prompts that fit best owe it to noise (held-out tau)
)
ROUNDS = 20  # of opponents' worth
SURE = 2.0  # standard errors from 0 of the correlation of two halves, in a prompt that tells items apart
STRANGERS = 20  # random sets of prompts beside the chosen ones, in each split


@dataclass(frozen=True, eq=False)
class ItemScores:
    """Sums of answers and their numbers, shape (prompts, items), and the variance of an answer."""

    total: Floats
    count: Floats
    variance: float

    def over(self, chosen: Any) -> Floats:
        """Mean worth of every item over some prompts; of one where a prompt is named."""
        total, count = self.total[chosen], self.count[chosen]
        if total.ndim == 2:
            total, count = total.sum(axis=0), count.sum(axis=0)
        found = total / np.maximum(count, 1.0)
        return np.asarray(found - found.mean())


@dataclass(frozen=True, eq=False)
class PromptInformation:
    """Answers as numbers: of one item, or of two, which count against each other."""

    y: Floats
    prompt: Ints
    items: tuple[Ints, ...]
    judge: Ints
    shape: tuple[int, int]

    def estimate_worths(self, rows: Bools) -> ItemScores:
        """Of some of the answers."""
        y, size = self.y[rows], self.shape[0] * self.shape[1]
        items = [item[rows] for item in self.items]
        cells = [self.prompt[rows] * self.shape[1] + item for item in items]
        count = np.sum([np.bincount(cell, minlength=size) for cell in cells], axis=0).reshape(self.shape)
        total, worth = np.zeros(self.shape), np.zeros(self.shape[1])
        for _ in range(ROUNDS if len(items) == 2 else 1):
            of = [y] if len(items) == 1 else [worth[items[1]] + y, worth[items[0]] - y]
            sums = [np.bincount(cell, part, size) for cell, part in zip(cells, of, strict=True)]
            total = np.sum(sums, axis=0).reshape(self.shape)
            new = total.sum(axis=0) / (count.sum(axis=0) + 1.0)
            worth = 0.5 * (worth + new - new.mean())
        return ItemScores(total, count, float(y.var()))

    def half(self, rng: np.random.Generator) -> Bools:
        """A random half: of the judges, or of the answers where these are few."""
        judges = int(self.judge.max()) + 1
        if judges < JUDGES:
            return np.asarray(rng.permutation(len(self.y)) % 2 == 0)
        order = rng.permutation(judges)
        answers = np.bincount(self.judge, minlength=judges)[order]
        mine = order[np.cumsum(answers) - answers / 2 < answers.sum() / 2]
        return np.isin(self.judge, mine)


def telling(
    table: object,
    *,
    positive: object = None,
    levels: Sequence[object] | None = None,
    keep: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Find which prompts tell items apart, and how few of them keep the ranking.

    Parameters
    ----------
    table : path, dataframe, or what :func:`voirdire.read` gave
        Votes, scores or labels with a column ``context``, the prompt.
    positive : str, optional
        Of labels: the class that is a success.
    levels : sequence, optional
        Of labels: all there may be, lowest first, where they are grades.
    keep : float
        Kendall's tau with the ranking by all prompts that is wanted, 0 to 1.
    seed : int
        Of the halves of judges.

    Returns
    -------
    dict
        prompts: prompt, answers, spread, information, alike (its items do not differ surely), place (in which order
        they are chosen); sizes: size, tau and low (mean and lowest tenth over halves), random (mean of random prompts);
        smallest (size from which on it is kept), chosen (its prompts), keep, halves ("judges" or "answers"),
        ceiling (tau of all prompts between the halves).

    Raises
    ------
    InputError
        There are no prompts, too few of them or of items, or classes of which none is known to be better.
    """
    if not (is_number(keep) and 0.0 < keep < 1.0):
        raise InputError(f"keep {keep!r} is no tau between 0 and 1; 0.95 is usual")
    told, names = _read_answers(read_table(table, levels=levels), positive)
    rng = np.random.default_rng(seed)
    whole = told.estimate_worths(np.ones(len(told.y), dtype=bool))
    order = greedy_prompt_order(whole)
    prompts, kept, strangers, ceiling = told.shape[0], [], [], []
    each = np.arange(prompts)
    variance, size, of_others = np.zeros((3, prompts))
    for _ in range(SPLITS):
        rows = told.half(rng)
        halves = told.estimate_worths(rows), told.estimate_worths(~rows)
        left, right = (np.stack([half.over(at) for at in each]) for half in halves)
        variance += (left * right).mean(axis=1) / SPLITS
        size += np.sqrt((left**2).mean(axis=1) * (right**2).mean(axis=1)) / SPLITS
        there, elsewhere = (np.stack([half.over(each != at) for at in each]) for half in halves)
        of_others += (there * elsewhere).mean(axis=1) / SPLITS
        ceiling.append(kendall_taus(halves[0].over(slice(None))[None], halves[1].over(slice(None)))[0])
        for mine, other in (halves, halves[::-1]):
            kept.append(_prefix_taus(other, greedy_prompt_order(mine)))
            strangers += [_prefix_taus(other, rng.permutation(prompts)) for _ in range(STRANGERS // 2)]
    mean = np.mean(kept, axis=0)
    lacking = np.flatnonzero(mean < keep)
    smallest = min(int(lacking[-1]) + 2, prompts) if len(lacking) else 1
    alike = variance <= SURE * size / np.sqrt(told.shape[1])
    information = _prompt_information(told, whole, of_others)
    place = np.argsort(order)
    low, apart = np.quantile(kept, 0.1, axis=0), np.mean(strangers, axis=0)
    rows_of_prompts = [
        {
            "prompt": names[at],
            "answers": int((told.prompt == at).sum()),
            "spread": float(np.sqrt(max(variance[at], 0.0))),
            "information": float(information[at]),
            "alike": bool(alike[at]),
            "place": int(place[at]) + 1,
        }
        for at in np.argsort(-information, kind="stable")
    ]
    return {
        "keep": keep,
        "smallest": smallest,
        "chosen": [names[at] for at in order[:smallest]],
        "halves": "judges" if int(told.judge.max()) + 1 >= JUDGES else "answers",
        "ceiling": float(np.mean(ceiling)),
        "prompts": rows_of_prompts,
        "sizes": [
            {"size": at + 1, "tau": float(mean[at]), "low": float(low[at]), "random": float(apart[at])}
            for at in range(prompts)
        ],
    }


def greedy_prompt_order(worths: ItemScores) -> Ints:
    """All prompts, each the one that brings the ranking by those before it and itself nearest to that by all."""
    target, left = worths.over(slice(None)), list(range(len(worths.total)))
    total, count = np.zeros(worths.total.shape[1]), np.zeros(worths.total.shape[1])
    order: list[int] = []
    while left:
        counts = np.maximum(count + worths.count[left], 1.0)
        v = (total + worths.total[left]) / counts
        v = v - v.mean(axis=1, keepdims=True)
        size = np.sqrt((v**2).mean(axis=1) + NOISE * worths.variance * (1.0 / counts).mean(axis=1))
        best = left[int(np.argmax(v @ target / size))]
        total, count = total + worths.total[best], count + worths.count[best]
        order.append(best)
        left.remove(best)
    return np.array(order)


def kendall_taus(values: Floats, target: Floats) -> Floats:
    """Kendall's tau-b of each of several rankings with one, 0 where all items are alike; shape (rankings,).

    Examples
    --------
    >>> several = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [0.0, 0.0, 0.0]])
    >>> kendall_taus(several, np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [1.0, 0.333, 0.0]
    """
    one, other = np.triu_indices(len(target), 1)
    signs, wanted = np.sign(values[:, one] - values[:, other]), np.sign(target[one] - target[other])
    size = np.sqrt(np.abs(signs).sum(axis=1) * np.abs(wanted).sum())
    return np.asarray(signs @ wanted / np.maximum(size, 1e-12))


def _prefix_taus(worths: ItemScores, order: Ints) -> Floats:
    """Tau with the ranking by all prompts of that by the first one, two, ... of an order."""
    total, count = worths.total[order].cumsum(axis=0), worths.count[order].cumsum(axis=0)
    return kendall_taus(total / np.maximum(count, 1.0), worths.over(slice(None)))


def _prompt_information(told: PromptInformation, whole: ItemScores, variance: Floats) -> Floats:
    """Bits of one answer in each prompt about what items are worth in the others, which has this variance."""
    prompts, found = told.shape[0], np.zeros(told.shape[0])
    for at in range(prompts):
        rest, noise = whole.over(np.arange(prompts) != at), float((told.y[told.prompt == at] ** 2).mean())
        if variance[at] > 0.0 and noise > 0.0:
            slope = max(float((whole.over(at) * rest).mean()), 0.0) / variance[at]
            share = min(slope**2 * variance[at] * len(told.items) / noise, 1.0 - 1e-9)
            found[at] = 0.5 * np.log2(1.0 / (1.0 - share))
    return found


def _read_answers(table: Any, positive: object) -> tuple[PromptInformation, tuple[str, ...]]:
    rows = rows_of(table)
    about = rows.about()
    if "context" not in about:
        raise InputError("telling prompts apart needs a column 'context', the prompt that answers are about")
    names, prompt = np.unique(about["context"], return_inverse=True)
    levels = rows.levels(None)
    y = rows.said(levels, positive)[1]
    if np.isnan(y).any():
        raise InputError(
            f"of the classes {', '.join(levels)} none is known to be better; say which: "
            f"{positive_example(levels)}"
        )
    items, codes = np.unique(
        np.stack([about[name] for name in ("first", "second")]) if rows.paired else _system_names(table),
        return_inverse=True,
    )
    codes = codes.reshape(2 if rows.paired else 1, -1)
    if len(names) < 4 or len(items) < 3:
        raise InputError(
            f"there are {len(names)} prompts and {len(items)} items that are met in them; it takes four and three"
        )
    if rows.paired:
        y = 2.0 * y - 1.0
    else:
        of = np.unique(rows.judge * len(names) + prompt, return_inverse=True)[1]
        y = y - (np.bincount(of, y) / np.bincount(of))[of]
    return PromptInformation(y, prompt, tuple(codes), rows.judge, (len(names), len(items))), tuple(
        names.tolist()
    )


def _system_names(table: Any) -> Any:
    """Names of what each answer is about, whatever the prompt."""
    of, names = (table.system, table.systems) if table.systems else (table.item, table.items)
    return np.array(names, dtype=str)[of]
