"""Starting points of the search for the mode of a model of votes.

In a model of coins and Bradley-Terry strengths, the expectation of a vote (1 for the first item, -1 for the second) is
lean_k tanh(d / 2), where lean_k = 2 eta_k - 1 is the informedness of judge k. Leans and strengths are estimated in
turn by least squares, strengths from wins against an average opponent. A few sweeps over the votes save a third of the
steps of the search.

Alternative starts for modes of a model of votes that might not be the highest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.kinds.answers import consensus_signs
from voirdire.model.density import Data, LogDensity
from voirdire.typing import Floats

INITIAL_LEAN = 0.8  # lean of every judge before the first sweep
MAX_LEAN = 0.95  # largest lean of a start: searches from the edge are slow
MAX_NET_SHARE = 0.98  # largest net share of wins of an item
LEAST_SQUARES_SWEEPS = 3
SIGN_TOLERANCE = 1e-6  # change of the signs below which the sweeps end
MIN_SPREAD = 0.3  # smallest spread of strengths
DEFAULT_SPREAD = 1.0  # spread of values without a cheap estimate
PEOPLE_LOG_ODDS = 3.0  # starting log-odds of people's coin


def starting_point(density: LogDensity, data: Data, signs: Floats, strength: Floats | None = None) -> Floats:
    """Compute a cheap estimate as a starting point, with leans of judges that begin at ``signs``.

    Parameters
    ----------
    signs : array, shape (judges,)
        Informedness of each judge's votes, from -1 (reversed) to 1.
    strength : array, shape (criteria, items), optional
        Fixed starting strengths; the leans are then not estimated either.

    Returns
    -------
    array, shape (size,)
    """
    values = {p.name: np.zeros(p.shape(density.sizes)) for p in density.parameters}
    coins = [name for name in ("reliability", "coin_first", "coin_second") if name in values]
    shape = (density.criteria, density.items)
    lean = INITIAL_LEAN * signs if density.judges > 1 else np.full(1, INITIAL_LEAN)
    for _ in range(LEAST_SQUARES_SWEEPS if coins and strength is None else 0):
        lean = _regress_leans(data["votes"], lean, _starting_strengths(data["votes"], lean, shape))
    values["strength"] = _starting_strengths(data["votes"], lean, shape) if strength is None else np.array(strength)
    deviation = values["strength"]
    if "general" in values:
        values["general"] = deviation.mean(axis=0)
        deviation = deviation - values["general"]
    if "log_spread" in values:
        values["log_spread"] = np.log(np.maximum(deviation.std(axis=1), MIN_SPREAD))
    if "weight" in values and "criteria" in data:
        values["weight"] = _starting_strengths(data["criteria"], lean, (1, density.criteria))[0]
    for name in coins:
        values[name] = np.log1p(lean) - np.log1p(-lean)  # log-odds of (1 + lean) / 2
    if "log_coin_mean" in values:
        odds = np.stack([values[name] for name in coins])
        values["log_coin_mean"] = np.log(np.maximum(odds.mean(), MIN_SPREAD))
        if "log_coin_spread" in values:
            values["log_coin_spread"] = np.log(np.maximum(odds.std(), MIN_SPREAD))
    for p in density.parameters:
        if p.name.endswith("_spread") and p.name not in ("log_spread", "log_coin_spread"):
            values[p.name] = np.full_like(values[p.name], np.log(DEFAULT_SPREAD))
    if "anchor" in values:
        values["anchor"] = np.array(PEOPLE_LOG_ODDS)
    if "tie" in values:
        panel = [part for part in data.values() if "tied" in part]
        tied = sum(float(part["tied"].sum()) for part in panel)
        decided = sum(float(part["decided"].sum()) for part in panel)
        values["tie"] = np.array(np.log(2.0 * (tied + 1.0) / (decided + 1.0)))
    return np.asarray(density.flat(values, np), dtype=float)


def agreement_signs(density: LogDensity, data: Data, sweeps: int = 50) -> Floats:
    """Compute each judge's agreement with the main consensus of the panel, shape (judges,), in [-1, 1].

    By power iteration on the matrix of judges' net votes per pair: in the leading singular direction, judges that
    answer against the others have a negative sign. Most votes have a positive sign.
    """
    part = data["votes"]
    net = part["weight"] * (1.0 - 2.0 * part["outcome"])
    votes = np.bincount(part["judge"], part["weight"], density.judges)
    return consensus_signs(part["judge"], part["pair"], net, votes, sweeps, SIGN_TOLERANCE)


def _regress_leans(part: dict[str, Any], lean: Floats, strength: Floats) -> Floats:
    """Regress each judge's votes on the strengths, shrunk to ``INITIAL_LEAN`` by the weight of two certain votes."""
    first = strength[part["pair_criterion"], part["pair_first"]]
    expected = np.tanh(0.5 * (first - strength[part["pair_criterion"], part["pair_second"]]))[part["pair"]]
    weighed = part["weight"] * expected
    agreed = np.bincount(part["judge"], weighed * (1.0 - 2.0 * part["outcome"]), len(lean))
    information = np.bincount(part["judge"], weighed * expected, len(lean))
    return np.asarray(np.clip((agreed + 2.0 * INITIAL_LEAN) / (information + 2.0), -MAX_LEAN, MAX_LEAN))


