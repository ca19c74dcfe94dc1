"""Informative prompts: a ranking of prompts by information, and the smallest set that keeps the ranking of items.

An answer y about an item i in a prompt c is a number: for a score or label, its value minus its judge's mean in that
prompt; for a comparison 1, 0 or -1, plus the opponent's score. Item scores are means of their answers,

    v_i = sum y / n_i,

in one prompt or over several. Two halves of the answers, by different judges, separate signal from noise: with v and w
of the two halves,

    spread^2 = mean_i v_ci w_ci,   slope = cov(v_c, scores in the other prompts) / variance of those scores,
    information = -log2(1 - r^2) / 2,   r^2 = slope^2 variance of those scores / variance of y

bits of information in an answer about item scores over all prompts (for normal variables; a comparison is about two).

Prompts are chosen greedily, by the correlation of v over the chosen prompts with v over all, with noise added to its
variance. The preservation of the ranking is measured on held-out answers: one half of the judges chooses the prompts,
and the answers of the other half give the rankings by these prompts and by all (Kendall's tau between them).
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
MIN_JUDGES = 4  # smallest number of judges for halves of judges; otherwise halves of answers
NOISE_FACTOR = 5.0  # weight of the noise of a mean: without it, prompts are chosen for their noise (held-out tau)
OPPONENT_ROUNDS = 20  # iterations of opponents' scores
MIN_STANDARD_ERRORS = 2.0  # standard errors from 0 of the correlation of two halves, in a prompt that separates items
RANDOM_SETS = 20  # number of random orders of prompts for comparison, in each split


@dataclass(frozen=True, eq=False)
class ItemScores:
    """Sums and numbers of answers, shape (prompts, items), and the variance of an answer."""

    total: Floats
    count: Floats
    variance: float

    def mean_scores(self, chosen: Any) -> Floats:
        """Mean score of every item over a selection of prompts, or in one prompt."""
        total, count = self.total[chosen], self.count[chosen]
        if total.ndim == 2:
            total, count = total.sum(axis=0), count.sum(axis=0)
        scores = total / np.maximum(count, 1.0)
        return np.asarray(scores - scores.mean())


@dataclass(frozen=True, eq=False)
class PromptInformation:
    """Answers as numbers, each about one item, or about two with opposite signs."""

    y: Floats
    prompt: Ints
    items: tuple[Ints, ...]
    judge: Ints
    shape: tuple[int, int]

    def estimate_worths(self, rows: Bools) -> ItemScores:
        """Estimate item scores by prompt from a subset of the answers."""
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

    def draw_half(self, rng: np.random.Generator) -> Bools:
        """A random half of the judges, or of the answers where there are few judges."""
        judges = int(self.judge.max()) + 1
        if judges < MIN_JUDGES:
            return np.asarray(rng.permutation(len(self.y)) % 2 == 0)
        order = rng.permutation(judges)
        answers = np.bincount(self.judge, minlength=judges)[order]
        chosen = order[np.cumsum(answers) - answers / 2 < answers.sum() / 2]
        return np.isin(self.judge, chosen)


def telling(
    table: object, *, positive: object = None, levels: Sequence[object] | None = None, keep: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Find the prompts that separate items, and the smallest number of them that keeps the ranking.

    Parameters
    ----------
    table : path, dataframe, or the result of :func:`voirdire.read`
        Votes, scores or labels with a column ``context``, the prompt.
    positive : str, optional
        For labels, the class that is a success.
    levels : sequence, optional
        For labels that are grades, all possible ones, lowest first.
    keep : float
        Required Kendall's tau with the ranking by all prompts, 0 to 1.
    seed : int
        Seed of the random halves.

    Returns
    -------
    dict
        prompts: prompt, answers, spread, information, alike (its items do not clearly differ), place (position in the
        order of choice); sizes: size, tau and low (mean and lowest tenth over halves), random (mean of random prompts);
        smallest (size from which tau is at least ``keep``), chosen (its prompts), keep, halves ("judges" or "answers"),
        ceiling (tau of all prompts between the halves).

    Raises
    ------
    InputError
        There are no prompts, too few prompts or items, or classes without a known order.
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
        rows = answers.draw_half(rng)
        halves = answers.estimate_worths(rows), answers.estimate_worths(~rows)
        left, right = (np.stack([half.mean_scores(prompt) for prompt in prompt_codes]) for half in halves)
        variance += (left * right).mean(axis=1) / SPLITS
        size += np.sqrt((left**2).mean(axis=1) * (right**2).mean(axis=1)) / SPLITS
        left_rest, right_rest = (
            np.stack([half.mean_scores(prompt_codes != prompt) for prompt in prompt_codes]) for half in halves
        )
        others_variance += (left_rest * right_rest).mean(axis=1) / SPLITS
        ceiling.append(kendall_taus(halves[0].mean_scores(slice(None))[None], halves[1].mean_scores(slice(None)))[0])
        for first_half, second_half in (halves, halves[::-1]):
            chosen_taus.append(_prefix_taus(second_half, greedy_prompt_order(first_half)))
            random_taus += [_prefix_taus(second_half, rng.permutation(prompts)) for _ in range(RANDOM_SETS // 2)]
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


def greedy_prompt_order(scores: ItemScores) -> Ints:
    """Order of all prompts: each next one brings the ranking by the chosen prompts closest to the ranking by all."""
    target, remaining = scores.mean_scores(slice(None)), list(range(len(scores.total)))
    total, count = np.zeros(scores.total.shape[1]), np.zeros(scores.total.shape[1])
    order: list[int] = []
    while remaining:
        counts = np.maximum(count + scores.count[remaining], 1.0)
        v = (total + scores.total[remaining]) / counts
        v = v - v.mean(axis=1, keepdims=True)
        size = np.sqrt((v**2).mean(axis=1) + NOISE_FACTOR * scores.variance * (1.0 / counts).mean(axis=1))
        best = remaining[int(np.argmax(v @ target / size))]
        total, count = total + scores.total[best], count + scores.count[best]
        order.append(best)
        remaining.remove(best)
    return np.array(order)


def kendall_taus(values: Floats, target: Floats) -> Floats:
    """Kendall's tau-b of several rankings with a target, 0 where all items are equal; shape (rankings,).

    Examples
    --------
    >>> several = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [0.0, 0.0, 0.0]])
    >>> kendall_taus(several, np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [1.0, 0.333, 0.0]
    """
    first, second = np.triu_indices(len(target), 1)
    signs, target_signs = (np.sign(values[:, first] - values[:, second]), np.sign(target[first] - target[second]))
    size = np.sqrt(np.abs(signs).sum(axis=1) * np.abs(target_signs).sum())
    return np.asarray(signs @ target_signs / np.maximum(size, 1e-12))


def _prefix_taus(scores: ItemScores, order: Ints) -> Floats:
    """Kendall's tau between the ranking by the first one, two, ... prompts of an order and that by all prompts."""
    total, count = scores.total[order].cumsum(axis=0), scores.count[order].cumsum(axis=0)
    return kendall_taus(total / np.maximum(count, 1.0), scores.mean_scores(slice(None)))


def _prompt_information(answers: PromptInformation, scores: ItemScores, variance: Floats) -> Floats:
    """Bits of information in one answer in each prompt about scores in the other prompts, which have this variance."""
    prompts, bits = answers.shape[0], np.zeros(answers.shape[0])
    for prompt in range(prompts):
        other_scores = scores.mean_scores(np.arange(prompts) != prompt)
        noise = float((answers.y[answers.prompt == prompt] ** 2).mean())
        if variance[prompt] > 0.0 and noise > 0.0:
            slope = max(float((scores.mean_scores(prompt) * other_scores).mean()), 0.0) / variance[prompt]
            share = min(slope**2 * variance[prompt] * len(answers.items) / noise, 1.0 - 1e-9)
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
            f"of the classes {', '.join(levels)} none is known to be better; say which: {positive_example(levels)}"
        )
    items, codes = np.unique(
        np.stack([about[name] for name in ("first", "second")]) if table.compares_items else _system_names(table),
        return_inverse=True,
    )
    codes = codes.reshape(2 if table.compares_items else 1, -1)
    if len(names) < 4 or len(items) < 3:
        raise InputError(
            f"there are {len(names)} prompts and {len(items)} items that are met in them; it takes four and three"
        )
    if table.compares_items:
        y = 2.0 * y - 1.0
    else:
        group = np.unique(rows.judge * len(names) + prompt, return_inverse=True)[1]
        y = y - (np.bincount(group, y) / np.bincount(group))[group]
    return PromptInformation(y, prompt, tuple(codes), rows.judge, (len(names), len(items))), tuple(names.tolist())


def _system_names(table: Any) -> Any:
    """Name of the system, or of the item, of each answer."""
    codes, names = (table.system, table.systems) if table.systems else (table.item, table.items)
    return np.array(names, dtype=str)[codes]
