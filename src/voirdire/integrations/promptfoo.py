"""Panel's verdict as an assertion and as a provider of promptfoo.

Write a file ``panel.py`` in the folder of ``promptfooconfig.yaml`` with ``from voirdire.integrations.promptfoo import
get_assert, call_api``. Name that file in an assertion (``type: python``, ``value: file://panel.py``), or in a provider
(``id: file://panel.py``). promptfoo must use a Python that has voirdire (``PROMPTFOO_PYTHON``).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.integrations.panel import verdict

VERDICT_SETTINGS = ("levels", "positive", "scale", "fit", "prob")
#: Further settings of a provider that asks judges.
ASKING_SETTINGS = ("panel", "protocol", "options", "max_cost", "allow_keys")
#: Settings of a provider that promptfoo itself sets or uses.
PROMPTFOO_SETTINGS = ("basePath", "workers", "timeout", "pythonExecutable", "linkedTargetId")
DEFAULT_SCALE = (1, 5)  # scale of a provider that asks judges


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grade an output by a panel's answers about it.

    Parameters
    ----------
    output : str
        The graded output (not used: the panel has judged it already).
    context : mapping
        promptfoo's context. ``votes`` in ``vars``, or else in the assertion's ``config``, is a mapping of judges to
        labels or scores, or a list of labels or scores. ``config`` may have ``threshold`` (default 0.5; for scores the
        middle of the scale), and ``levels``, ``positive``, ``scale``, ``fit`` and ``prob`` of :func:`.panel.verdict`.

    Returns
    -------
    dict
        promptfoo's grading result: pass (the value is at least the threshold), score (the probability, or the relative
        position on the scale, 0 to 1), reason, namedScores (panel, and with an interval panel_low, panel_high).

    Raises
    ------
    InputError
        There are no votes, or a setting or a vote is invalid.

    Examples
    --------
    >>> found = get_assert("4", {"vars": {"votes": {"ann": "pass", "bob": "pass", "cem": "fail"}}})
    >>> found["pass"], round(found["score"], 1), found["reason"][:16]
    (True, 0.6, 'panel of 3: 0.60')
    """
    config, variables = (context.get(key) or {} for key in ("config", "vars"))
    _check_known(config, ("threshold", "votes", *VERDICT_SETTINGS))
    graded = _grade_votes(variables.get("votes", config.get("votes")), config)
    low, high = graded["scale"]
    interval_scores = {f"panel_{bound}": graded[bound] for bound in ("low", "high") if graded[bound] is not None}
    interval = (
        f" ({100 * graded['prob']:g}% interval {graded['low']:.2f} to {graded['high']:.2f})" if interval_scores else ""
    )
    return {
        "pass": graded["value"] >= graded["threshold"],
        "score": (graded["value"] - low) / (high - low),
        "reason": f"panel of {graded['judges']}: {graded['value']:.2f}{interval}, threshold {graded['threshold']:g}",
        "namedScores": {"panel": graded["value"]} | interval_scores,
    }


