"""A panel's verdict as an assertion of promptfoo.

A file beside ``promptfooconfig.yaml`` imports it, ``from voirdire.integrations.promptfoo import get_assert``, and an
assertion names that file: ``type: python``, ``value: file://panel.py``. promptfoo must use a Python that has voirdire
(``PROMPTFOO_PYTHON``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voirdire.errors import InputError
from voirdire.integrations.panel import verdict

SETTINGS = ("levels", "positive", "scale", "fit", "prob")


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grade an output by a panel's answers about it.

    Parameters
    ----------
    output : str
        What is graded; the panel has seen it.
    context : mapping
        promptfoo's. ``votes`` of its ``vars``, or else of the assertion's ``config``: a mapping of judges to labels or
        scores, or a list of these. ``config`` may have ``threshold`` (0.5; of scores the middle of the scale), and
        ``levels``, ``positive``, ``scale``, ``fit`` and ``prob`` of :func:`.panel.verdict`.

    Returns
    -------
    dict
        promptfoo's result of a grading: pass (the value is at least the threshold), score (the probability, or the
        place on the scale, 0 to 1), reason, namedScores (panel, and where there is an interval panel_low, panel_high).

    Raises
    ------
    InputError
        There are no votes, or a setting or a vote is wrong.

    Examples
    --------
    >>> found = get_assert("4", {"vars": {"votes": {"ann": "pass", "bob": "pass", "cem": "fail"}}})
    >>> found["pass"], round(found["score"], 1), found["reason"][:16]
    (True, 0.6, 'panel of 3: 0.60')
    """
    config, given = (context.get(key) or {} for key in ("config", "vars"))
    known = ("threshold", "votes", *SETTINGS)
    if unknown := sorted({*config} - {*known}):
        raise InputError(f"config has {', '.join(map(repr, unknown))}; it may have {', '.join(known)}")
    votes = given.get("votes", config.get("votes"))
    if isinstance(votes, str) or not isinstance(votes, Mapping | Sequence):
        raise InputError(f"votes are {votes!r}; give vars or config a mapping of judges to labels or scores")
    judges = list(votes) if isinstance(votes, Mapping) else None
    answers = list(votes.values()) if isinstance(votes, Mapping) else list(votes)
    found = verdict(answers, judges, **{key: config[key] for key in SETTINGS if key in config})
    low, high = config.get("scale") or (0.0, 1.0)
    threshold = config.get("threshold", 0.5 * (low + high))
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not low <= threshold <= high:
        raise InputError(f"threshold {threshold!r} is not between {low:g} and {high:g}")
    ends = {f"panel_{end}": found[end] for end in ("low", "high") if found[end] is not None}
    interval = (
        f" ({100 * found['prob']:g}% interval {found['low']:.2f} to {found['high']:.2f})" if ends else ""
    )
    return {
        "pass": found["value"] >= threshold,
        "score": (found["value"] - low) / (high - low),
        "reason": f"panel of {found['judges']}: {found['value']:.2f}{interval}, threshold {threshold:g}",
        "namedScores": {"panel": found["value"]} | ends,
    }
