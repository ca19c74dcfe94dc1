"""Study files: find, check, and lay out their cells."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.model.specs import load_model, locate
from voirdire.research.studies.calibration_spec import calibration_problems
from voirdire.simulate.designs import design_from_spec
from voirdire.simulate.panel import panel_from_spec
from voirdire.simulate.truth import truth_from_spec
from voirdire.simulate.votes import check_simulation

KINDS = ("recovery", "calibration")
OPTIMISERS = ("map", "adam")
MEASURES = (
    "items",
    "items-proportional",
    "items-first",
    "items-uniform",
    "strengths",
    "reliability",
    "criteria",
    "eta",
    "votes",
)

_COMMON = {"name": str, "kind": str, "title": str, "aim": str, "source": str, "seed": int, "replicates": int}
_RECOVERY = {
    "items": int,
    "criteria": int,
    "batch": int,
    "truth": dict,
    "models": list,
    "optimisers": list,
    "measures": list,
    "panels": list,
    "designs": list,
    "added": list,
    "best_of": str,
    "adam_replicates": int,
    "finding": str,
}
_CALIBRATION = {
    "models": list,
    "methods": dict,
    "shape": dict,
    "ties": bool,
    "draws": int,
    "batch": int,
    "finding": str,
}
_OPTIONAL = {"optimisers", "added", "best_of", "adam_replicates", "finding"}


@dataclass(frozen=True)
class Cell:
    """One cell of a recovery study: a panel (with judges added), a design, and the names that label them."""

    panel: str
    added: str
    count: int
    design: str
    judges: Any
    design_spec: Any

    @property
    def labels(self) -> dict[str, Any]:
        """What identifies the cell in tables."""
        return {"panel": self.panel, "added": self.added, "count": self.count, "design": self.design}


@dataclass(frozen=True)
class Study:
    """A checked study file.

    Attributes
    ----------
    name, kind, title, aim, source : str
    seed, replicates : int
    settings : dict
        The rest of the file, by kind.
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

    def cells(self) -> list[Cell]:
        """Lay out the cells of a recovery study: panels, then judges added to them, then designs."""
        found = []
        for panel in self.settings["panels"]:
            for label, count, extra in self._added():
                for design in self.settings["designs"]:
                    judges = [*panel["judges"], *extra]
                    spec = {key: value for key, value in design.items() if key != "name"}
                    found.append(Cell(panel["name"], label, count, design["name"], judges, spec))
        return found

    def _added(self) -> list[tuple[str, int, list[Any]]]:
        found: list[tuple[str, int, list[Any]]] = [("none", 0, [])]
        for added in self.settings.get("added", []):
            for count in added["counts"]:
                judge = {"name": added["name"], **added["judge"], "count": count}
                found.append((added["name"], count, [judge]))
        return found


def study_names() -> list[str]:
    """Names of the studies that ship with the package, sorted."""
    return sorted(path.parent.name for path in locate("simulations").glob("*/study.toml"))


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
        return _read(Path(study))
    names = study_names()
    if str(study) not in names:
        near = difflib.get_close_matches(str(study), names, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"unknown study {str(study)!r}{hint}; known: {', '.join(names)}")
    return _read(locate("simulations") / str(study) / "study.toml")


def _read(path: Path) -> Study:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"study file {path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"study file {path}: not valid TOML ({error})") from error
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
    known = _COMMON | (_RECOVERY if kind == "recovery" else _CALIBRATION)
    problems = []
    for key, value in content.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            problems.append(f"unknown key {key!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
        elif not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            problems.append(f"{key} must be of type {known[key].__name__}, not {value!r}")
    problems += [f"{key!r} is missing" for key in known if key not in content and key not in _OPTIONAL]
    return problems


def _content_problems(study: Study) -> list[str]:
    problems = []
    settings = study.settings
    for key in ("replicates", "seed"):
        least = 1 if key == "replicates" else 0
        if getattr(study, key) < least:
            problems.append(f"{key} is {getattr(study, key)}; must be at least {least}")
    if settings["batch"] < 1:
        problems.append(f"batch is {settings['batch']}; must be at least 1")
    for model in settings["models"]:
        problems += _caught(lambda model=model: load_model(model))
    if study.kind == "calibration":
        return problems + calibration_problems(settings)
    for key, known in (("measures", MEASURES), ("optimisers", OPTIMISERS)):
        for word in settings.get(key, []):
            if word not in known:
                problems.append(f"{key}: {word!r} is none of {', '.join(known)}")
    problems += _caught(lambda: truth_from_spec(settings["truth"]))
    for kind in ("panels", "designs", "added"):
        for entry in settings.get(kind, []):
            needed = {
                "panels": ("name", "judges"),
                "designs": ("name", "kind"),
                "added": ("name", "judge", "counts"),
            }
            missing = [key for key in needed[kind] if key not in entry]
            if missing:
                problems.append(f"[[{kind}]] needs {', '.join(map(repr, missing))}")
    if problems:
        return problems
    for design in settings["designs"]:
        spec = {key: value for key, value in design.items() if key != "name"}
        problems += [
            f"design {design['name']!r}: {p}" for p in _caught(lambda spec=spec: design_from_spec(spec))
        ]
    for panel in settings["panels"]:
        judges = panel["judges"]
        found = _caught(lambda judges=judges: panel_from_spec(judges))
        problems += [f"panel {panel['name']!r}: {problem}" for problem in found]
        for added in settings.get("added", []) if not found else []:
            extra = {"name": added["name"], **added["judge"], "count": 1}
            more = _caught(lambda judges=judges, extra=extra: panel_from_spec([*judges, extra]))
            problems += [
                f"added {added['name']!r} (to panel {panel['name']!r}): {problem}" for problem in more
            ]
            if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in added["counts"]):
                problems.append(
                    f"added {added['name']!r}: counts must be whole numbers from 1, not {added['counts']}"
                )
    if problems:
        return problems
    for cell in study.cells():
        label = ", ".join(f"{key} {value}" for key, value in cell.labels.items())
        found = _caught(lambda cell=cell: check_simulation(**simulation(study, cell, 0)))
        problems += [f"cell ({label}): {problem}" for problem in found]
    return problems


def simulation(study: Study, cell: Cell, replicate: int) -> dict[str, Any]:
    """Arguments of the simulator for one replicate of one cell.

    The seed does not depend on the cell: the cells of a replicate share their truth and the answers of the judges they
    share (common random numbers), which makes differences between cells sharper than the cells themselves.
    """
    return {
        "panel": cell.judges,
        "items": study.settings["items"],
        "criteria": study.settings["criteria"],
        "design": cell.design_spec,
        "truth": study.settings["truth"],
        "seed": [study.seed, replicate],
    }


def _caught(check: Any) -> list[str]:
    try:
        check()
    except InputError as error:
        return list(error.problems)
    return []