def call_api(prompt: str, options: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return a panel's verdict as the output of a provider, from given votes or by asking judges.

    Parameters
    ----------
    prompt : str
        The text to score, if judges are asked.
    options : mapping
        promptfoo's options. ``config`` has ``votes`` (see :func:`get_assert`; ``votes`` in the context's ``vars`` take
        precedence), or ``panel``: the file (relative to promptfoo's ``basePath``) or mapping of
        :func:`voirdire.collect.collect`, with ``protocol`` (one that gives scores; default vanilla), its ``options``,
        ``max_cost`` (of one call) and ``allow_keys``. For ``scale`` (default 1 to 5), ``threshold`` and other settings
        see :func:`get_assert`. ``source`` in ``vars`` may give the background of the text.
    context : mapping
        promptfoo's context.

    Returns
    -------
    dict
        promptfoo's provider response. output: pass, panel (a probability, or a score), panel_low, panel_high (None
        without an interval), prob, answers (by judge). If judges were asked: tokenUsage (total, prompt, completion,
        numRequests), cost (in the currency of the panel's prices), metadata (missing: judges without an answer). For
        invalid settings, or without any answer: error.

    Examples
    --------
    >>> found = call_api("4", {}, {"vars": {"votes": {"ann": "pass", "bob": "pass", "cem": "fail"}}})["output"]
    >>> found["pass"], round(found["panel"], 1), found["answers"]["cem"]
    (True, 0.6, 'fail')
    """
    config, variables = options.get("config") or {}, context.get("vars") or {}
    try:
        _check_known(config, ("threshold", "votes", *VERDICT_SETTINGS, *ASKING_SETTINGS, *PROMPTFOO_SETTINGS))
        votes = variables.get("votes", config.get("votes"))
        if votes is None and "panel" in config:
            return _ask_judges(prompt, config, variables)
        return {"output": _provider_output(votes, _grade_votes(votes, config))}
    except InputError as error:
        return {"error": str(error)}


def _ask_judges(prompt: str, config: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Ask judges, and return the provider response."""
    import pandas as pd

    from voirdire.collect.run import collect

    panel = config["panel"]
    if isinstance(panel, str):
        panel = Path(config.get("basePath", ""), panel)
    low, high = scale = tuple(config.get("scale") or DEFAULT_SCALE)
    source = {"source": [str(variables["source"])]} if "source" in variables else {}
    with tempfile.TemporaryDirectory() as folder:
        run = collect(
            panel,
            pd.DataFrame({"id": ["prompt"], "text": [prompt], **source}),
            config.get("protocol", "vanilla"),
            Path(folder, "run"),
            options={**config.get("options", {}), "low": low, "high": high},
            max_cost=config.get("max_cost"),
            allow_keys=tuple(config.get("allow_keys", ())),
        )
        votes = _mean_scores(run.folder) if run.tables.get("scores") else {}
    tokens_in, tokens_out = int(run.total("tokens_in")), int(run.total("tokens_out"))
    usage = {"prompt": tokens_in, "completion": tokens_out, "numRequests": int(run.total("requests"))}
    costs = {
        "tokenUsage": {"total": tokens_in + tokens_out, **usage},
        "cost": run.total("cost"),
        "metadata": {"missing": [row["judge"] for row in run.judges if row["judge"] not in votes]},
    }
    if not votes:
        return {"error": f"no judge answered{f': {run.stopped}' if run.stopped else ''}", **costs}
    return {"output": _provider_output(votes, _grade_votes(votes, {**config, "scale": scale})), **costs}


def _mean_scores(folder: Path) -> dict[str, float]:
    """Return the mean score of each judge of a run."""
    import pandas as pd

    from voirdire.tables.problems import Problems
    from voirdire.tables.read import read_columns

    table = pd.DataFrame(read_columns(folder, ["judge", "score"], [], Problems("scores")))
    means = table.astype({"score": float}).groupby("judge")["score"].mean()
    return {str(name): float(mean) for name, mean in means.items()}


def _provider_output(votes: Any, graded: Mapping[str, Any]) -> dict[str, Any]:
    judges = votes if isinstance(votes, Mapping) else [f"judge {number}" for number in range(1, len(votes) + 1)]
    answers = votes.values() if isinstance(votes, Mapping) else votes
    return {
        "pass": graded["value"] >= graded["threshold"],
        "panel": graded["value"],
        "panel_low": graded["low"],
        "panel_high": graded["high"],
        "prob": graded["prob"],
        "answers": dict(zip(judges, answers, strict=True)),
    }


def _grade_votes(votes: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict on votes, with its scale and threshold."""
    if isinstance(votes, str) or not isinstance(votes, Mapping | Sequence):
        raise InputError(f"votes are {votes!r}; give vars or config a mapping of judges to labels or scores")
    result = verdict(votes, **{key: config[key] for key in VERDICT_SETTINGS if key in config})
    low, high = config.get("scale") or (0.0, 1.0)
    threshold = config.get("threshold", 0.5 * (low + high))
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not low <= threshold <= high:
        raise InputError(f"threshold {threshold!r} is not between {low:g} and {high:g}")
    return result | {"scale": (low, high), "threshold": threshold}


def _check_known(config: Mapping[str, Any], known: Sequence[str]) -> None:
    if unknown := sorted({*config} - {*known}):
        raise InputError(f"config has {', '.join(map(repr, unknown))}; it may have {', '.join(known)}")
