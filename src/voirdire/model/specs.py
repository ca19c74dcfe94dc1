"""Search and validation of model files, which hold all numbers of priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.model.priors import Priors, changes_by_section
from voirdire.model.term_rows import TermRow, read_rows
from voirdire.model.terms import (
    ANCHORS,
    CLASSES,
    CONFUSION,
    CONTEXT,
    CUTPOINTS,
    FAMILIES,
    JOINT_STRENGTH,
    LINKED,
    RANKING_ANCHORS,
    RATERS,
    RELIABILITY,
    REPEATS,
    SCORE_ANCHORS,
    SCORE_STRENGTH,
    SEVERITY,
    STRENGTH,
    TASTE,
    TIES,
    WEIGHTS,
)
from voirdire.model.terms.cutpoints import Severity, SharedCutpoints
from voirdire.model.terms.strength import LearnedScale, LearnedStrength, SharedStrength
from voirdire.model.terms.structure import JudgeTaste
from voirdire.settings import (
    ANY,
    TEXT,
    Rule,
    choice_rule,
    find_faults,
    is_number,
    read_toml,
    unknown_name_message,
    unknown_value_message,
)


@dataclass(frozen=True)
class Grammar:
    """Sections and terms that are valid in a model file for a kind of data.

    Attributes
    ----------
    data : str
        The kind of data.
    sections : dict
        Sections, with the valid terms of each.
    needed : tuple of str
        Required sections.
    collapses : bool
        True where criteria may be collapsed; otherwise, for votes and scores, they are separate.
    weighs : bool
        True where separate criteria need a section of weights.
    terms : bool
        True where terms outside the sections are valid.
    """

    data: str
    sections: dict[str, Mapping[str, Any]]
    needed: tuple[str, ...]
    collapses: bool = True
    weighs: bool = False
    terms: bool = False


#: Kinds of strengths that are not valid in models of votes alone.
_SCORE_STRENGTHS = (LearnedStrength.kind, SharedStrength.kind)
_GRAMMARS = (
    Grammar(
        "votes",
        {
            "strength": {name: term for name, term in STRENGTH.items() if name not in _SCORE_STRENGTHS},
            "reliability": {name: term for name, term in RELIABILITY.items() if name not in LINKED},
            "ties": TIES,
            "weights": WEIGHTS,
            "anchors": ANCHORS,
            "context": CONTEXT,
            "taste": {JudgeTaste.kind: TASTE[JudgeTaste.kind]},
        },
        ("strength", "reliability"),
        weighs=True,
        terms=True,
    ),
    Grammar("labels", {"classes": CLASSES, "reliability": CONFUSION}, ("classes", "reliability")),
    Grammar(
        "scores",
        {
            "strength": SCORE_STRENGTH,
            "severity": SEVERITY,
            "cutpoints": CUTPOINTS,
            "reliability": {name: term for name, term in RATERS.items() if name not in LINKED},
            "repeats": REPEATS,
            "weights": WEIGHTS,
            "anchors": SCORE_ANCHORS,
            "context": CONTEXT,
            "taste": TASTE,
            "families": FAMILIES,
        },
        ("strength", "reliability", "weights"),
        terms=True,
    ),
    Grammar(
        "rankings",
        {
            "strength": {LearnedScale.kind: STRENGTH[LearnedScale.kind]},
            "context": CONTEXT,
            "taste": {JudgeTaste.kind: TASTE[JudgeTaste.kind]},
            "weights": WEIGHTS,
            "anchors": RANKING_ANCHORS,
        },
        ("strength",),
        collapses=False,
        terms=True,
    ),
    Grammar(
        "joint",
        {
            "strength": JOINT_STRENGTH,
            "severity": {Severity.kind: SEVERITY[Severity.kind]},
            "cutpoints": {SharedCutpoints.kind: CUTPOINTS[SharedCutpoints.kind]},
            "reliability": LINKED,
            "ties": TIES,
            "repeats": REPEATS,
            "weights": WEIGHTS,
            "anchors": ANCHORS,
            "context": CONTEXT,
            "taste": {JudgeTaste.kind: TASTE[JudgeTaste.kind]},
        },
        ("strength", "severity", "cutpoints", "reliability", "weights"),
        collapses=False,
    ),
)
GRAMMARS = {grammar.data: grammar for grammar in _GRAMMARS}
SECTIONS = {data: grammar.sections for data, grammar in GRAMMARS.items()}
SECTION_NAMES = tuple(dict.fromkeys(name for sections in SECTIONS.values() for name in sections))
_MAX_NUMBER = 1e300  # TOML knows infinity, nan and integers beyond any float
_MUST_BE = "{key} must be {words}, not {value!r}"
_NUMBER_RULE = Rule("a number", lambda v: is_number(v) and -_MAX_NUMBER < v < _MAX_NUMBER, _MUST_BE)
# Rules for numbers of a prior, by the word in the terms' ``keys``.
_NUMBER_RULES = {
    "number": _NUMBER_RULE,
    "positive": Rule("positive", lambda v: v > 0, _MUST_BE, _NUMBER_RULE),
    "share": Rule("from 0 to below 0.5", lambda v: 0 <= v < 0.5, _MUST_BE, _NUMBER_RULE),
}
_TEXT_RULES = dict.fromkeys(
    ("name", "title", "data", "criteria", "equation", "identifiability", "source"), replace(TEXT, says=_MUST_BE)
)
_REDUCTIONS_RULE = Rule(
    "a list of tables",
    lambda v: isinstance(v, list) and all(_is_reduction(entry) for entry in v),
    "each [[reduces_to]] needs exactly 'model' and 'when', both text",
)
_TOP_LEVEL_RULES = _TEXT_RULES | {
    "data": replace(choice_rule(SECTIONS), base=_TEXT_RULES["data"]),
    "criteria": replace(choice_rule(("collapse", "separate")), base=_TEXT_RULES["criteria"]),
    "pool": choice_rule(("none", "majority", "mean", "median")),
    "reduces_to": _REDUCTIONS_RULE,
    "term": ANY,
}


@dataclass(frozen=True)
class Section:
    """One term of a model: its ``kind`` (a name in :mod:`voirdire.model.terms`) and its prior's numbers."""

    kind: str
    prior: tuple[tuple[str, float], ...] = ()

    @property
    def numbers(self) -> dict[str, float]:
        """The prior's numbers by key."""
        return dict(self.prior)


