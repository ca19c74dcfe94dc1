"""Changes of a model's prior: by section, or under flat names such as ``reliability.a``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from voirdire.settings import nearest_word

#: ``{"reliability": {"a": 8}}``, ``{"reliability.a": 8}``, or both forms in one mapping.
Priors: TypeAlias = Mapping[str, Mapping[str, float] | float]


def changes_by_section(
    priors: Priors, numbers: Mapping[str, Sequence[str]], model: str
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Sort the changes of a prior by section, and report names that do not exist in the model.

    Parameters
    ----------
    priors : mapping
        By section, under flat names, or both.
    numbers : mapping of str to sequence of str
        The sections of the model, and the keys of the numbers in each.
    model : str
        The model's name, for messages.

    Returns
    -------
    changes : dict of str to dict
        New numbers by section and key; keys are not checked.
    problems : list of str
        One sentence for each wrong name.

    Examples
    --------
    >>> changes_by_section({"strength.sd": 2.0, "ties": {"sd": 1.0}}, {"strength": ["sd"], "ties": ["sd"]}, "maple")
    ({'strength': {'sd': 2.0}, 'ties': {'sd': 1.0}}, [])
    >>> changes_by_section({"strengths.sd": 2.0}, {"strength": ["sd"]}, "maple")[1]
    ["priors: model maple has no section 'strengths' (did you mean 'strength'?); it has strength"]
    """
    changes: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for name, value in priors.items():
        section, dot, key = str(name).partition(".")
        if section not in numbers and (dot or isinstance(value, Mapping)):
            sections = list(numbers)
            suggestion = nearest_word(section, sections)
            problems.append(
                f"priors: model {model} has no section {section!r}{suggestion}; it has {', '.join(sections)}"
            )
        elif section not in numbers:
            flat = [f"{entry}.{key}" for entry, keys in numbers.items() for key in keys]
            problems.append(
                f"priors: model {model} has no number {name!r}{nearest_word(str(name), flat)}; it has {', '.join(flat)}"
            )
        elif not dot and not isinstance(value, Mapping):
            problems.append(f"priors: {name} must map keys to numbers, not be {value!r}")
        elif dot and isinstance(value, Mapping):
            problems.append(f"priors: {name} must be a number, not {value!r}")
        else:
            new = {key: value} if dot else dict(value)  # type: ignore[arg-type]
            known_already = changes.setdefault(section, {})
            problems += [
                f"priors: {section}.{entry} is given twice; give it once" for entry in new if entry in known_already
            ]
            known_already |= new
    return changes, problems
