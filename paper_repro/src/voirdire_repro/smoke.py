"""Smoke tests of runs: invented items, very small models, protocols at their smallest. What comes out is no result.

A run's ``toy.*`` holds a few invented items in the form of its data set's file, so that its loader is gone through too.
Judges keep their names and are played in turn by the two models of the extra ``local``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MODELS = ("smollm2-135m", "gemma-3-270m")

#: Options by protocol, instead of the run's; a number is the most that may be asked for.
SMALL: dict[str, dict[str, Any]] = {
    # models this small write no criteria that can be used
    "maple": {"criteria": {"claim": "It says what it holds.", "reasons": "It gives reasons."}, "rubric": ""},
    "pairwise": {},
    "masa": {"runs": 1, "guidance": "baseline", "longest": 60},
    "maj-eval": {"stakeholders": 2, "dimensions": 2, "groups": 1, "personas": 2, "rounds": 1, "longest": 30},
    "simple-role": {"roles": {"Readers": "You read."}, "agents": 1, "rounds": 1, "longest": 30},
    "debate": {"iterations": 1, "commander": "relay", "longest": 30},
    "mareval": {"runs": 1, "evaluators": 1, "rounds": 1, "longest": 30},
    "vanilla": {},
    "cot": {"longest": 30},
    "self-refine": {"rounds": 1, "longest": 30},
    "g-eval": {"samples": 1, "longest": 30},
    "chat-eval": {"rounds": 1, "longest": 30},
    "rouge-l": {},
    "bert-score": {},
}


#: Protocols in which judges score each by itself: one of them is enough.
ONE_JUDGE = tuple(name for name in SMALL if name not in ("maple", "pairwise", "masa", "rouge-l", "bert-score"))
_COMPARE = 2  # judges who compare; one evaluates summaries


def small_options(protocol: str, options: Mapping[str, Any], judges: Sequence[str]) -> dict[str, Any]:
    """A protocol's options at toy size, and few of the panel's judges (of maple the first writes criteria).

    Examples
    --------
    >>> small_options("mareval", {"runs": 5, "task": "replies"}, ["GPT-4", "GPT-3.5"])
    {'runs': 1, 'task': 'replies', 'evaluators': 1, 'rounds': 1, 'longest': 30, 'judges': ['GPT-4']}
    """
    reduced = dict(options)
    for name, value in SMALL[protocol].items():
        given = options.get(name)
        reduced[name] = min(given, value) if isinstance(given, int) and isinstance(value, int) else value
    if protocol in ONE_JUDGE:
        reduced["judges"] = [judges[0]]
    elif protocol == "maple":
        reduced["evaluators"] = list(judges[1 : 1 + _COMPARE])
    elif "evaluators" in options:
        reduced["evaluators"] = options["evaluators"][: 1 if protocol == "masa" else _COMPARE]
    return reduced


def small_panel(panel: Mapping[str, Any]) -> dict[str, Any]:
    """A panel's judges by their names, played by local models.

    Examples
    --------
    >>> small_panel({"judges": [{"name": "GPT-4", "model": "gpt-4-turbo", "api_key_env": "KEY"}]})["judges"][0]["model"]
    'local:smollm2-135m'
    """
    judges = [
        {
            "name": judge["name"],
            "model": f"local:{MODELS[number % len(MODELS)]}",
            "temperature": 1.0,
            "seed": 2,
            "max_tokens": 300,
            "concurrency": 2,
        }
        for number, judge in enumerate(panel["judges"])
    ]
    return {**panel, "judges": judges}
