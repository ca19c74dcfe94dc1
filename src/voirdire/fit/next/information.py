"""Expected information of answers about unknown quantities, from weighted posterior draws.

The unknowns are discrete quantities T_1, ..., T_m (the order of two items, the class of a judge), each known in every
draw s. A question q has answers y with probabilities p_s(y | q) in draw s. With weights w_s of draws,

    U(q) = sum_t I(y; T_t) = sum_t sum_{y, l} j log2(j / (p(y) p(T_t = l))),  j = sum_s w_s p_s(y) 1[T_t,s = l],

is the expected reduction of the summed entropy of the T_t, in bits (Lindley, Annals of Mathematical Statistics
27, 1956). Answers enter by their probabilities, without simulation. A question without information has U = 0 up to the
chance correlation of p_s with T in finitely many draws.

A batch is built greedily: each next question has the largest E[U(q | answers so far)]. The expectation is over the
answers to the questions chosen so far. It is computed over worlds: posterior draws, each with drawn answers. Given a
draw answers are independent, so the draws in a world have weights w_s prod_k p_s(y_k | q_k). A question with a last
known gain below the best recomputed gain is not recomputed. This is exact if gains only decrease with more answers,
which is mostly but not always true for conditionally independent answers (Krause and Guestrin, UAI 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from voirdire.typing import Floats, Ints

# Number of candidates to recompute at a time.
_RECOMPUTED_BATCH = 16
# Most numbers in an intermediate result: 32 MB.
_MAX_NUMBERS = 2**22


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Discrete quantities, known in each draw.

    Attributes
    ----------
    hot : float array, shape (draws, columns)
        A column per level of a quantity except the first: 1 in draws with this level, else 0; or the probability of the
        level given the draw, if answers and levels are independent given the draw.
    starts : int array, shape (quantities,)
        First column of each quantity.
    """

    hot: Floats
    starts: Ints