ABSENT_SECTION = Section("absent")  # replaces a term that a kind of data does not have


@dataclass(frozen=True)
class Reduction:
    """A special case of a model: the simpler ``model``, and ``when`` it applies."""

    model: str
    when: str


@dataclass(frozen=True)
class Model:
    """A validated model file; CONTRIBUTING.md explains how to write one."""

    name: str
    title: str
    data: str
    criteria: str
    equation: str
    identifiability: str
    source: str
    strength: Section = ABSENT_SECTION
    reliability: Section = ABSENT_SECTION
    ties: Section | None = None
    weights: Section | None = None
    anchors: Section | None = None
    classes: Section | None = None
    severity: Section | None = None
    cutpoints: Section | None = None
    repeats: Section | None = None
    context: Section | None = None
    taste: Section | None = None
    families: Section | None = None
    pool: str = "none"
    reduces_to: tuple[Reduction, ...] = ()
    terms: tuple[TermRow, ...] = ()
    overrides: tuple[tuple[str, str, float], ...] = field(default=())

    @property
    def sections(self) -> dict[str, Section]:
        """Terms of the model, by section."""
        by_name = {name: getattr(self, name) for name in SECTION_NAMES}
        return {name: section for name, section in by_name.items() if section not in (None, ABSENT_SECTION)}

    @property
    def position_aware(self) -> bool:
        """True if the model has position effects of judges."""
        return self.reliability.kind in RELIABILITY and RELIABILITY[self.reliability.kind].position_aware

    @property
    def compares(self) -> bool:
        """True if answers, or some of them, are comparisons."""
        return "ties" in SECTIONS[self.data]

    @property
    def refuses_ties(self) -> bool:
        """True if answers of its kind can be ties, and the model has no term for them."""
        return self.compares and self.ties is None

    def part(self, data: str) -> Model:
        """Part of a model of votes and scores for one of these kinds of data.

        Examples
        --------
        >>> list(load_model("joint-severity").part("votes").sections)
        ['strength', 'reliability', 'ties', 'weights', 'anchors']
        """
        absent = dict.fromkeys(name for name in SECTION_NAMES if name not in SECTIONS[data])
        return replace(self, data=data, **absent)  # type: ignore[arg-type]

    def with_priors(self, priors: Priors | None) -> Model:
        """Return the model with some numbers of its prior changed.

        Parameters
        ----------
        priors : mapping or None
            By section, ``{"reliability": {"a": 8}}``, or under flat names, ``{"reliability.a": 8}``.

        Raises
        ------
        InputError
            A section or a key that the model does not have, or a number outside its range.

        Examples
        --------
        >>> load_model("crowd-bt").with_priors({"reliability.a": 8}).reliability.numbers["a"]
        8
        """
        if not priors:
            return self
        if not isinstance(priors, Mapping):
            raise InputError(f"priors {priors!r} is no mapping; write {{'strength.sd': 2}}")
        numbers = {name: tuple(section.numbers) for name, section in self.sections.items()}
        changes, problems = changes_by_section(priors, numbers, self.name)
        changed: Model = self
        for name, new in changes.items():
            section = self.sections[name]
            merged = section.numbers | new
            problems += _check_numbers(f"priors: {name}", SECTIONS[self.data][name][section.kind], merged)
            if not problems:
                changed = replace(
                    changed,
                    **{name: Section(section.kind, tuple(sorted(merged.items())))},  # type: ignore[arg-type]
                    overrides=(*changed.overrides, *((name, key, float(v)) for key, v in new.items())),
                )
        if problems:
            raise InputError(problems)
        return changed