def _starting_strengths(part: dict[str, Any], lean: Floats, shape: tuple[int, int]) -> Floats:
    """Estimate strengths from each item's wins against an average opponent, with judges weighted by their leans."""
    if len(lean) > 1:
        weight, squared = lean[part["judge"]], (lean**2)[part["judge"]]
    else:
        weight = squared = np.ones(len(part["judge"]))
    pairs = len(part["pair_first"])
    net = np.bincount(part["pair"], part["weight"] * weight * (1.0 - 2.0 * part["outcome"]), pairs)
    information = np.bincount(part["pair"], part["weight"] * squared, pairs)
    first = part["pair_criterion"] * shape[1] + part["pair_first"]
    second = part["pair_criterion"] * shape[1] + part["pair_second"]
    size = shape[0] * shape[1]
    balance = np.bincount(first, net, size) - np.bincount(second, net, size)
    total = np.bincount(first, information, size) + np.bincount(second, information, size)
    theta = 2.0 * np.arctanh(np.clip(balance / (total + 1.0), -MAX_NET_SHARE, MAX_NET_SHARE)).reshape(shape)
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def _people_strengths(density: LogDensity, part: dict[str, Any]) -> Floats:
    """Estimate strengths from people's answers alone, shape (criteria, items).

    Answers about items as a whole give the same strengths under all criteria.
    """
    overall = bool((part["criterion"] >= density.criteria).any())
    count = len(part["first"])
    votes = {
        "judge": np.zeros(2 * count, dtype=int),
        "pair": np.tile(np.arange(count), 2),
        "outcome": np.repeat([0, 1], count),
        "weight": part["counts"][:, :2].T.ravel(),
        "pair_first": part["first"],
        "pair_second": part["second"],
        "pair_criterion": np.zeros(count, dtype=int) if overall else part["criterion"],
    }
    strength = _starting_strengths(votes, np.ones(1), (1 if overall else density.criteria, density.items))
    return np.broadcast_to(strength, (density.criteria, density.items))


MIRROR_MARGIN = 5.0  # difference in log density below which the mirrored mode might be higher after a search
MAX_REVERSED_SHARE = 0.25
MIN_COSINE = 0.95  # cosine of the judges' informedness from which two starts lead to the same mode


def alternative_starts(density: LogDensity, x: Floats, data: Data) -> list[Floats]:
    """Make the mirror of a doubtful mode, and a start with signs of judges from their agreement if it differs.

    If people's answers are mostly wrong at the mode, strengths from these answers alone are a start, too: most judges
    may err together.

    Parameters
    ----------
    x : array, shape (size,)
        Mode that was found.
    """
    if "pinned" in data:
        return []
    starts = []
    if "anchors" in data and float(density.values(x, np).get("anchor", 0.0)) < 0.0:
        strength = _people_strengths(density, data["anchors"])
        starts.append(starting_point(density, data, np.ones(density.judges), strength))
    if is_mode_doubtful(density, x, data):
        signed = starting_point(density, data, agreement_signs(density, data))
        starts.append(np.asarray(density.mirror_values(x, np)))
        starts += [] if _same_signs(density, signed, x, data) else [signed]
    return starts


def _same_signs(density: LogDensity, start: Floats, x: Floats, data: Data) -> bool:
    """True if the judges' informedness at a start is that at a known mode or its mirror."""
    part = data["votes"]
    root = np.sqrt(np.bincount(part["judge"], part["weight"], density.judges))
    start_informedness, mode_informedness = (
        root * _judge_informedness(density.values(point, np)) for point in (start, x)
    )
    return bool(
        abs(start_informedness @ mode_informedness)
        >= MIN_COSINE * np.linalg.norm(start_informedness) * np.linalg.norm(mode_informedness)
    )


def is_mode_doubtful(density: LogDensity, x: Floats, data: Data) -> bool:
    """True if a mode might not be the highest, so that other starts are tried."""
    if not density.has_mirror or "pinned" in data:
        return False
    mirror_log_density = density.log_orientation(density.mirror_values(x, np), data, np)
    if mirror_log_density > density.log_orientation(x, data, np) - MIRROR_MARGIN:
        return True
    informedness = _judge_informedness(density.values(x, np))
    part = data["votes"]
    information = np.bincount(part["judge"], part["weight"], density.judges) * informedness
    return bool(-information[information < 0].sum() > MAX_REVERSED_SHARE * np.abs(information).sum())


def _judge_informedness(values: dict[str, Any]) -> Floats:
    """Compute the informedness of each judge's answers, from -1 (always wrong) to 1."""
    coins = [values[name] for name in ("reliability", "coin_first", "coin_second") if name in values]
    return np.asarray(np.mean(np.tanh(0.5 * np.stack(coins)), axis=0))