def unknowns_from_codes(codes: Ints) -> Unknowns:
    """Build unknowns from codes; quantities that are equal in all draws are left out.

    Parameters
    ----------
    codes : int array, shape (draws, quantities)
        Levels 0, 1, ...

    Examples
    --------
    >>> unknowns_from_codes(np.array([[0, 1, 0], [1, 1, 2]])).hot.tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    codes = codes[:, codes.min(axis=0) < codes.max(axis=0)]
    highest = codes.max(axis=0, initial=0)
    owner = np.repeat(np.arange(codes.shape[1]), highest)
    starts = np.cumsum(highest) - highest
    level = np.arange(len(owner)) - starts[owner] + 1
    return Unknowns((codes[:, owner] == level).astype(float), starts.astype(np.int64))


def total_entropy(about: Unknowns, weights: Floats) -> float:
    """Compute the summed entropy of the quantities, in bits.

    Parameters
    ----------
    weights : array, shape (draws,)
        Weights of the draws, with sum 1.

    Examples
    --------
    >>> total_entropy(unknowns_from_codes(np.array([[0], [1]])), np.array([0.5, 0.5]))
    1.0
    """
    inner, outer = _level_probabilities(about, weights)
    return float(-(_p_log_p(inner).sum() + _p_log_p(outer).sum()))


def expected_information(answers: Floats, about: Unknowns, weights: Floats) -> Floats:
    """Compute U(q) of each question, in bits.

    Parameters
    ----------
    answers : array, shape (draws, questions, kinds of answer)
        p_s(y | q); sums to one over the last axis.
    about : Unknowns
        The unknown quantities.
    weights : array, shape (draws,)
        Weights of the draws, with sum 1.

    Returns
    -------
    array, shape (questions,)
        Expected information.

    Examples
    --------
    A question with the level itself as answer, and a coin:

    >>> answers = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]])
    >>> expected_information(answers, unknowns_from_codes(np.array([[0], [1]])), np.array([0.5, 0.5])).tolist()
    [1.0, 0.0]
    """
    draws, questions, kinds = answers.shape
    columns = about.hot.shape[1]
    if not columns:
        return np.zeros(questions)
    inner, outer = _level_probabilities(about, weights)
    prior = _p_log_p(inner).sum() + _p_log_p(outer).sum()
    information = np.empty(questions)
    step = max(1, _MAX_NUMBERS // (kinds * max(columns, draws)))
    weighted = about.hot * weights[:, None]
    for start in range(0, questions, step):
        block = answers[:, start : start + step].reshape(draws, -1)
        joint = block.T @ weighted
        total = weights @ block
        first_level = np.maximum(total[:, None] - np.add.reduceat(joint, about.starts, axis=1), 0.0)
        terms = _p_log_p(joint).sum(axis=1) + _p_log_p(first_level).sum(axis=1) - len(about.starts) * _p_log_p(total)
        information[start : start + step] = terms.reshape(-1, kinds).sum(axis=1) - prior
    return np.maximum(information, 0.0)


@dataclass(frozen=True, eq=False)
class Batch:
    """Questions in the order to ask.

    Attributes
    ----------
    chosen : int array, shape (count,)
        Indices of the questions.
    gain : array, shape (count,)
        E[U(q | answers to earlier questions)], in bits.
    expected_entropy : float
        Expected entropy after all answers, in bits.
    """

    chosen: Ints
    gain: Floats
    expected_entropy: float


def choose_by_entropy(
    answers: Floats,
    about: Unknowns,
    weights: Floats,
    count: int,
    rng: np.random.Generator,
    *,
    same: Ints | None = None,
    cost: Floats | None = None,
    worlds: int = 16,
) -> Batch:
    """Choose a batch greedily: each next question has the largest gain for its cost.

    Parameters
    ----------
    answers, about, weights
        As in `expected_information`.
    count : int
        Number of questions; fewer if there are fewer.
    rng : numpy.random.Generator
        Generator of the worlds.
    same : int array, shape (questions,), optional
        Codes of equivalent questions: of those with equal codes, one is asked once.
    cost : array, shape (questions,), optional
        Cost of each question, above 0; by default equal.
    worlds : int
        Number of worlds to average over.

    Examples
    --------
    Two copies of one question and a less informative one about another quantity; the copy is not chosen second:

    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> yes = np.stack([codes[:, 0], codes[:, 0], 0.1 + 0.8 * codes[:, 1]], axis=1)
    >>> answers = np.stack([yes, 1 - yes], axis=2)
    >>> unknowns, weights = unknowns_from_codes(codes), np.full(4, 0.25)
    >>> choose_by_entropy(answers, unknowns, weights, 2, np.random.default_rng(0)).chosen.tolist()
    [0, 2]
    """
    draws, questions, _ = answers.shape
    same = np.arange(questions) if same is None else same
    cost = np.ones(questions) if cost is None else cost
    single_gain = expected_information(answers, about, weights) / cost
    bound = single_gain.copy()
    open_ = np.ones(questions, bool)
    truth = rng.choice(draws, worlds, p=weights)
    world_weights = np.tile(weights, (worlds, 1))
    chosen: list[int] = []
    gains: list[float] = []
    while open_.any() and len(chosen) < count:
        best = _largest_among(single_gain, open_)
        if chosen:
            best = _best_question(answers, about, world_weights, bound, open_, cost)
        chosen.append(best)
        gains.append(float(bound[best] * cost[best]))
        open_ &= same != same[best]
        cumulative = answers[truth, best].cumsum(axis=1)
        answer = (rng.random(worlds)[:, None] * cumulative[:, -1:] > cumulative[:, :-1]).sum(axis=1)
        world_weights = world_weights * answers[:, best, :].T[answer]
        world_weights /= world_weights.sum(axis=1, keepdims=True)
    entropy_left = float(np.mean([total_entropy(about, row) for row in world_weights]))
    return Batch(np.array(chosen, np.int64), np.array(gains), entropy_left)


def _best_question(
    answers: Floats, about: Unknowns, by_world: Floats, bound: Floats, open_: npt.NDArray[np.bool_], cost: Floats
) -> int:
    """Find the question with the largest mean gain over its cost in the worlds; recomputed gains enter `bound`."""
    order = np.argsort(np.where(open_, -bound, np.inf), kind="stable")[: int(open_.sum())]
    fresh = np.zeros(len(bound), bool)
    best = -np.inf
    for start in range(0, len(order), _RECOMPUTED_BATCH):
        block = order[start : start + _RECOMPUTED_BATCH]
        if bound[block[0]] <= best:
            break
        gain = np.mean([expected_information(answers[:, block], about, weights) for weights in by_world], axis=0)
        bound[block] = gain / cost[block]
        fresh[block] = True
        best = bound[block].max(initial=best)
    return _largest_among(bound, fresh)


def _largest_among(values: Floats, among: npt.NDArray[np.bool_]) -> int:
    return int(np.argmax(np.where(among, values, -np.inf)))


def _level_probabilities(about: Unknowns, weights: Floats) -> tuple[Floats, Floats]:
    """Probability of every level except the first, and of the first levels."""
    inner = weights @ about.hot
    if not len(about.starts):
        return inner, inner
    return inner, np.maximum(1.0 - np.add.reduceat(inner, about.starts), 0.0)


def _p_log_p(p: Floats) -> Floats:
    from scipy.special import xlogy

    return np.asarray(xlogy(p, p) / np.log(2.0))
