"""Study files: search, checks, and layout of cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.model.specs import load_model, specification_folder
from voirdire.settings import (
    FLAG,
    LIST,
    TABLE,
    TABLES,
    TEXT,
    Rule,
    find_faults,
    is_whole,
    read_toml,
    unknown_name_message,
)
from voirdire.simulate.designs import design_from_spec
from voirdire.simulate.panel import panel_from_spec
from voirdire.simulate.truth import truth_from_spec
from voirdire.simulate.votes import check_simulation
from voirdire_studies.audits_spec import audits_problems
from voirdire_studies.calibration_spec import calibration_problems
from voirdire_studies.coverage_spec import coverage_problems
from voirdire_studies.label_coverage_spec import label_coverage_problems
from voirdire_studies.truths_spec import truths_problems

OPTIMISERS = ("map", "laplace", "adam")
MEASURES = (
    "items",
    "items-proportional",
    "items-first",
    "items-ranked",
    "items-uniform",
    "strengths",
    "reliability",
    "criteria",
    "weight-error",
    "top-weight",
    "weights-held",
    "scores-held",
    "eta",
    "votes",
)

_MUST = "{key} is {value!r}; must be {words}"
_WHOLE = Rule("a whole number", is_whole, _MUST)
_COUNT = Rule("at least 1", lambda v: v >= 1, _MUST, _WHOLE)
_SEED = Rule("at least 0", lambda v: v >= 0, _MUST, _WHOLE)
_TEXT, _TABLE, _TABLES, _LIST, _FLAG = (replace(rule, says=_MUST) for rule in (TEXT, TABLE, TABLES, LIST, FLAG))
_COMMON = {
    "name": _TEXT, "kind": _TEXT, "title": _TEXT, "aim": _TEXT, "source": _TEXT, "seed": _SEED, "replicates": _COUNT,
}  # fmt: skip
_RECOVERY = {
    "items": _WHOLE, "criteria": _WHOLE, "batch": _COUNT, "truth": _TABLE, "models": _LIST, "optimisers": _LIST,
    "measures": _LIST, "panels": _TABLES, "designs": _TABLES, "added": _TABLES, "best_of": _TEXT,
    "adam_replicates": _WHOLE, "finding": _TEXT,
}  # fmt: skip
_CALIBRATION = {
    "models": _LIST, "methods": _TABLE, "shape": _TABLE, "ties": _FLAG, "draws": _WHOLE, "batch": _COUNT,
    "finding": _TEXT,
}  # fmt: skip
_COVERAGE = {
    "models": _LIST, "methods": _LIST, "panels": _TABLES, "drawn_from": _TEXT, "known_sd": _FLAG, "finding": _TEXT,
}  # fmt: skip
_LABELS = {"models": _LIST, "methods": _LIST, "panels": _TABLES, "finding": _TEXT}
_TRUTHS = {"truths": _LIST, "about": _LIST, "methods": _LIST, "finding": _TEXT}
_AUDITS = {"tables": _LIST, "finding": _TEXT}
_RULES = {
    "recovery": _RECOVERY,
    "calibration": _CALIBRATION,
    "coverage": _COVERAGE,
    "label-coverage": _LABELS,
    "truths": _TRUTHS,
    "audits": _AUDITS,
}
KINDS = tuple(_RULES)
_PROBLEMS = {
    "calibration": calibration_problems,
    "coverage": coverage_problems,
    "label-coverage": label_coverage_problems,
    "truths": truths_problems,
    "audits": audits_problems,
}
_OPTIONAL = {"optimisers", "added", "best_of", "adam_replicates", "drawn_from", "known_sd", "finding"}
_ENTRIES = {"panels": ("name", "judges"), "designs": ("name", "kind"), "added": ("name", "judge", "counts")}


@dataclass(frozen=True)
class Cell:
    """One cell of a recovery study: a panel (with judges added) and its truth, a design, the names that label them."""

    panel: str
    added: str
    count: int
    design: str
    judges: Any
    design_spec: Any
    truth: Any

    @property
    def labels(self) -> dict[str, Any]:
        """Labels that identify the cell in tables."""
        return {"panel": self.panel, "added": self.added, "count": self.count, "design": self.design}


@dataclass(frozen=True)
class Study:
    """A checked study file.

    Attributes
    ----------
    name, kind, title, aim, source : str
    seed, replicates : int
    settings : dict
        Further settings of the file, by kind.
    path : Path
    """

    name: str
    kind: str
    title: str
    aim: str
    source: str
    seed: int
    replicates: int
    settings: dict[str, Any]
    path: Path

    def with_replicates(self, replicates: int | None) -> Study:
        """Return the study with another number of replicates.

        Raises
        ------
        InputError
            Not a positive number.
        """
        if replicates is None:
            return self
        if replicates < 1:
            raise InputError(f"replicates {replicates}: must be at least 1")
        return replace(self, replicates=replicates)

    def study_cells(self) -> list[Cell]:
        """Lay out the cells of a recovery study: panels, then judges added to them, then designs."""
        cells = []
        for panel in self.settings["panels"]:
            for label, count, extra in self._added_judges():
                for design in self.settings["designs"]:
                    judges = [*panel["judges"], *extra]
                    spec = {key: value for key, value in design.items() if key != "name"}
                    truth = panel.get("truth", self.settings["truth"])
                    cells.append(Cell(panel["name"], label, count, design["name"], judges, spec, truth))
        return cells

    def _added_judges(self) -> list[tuple[str, int, list[Any]]]:
        additions: list[tuple[str, int, list[Any]]] = [("none", 0, [])]
        for added in self.settings.get("added", []):
            for count in added["counts"]:
                judge = {"name": added["name"], **added["judge"], "count": count}
                additions.append((added["name"], count, [judge]))
        return additions


def study_names() -> list[str]:
    """Names of the studies that ship with the package, sorted."""
    return sorted(path.parent.name for path in specification_folder("simulations").glob("*/study.toml"))


def load_study(study: str | Path) -> Study:
    """Find and check a study.

    Parameters
    ----------
    study : str or path
        A shipped study's name, or the path of a study file (ending in ``.toml``).

    Raises
    ------
    InputError
        Unknown name (the nearest is suggested), unreadable file, or any fault in it (an unknown judge kind, an
        accuracy outside [0, 1], a copycat of a judge that is not there, replicates below 1, a design that leaves
        items unconnected, ...), all named at once, before any work starts.

    Examples
    --------
    >>> load_study("rq1").kind
    'recovery'
    """
    if str(study).endswith(".toml"):
        return _read_study(Path(study))
    names = study_names()
    name = str(study)
    if name not in names:
        raise InputError(unknown_name_message("study", name, names))
    return _read_study(specification_folder("simulations") / name / "study.toml")


def _read_study(path: Path) -> Study:
    content = read_toml(path, "study file")
    problems = _shape_problems(content)
    if not problems:
        common = {key: content[key] for key in _COMMON}
        settings = {key: value for key, value in content.items() if key not in _COMMON}
        study = Study(**common, settings=settings, path=path)
        problems = _content_problems(study)
    if problems:
        raise InputError([f"study file {path}: {problem}" for problem in problems])
    return study


def _shape_problems(content: dict[str, Any]) -> list[str]:
    kind = content.get("kind")
    if kind not in KINDS:
        return [f"kind {kind!r} is none of {', '.join(KINDS)}"]
    rules = _COMMON | _RULES[kind]
    return [fault for _, fault in find_faults(content, rules, [key for key in rules if key not in _OPTIONAL])]


def _content_problems(study: Study) -> list[str]:
    problems = []
    settings = study.settings
    for model in settings.get("models", []):
        problems += _check_problems(lambda model=model: load_model(model))
    if study.kind in _PROBLEMS:
        return problems or _PROBLEMS[study.kind](settings)
    for key, known in (("measures", MEASURES), ("optimisers", OPTIMISERS)):
        for word in settings.get(key, []):
            if word not in known:
                problems.append(f"{key}: {word!r} is none of {', '.join(known)}")
    for spec in (settings["truth"], *(panel["truth"] for panel in settings["panels"] if "truth" in panel)):
        problems += _check_problems(lambda spec=spec: truth_from_spec(spec))
    for kind in _ENTRIES:
        for entry in settings.get(kind, []):
            missing = [key for key in _ENTRIES[kind] if key not in entry]
            if missing:
                problems.append(f"[[{kind}]] needs {', '.join(map(repr, missing))}")
    if problems:
        return problems
    for design in settings["designs"]:
        spec = {key: value for key, value in design.items() if key != "name"}
        problems += [
            f"design {design['name']!r}: {p}" for p in _check_problems(lambda spec=spec: design_from_spec(spec))
        ]
    for panel in settings["panels"]:
        judges = panel["judges"]
        faults = _check_problems(lambda judges=judges: panel_from_spec(judges))
        problems += [f"panel {panel['name']!r}: {problem}" for problem in faults]
        for added in settings.get("added", []) if not faults else []:
            extra = {"name": added["name"], **added["judge"], "count": 1}
            more = _check_problems(lambda judges=judges, extra=extra: panel_from_spec([*judges, extra]))
            problems += [f"added {added['name']!r} (to panel {panel['name']!r}): {problem}" for problem in more]
            if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in added["counts"]):
                problems.append(f"added {added['name']!r}: counts must be whole numbers from 1, not {added['counts']}")
    if problems:
        return problems
    for cell in study.study_cells():
        label = ", ".join(f"{key} {value}" for key, value in cell.labels.items())
        faults = _check_problems(lambda cell=cell: check_simulation(**simulation_settings(study, cell, 0)))
        problems += [f"cell ({label}): {problem}" for problem in faults]
    return problems


def simulation_settings(study: Study, cell: Cell, replicate: int) -> dict[str, Any]:
    """Return the arguments of the simulator for one replicate of one cell.

    The seed does not depend on the cell: the cells of a replicate have the same truth and the same answers of common
    judges (common random numbers), so differences between cells have smaller errors than the cells.
    """
    return {
        "panel": cell.judges,
        "items": study.settings["items"],
        "criteria": study.settings["criteria"],
        "design": cell.design_spec,
        "truth": cell.truth,
        "seed": [study.seed, replicate],
    }


def _check_problems(check: Any) -> list[str]:
    try:
        check()
    except InputError as error:
        return list(error.problems)
    return []
