"""Specification of a study of truths that no model draws: checks of its file."""

from __future__ import annotations

from typing import Any

from voirdire.model.problem import PANEL, TARGET
from voirdire_studies.coverage_spec import method_problems
from voirdire_studies.truth_panels import TRUTHS


def truths_problems(settings: dict[str, Any]) -> list[str]:
    """Faults of the settings, one sentence each.

    Examples
    --------
    >>> truths_problems({"truths": ["votes-drift", "drift"], "about": ["panel"], "methods": ["laplace"]})[0][:23]
    "truths: 'drift' is none"
    """
    problems = method_problems(settings["methods"])
    for key, known in (("truths", TRUTHS), ("about", (PANEL, TARGET))):
        problems += [f"{key}: {name!r} is none of {', '.join(known)}" for name in settings[key] if name not in known]
    return problems
