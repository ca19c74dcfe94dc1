"""Informative prompts: which distinguish items, which do not, and the smallest set that keeps the ranking.

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
MIN_JUDGES = 4  # from which halves are of judges; else of answers
NOISE_FACTOR = (
    5.0  # times that the noise of a mean counts: the few prompts that fit best owe it to noise (held-out tau)
)
OPPONENT_ROUNDS = 20  # of opponents' worth
MIN_STANDARD_ERRORS = (
    2.0  # standard errors from 0 of the correlation of two halves, in a prompt that tells items apart
)
RANDOM_SETS = 20  # random sets of prompts beside the chosen ones, in each split


@dataclass(frozen=True, eq=False)
class ItemScores:
    """Sums of answers and their numbers, shape (prompts, items), and the variance of an answer."""

    total: Floats
    count: Floats
    variance: float

    def over(self, chosen: Any) -> Floats:
        """Mean score of every item over some prompts, or in one prompt."""
        total, count = self.total[chosen], self.count[chosen]
        if total.ndim == 2:
            total, count = total.sum(axis=0), count.sum(axis=0)
        scores = total / np.maximum(count, 1.0)
        return np.asarray(scores - scores.mean())


@dataclass(frozen=True, eq=False)
class PromptInformation:
    """Answers as numbers: of one item, or of two, which count against each other."""

    y: Floats
    prompt: Ints
    items: tuple[Ints, ...]
    judge: Ints
    shape: tuple[int, int]

    def estimate_worths(self, rows: Bools) -> ItemScores:
        """Estimate item scores by prompt from some of the answers."""
        y, size = self.y[rows], self.shape[0] * self.shape[1]
        items = [item[rows] for item in self.items]
        cells = [self.prompt[rows] * self.shape[1] + item for item in items]
        count = np.sum([np.bincount(cell, minlength=size) for cell in cells], axis=0).reshape(self.shape)
        total, strength = np.zeros(self.shape), np.zeros(self.shape[1])
        for _ in range(OPPONENT_ROUNDS if len(items) == 2 else 1):
            outcomes = [y] if len(items) == 1 else [strength[items[1]] + y, strength[items[0]] - y]
            sums = [np.bincount(cell, part, size) for cell, part in zip(cells, outcomes, strict=True)]
            total = np.sum(sums, axis=0).reshape(self.shape)
            new = total.sum(axis=0) / (count.sum(axis=0) + 1.0)
            strength = 0.5 * (strength + new - new.mean())
        return ItemScores(total, count, float(y.var()))

    def half(self, rng: np.random.Generator) -> Bools:
        """A random half: of the judges, or of the answers where these are few."""
        judges = int(self.judge.max()) + 1
        if judges < MIN_JUDGES:
            return np.asarray(rng.permutation(len(self.y)) % 2 == 0)
        order = rng.permutation(judges)
        answers = np.bincount(self.judge, minlength=judges)[order]
        chosen = order[np.cumsum(answers) - answers / 2 < answers.sum() / 2]
        return np.isin(self.judge, chosen)


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
    answers, names = _read_answers(read_table(table, levels=levels), positive)
    rng = np.random.default_rng(seed)
    scores = answers.estimate_worths(np.ones(len(answers.y), dtype=bool))
    order = greedy_prompt_order(scores)
    prompts, chosen_taus, random_taus, ceiling = answers.shape[0], [], [], []
    prompt_codes = np.arange(prompts)
    variance, size, others_variance = np.zeros((3, prompts))
    for _ in range(SPLITS):
        rows = answers.half(rng)
        halves = answers.estimate_worths(rows), answers.estimate_worths(~rows)
        left, right = (np.stack([half.over(prompt) for prompt in prompt_codes]) for half in halves)
        variance += (left * right).mean(axis=1) / SPLITS
        size += np.sqrt((left**2).mean(axis=1) * (right**2).mean(axis=1)) / SPLITS
        left_rest, right_rest = (
            np.stack([half.over(prompt_codes != prompt) for prompt in prompt_codes]) for half in halves
        )
        others_variance += (left_rest * right_rest).mean(axis=1) / SPLITS
        ceiling.append(kendall_taus(halves[0].over(slice(None))[None], halves[1].over(slice(None)))[0])
        for first_half, second_half in (halves, halves[::-1]):
            chosen_taus.append(_prefix_taus(second_half, greedy_prompt_order(first_half)))
            random_taus += [
                _prefix_taus(second_half, rng.permutation(prompts)) for _ in range(RANDOM_SETS // 2)
            ]
    mean = np.mean(chosen_taus, axis=0)
    lacking = np.flatnonzero(mean < keep)
    smallest = min(int(lacking[-1]) + 2, prompts) if len(lacking) else 1
    alike = variance <= MIN_STANDARD_ERRORS * size / np.sqrt(answers.shape[1])
    information = _prompt_information(answers, scores, others_variance)
    place = np.argsort(order)
    low, random_tau = np.quantile(chosen_taus, 0.1, axis=0), np.mean(random_taus, axis=0)
    rows_of_prompts = [
        {
            "prompt": names[prompt],
            "answers": int((answers.prompt == prompt).sum()),
            "spread": float(np.sqrt(max(variance[prompt], 0.0))),
            "information": float(information[prompt]),
            "alike": bool(alike[prompt]),
            "place": int(place[prompt]) + 1,
        }
        for prompt in np.argsort(-information, kind="stable")
    ]
    return {
        "keep": keep,
        "smallest": smallest,
        "chosen": [names[prompt] for prompt in order[:smallest]],
        "halves": "judges" if int(answers.judge.max()) + 1 >= MIN_JUDGES else "answers",
        "ceiling": float(np.mean(ceiling)),
        "prompts": rows_of_prompts,
        "sizes": [
            {
                "size": prompt + 1,
                "tau": float(mean[prompt]),
                "low": float(low[prompt]),
                "random": float(random_tau[prompt]),
            }
            for prompt in range(prompts)
        ],
    }


def greedy_prompt_order(worths: ItemScores) -> Ints:
    """Order of all prompts: each brings the ranking by the prompts so far nearest to the ranking by all."""
    target, remaining = worths.over(slice(None)), list(range(len(worths.total)))
    total, count = np.zeros(worths.total.shape[1]), np.zeros(worths.total.shape[1])
    order: list[int] = []
    while remaining:
        counts = np.maximum(count + worths.count[remaining], 1.0)
        v = (total + worths.total[remaining]) / counts
        v = v - v.mean(axis=1, keepdims=True)
        size = np.sqrt((v**2).mean(axis=1) + NOISE_FACTOR * worths.variance * (1.0 / counts).mean(axis=1))
        best = remaining[int(np.argmax(v @ target / size))]
        total, count = total + worths.total[best], count + worths.count[best]
        order.append(best)
        remaining.remove(best)
    return np.array(order)


def kendall_taus(values: Floats, target: Floats) -> Floats:
    """Kendall's tau-b of each of several rankings with one, 0 where all items are alike; shape (rankings,).

    Examples
    --------
    >>> several = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [0.0, 0.0, 0.0]])
    >>> kendall_taus(several, np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [1.0, 0.333, 0.0]
    """
    first, second = np.triu_indices(len(target), 1)
    signs, target_signs = (
        np.sign(values[:, first] - values[:, second]),
        np.sign(target[first] - target[second]),
    )
    size = np.sqrt(np.abs(signs).sum(axis=1) * np.abs(target_signs).sum())
    return np.asarray(signs @ target_signs / np.maximum(size, 1e-12))


def _prefix_taus(worths: ItemScores, order: Ints) -> Floats:
    """Kendall's tau between the ranking by the first one, two, ... prompts of an order and that by all prompts."""
    total, count = worths.total[order].cumsum(axis=0), worths.count[order].cumsum(axis=0)
    return kendall_taus(total / np.maximum(count, 1.0), worths.over(slice(None)))


def _prompt_information(told: PromptInformation, whole: ItemScores, variance: Floats) -> Floats:
    """Bits that one answer in each prompt carries about item scores in the others, which have this variance."""
    prompts, bits = told.shape[0], np.zeros(told.shape[0])
    for prompt in range(prompts):
        other_scores, noise = (
            whole.over(np.arange(prompts) != prompt),
            float((told.y[told.prompt == prompt] ** 2).mean()),
        )
        if variance[prompt] > 0.0 and noise > 0.0:
            slope = max(float((whole.over(prompt) * other_scores).mean()), 0.0) / variance[prompt]
            share = min(slope**2 * variance[prompt] * len(told.items) / noise, 1.0 - 1e-9)
            bits[prompt] = 0.5 * np.log2(1.0 / (1.0 - share))
    return bits


def _read_answers(table: Any, positive: object) -> tuple[PromptInformation, tuple[str, ...]]:
    rows = rows_of(table)
    about = rows.subject_columns()
    if "context" not in about:
        raise InputError("telling prompts apart needs a column 'context', the prompt that answers are about")
    names, prompt = np.unique(about["context"], return_inverse=True)
    levels = rows.levels(None)
    y = rows.level_codes(levels, positive)[1]
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
        group = np.unique(rows.judge * len(names) + prompt, return_inverse=True)[1]
        y = y - (np.bincount(group, y) / np.bincount(group))[group]
    return PromptInformation(y, prompt, tuple(codes), rows.judge, (len(names), len(items))), tuple(
        names.tolist()
    )


def _system_names(table: Any) -> Any:
    """Names of what each answer is about, whatever the prompt."""
    codes, names = (table.system, table.systems) if table.systems else (table.item, table.items)
    return np.array(names, dtype=str)[codes]