def specification_folder(kind: str) -> Path:
    """Folder of the ``models`` or ``simulations`` files: in the package, otherwise beside ``src``.

    Raises
    ------
    FileNotFoundError
        Neither folder exists; the message names both.
    """
    packaged = Path(str(resources.files("voirdire"))) / "_specs" / kind
    source = Path(__file__).resolve().parents[3] / kind
    for folder in (packaged, source):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"no folder of {kind}: looked in {packaged} and {source}; reinstall voirdire")


def model_names() -> list[str]:
    """Names of the models that ship with the package, sorted."""
    return sorted(path.stem for path in specification_folder("models").glob("*.toml"))


def load_model(model: str | Path | Model) -> Model:
    """Find and validate a model.

    Parameters
    ----------
    model : str, path or Model
        A shipped model's name, or the path of a model file (ending in ``.toml``). A Model is returned as it is.

    Raises
    ------
    InputError
        Unknown name (the nearest is suggested), unreadable file, or faults in the file, all listed at once.

    Examples
    --------
    >>> load_model("crowd-bt").reliability.kind
    'one-coin'
    """
    if isinstance(model, Model):
        return model
    if str(model).endswith(".toml"):
        return _read_model(Path(model))
    names = model_names()
    name = str(model)
    if any(mark in name for mark in "/\\."):
        raise InputError(f"model {name!r} is no model's name, and a model file's name ends in .toml")
    if name not in names:
        raise InputError(unknown_name_message("model", name, names))
    return _read_model(specification_folder("models") / f"{name}.toml")


def _read_model(path: Path) -> Model:
    content = read_toml(path, "model file")
    problems = [f"model file {path}: {problem}" for problem in _model_problems(content)]
    if problems:
        raise InputError(problems)
    parsed = {name: _read_section(content.get(name)) for name in SECTIONS[content["data"]]}
    sections = {name: section for name, section in parsed.items() if section is not None}
    texts = {key: content[key].strip() for key in _TEXT_RULES}
    reductions = tuple(Reduction(**entry) for entry in content.get("reduces_to", []))
    terms, _ = read_rows(content.get("term", []))
    pool = content.get("pool", "none")
    return Model(**texts, **sections, pool=pool, reduces_to=reductions, terms=terms)  # type: ignore[arg-type]


def _read_section(content: dict[str, Any] | str | None) -> Section | None:
    if content is None or isinstance(content, str):
        return None
    numbers = {key: float(value) for key, value in content.items() if key != "kind"}
    return Section(content["kind"], tuple(sorted(numbers.items())))


def _model_problems(content: dict[str, Any]) -> list[str]:
    data = content["data"] if content.get("data") in list(SECTIONS) else "votes"
    grammar = GRAMMARS[data]
    kinds = grammar.sections
    rules = _TOP_LEVEL_RULES | dict.fromkeys(kinds, ANY)
    problems = [fault for _, fault in find_faults(content, rules, (*_TEXT_RULES, *grammar.needed))]
    if "ties" in kinds and "ties" not in content:
        problems.append("'ties' is missing: a [ties] section, or ties = \"refuse\"")
    for name, terms in kinds.items():
        section = content.get(name)
        if section is None or (name == "ties" and section == "refuse"):
            continue
        if not isinstance(section, dict) or "kind" not in section:
            problems.append(f"[{name}] needs a 'kind', one of {', '.join(terms)}")
        elif not isinstance(section["kind"], str) or section["kind"] not in terms:
            problems.append(unknown_value_message(f"[{name}] kind", section["kind"], terms))
        else:
            numbers = {key: value for key, value in section.items() if key != "kind"}
            problems += _check_numbers(f"[{name}]", terms[section["kind"]], numbers)
    if "term" in content:
        problems += read_rows(content["term"])[1]
        if not grammar.terms:
            problems.append(f"models of {data} take no [[term]]")
    if not grammar.collapses and content.get("criteria") == "collapse":
        problems.append(f"models of {content['data']} keep criteria = 'separate'")
    elif content.get("criteria") == "collapse" and "weights" in content:
        problems.append("[weights] needs criteria = 'separate'")
    if grammar.weighs and content.get("criteria") == "separate" and "weights" not in content:
        problems.append("criteria = 'separate' needs a [weights] section")
    return problems


def _is_reduction(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and set(entry) == {"model", "when"}
        and all(isinstance(text, str) for text in entry.values())
    )


def _check_numbers(place: str, term: Any, numbers: Mapping[str, Any]) -> list[str]:
    takes = f"{term.kind} takes {', '.join(term.keys) or 'none'}"
    rules = {key: _NUMBER_RULES[rule] for key, rule in term.keys.items()}
    faults = [fault for _, fault in find_faults(numbers, rules, unknown=f"has no key {{key!r}}{{near}}; {takes}")]
    missing = {key: rule.removesuffix("number") for key, rule in term.keys.items() if key not in numbers}
    faults += [f"needs {key!r}, a {f'{rule} number'.strip()}" for key, rule in missing.items()]
    return [f"{place} {fault}" for fault in faults]
