"""Bayesian aggregation of judge panels: ranking of items, reliability of judges, weights of criteria, uncertainty.

Examples
--------
>>> import pandas as pd
>>> import voirdire
>>> table = {"judge": ["ann", "bob"] * 2, "first": "x", "second": "y", "winner": ["x", "x", "first", "y"]}
>>> voirdire.fit(pd.DataFrame(table), model="crowd-bt").ranking()["item"].tolist()
['x', 'y']
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

TYPE_CHECKING = False  # as in typing; importing typing would delay the handling of signals by a tenth
if TYPE_CHECKING:
    from typing import Any

    from voirdire import collect, datasets
    from voirdire.agreement.correlation.verb import metaeval
    from voirdire.agreement.verb import agreement
    from voirdire.decide.audit import audit
    from voirdire.decide.gate import gate
    from voirdire.decide.rate import rate
    from voirdire.errors import InputError
    from voirdire.fit.crossval import cross_validate
    from voirdire.fit.store import load
    from voirdire.fit.verb import fit
    from voirdire.kinds.fit import Fit
    from voirdire.model.catalogue import models
    from voirdire.planning.votes import plan
    from voirdire.simulate import simulate_votes
    from voirdire.tables.reading import read
    from voirdire.tables.votes import read_votes

__all__ = [
    "Fit",
    "InputError",
    "agreement",
    "audit",
    "collect",
    "covariates",
    "cross_validate",
    "datasets",
    "fit",
    "gate",
    "load",
    "metaeval",
    "models",
    "plan",
    "rate",
    "read",
    "read_votes",
    "simulate_votes",
]
__version__ = "0.1.0"

# Names imported at their first use: modules (agreement is callable), and the modules of the other names.
_SUBMODULES = ("agreement", "collect", "datasets")
_HOME_MODULES = {
    "Fit": "voirdire.kinds.fit",
    "InputError": "voirdire.errors",
    "audit": "voirdire.decide.audit",
    "cross_validate": "voirdire.fit.crossval",
    "fit": "voirdire.fit.verb",
    "gate": "voirdire.decide.gate",
    "load": "voirdire.fit.store",
    "metaeval": "voirdire.agreement.correlation.verb",
    "models": "voirdire.model.catalogue",
    "plan": "voirdire.planning.votes",
    "rate": "voirdire.decide.rate",
    "read": "voirdire.tables.reading",
    "read_votes": "voirdire.tables.votes",
    "simulate_votes": "voirdire.simulate",
}

# Modules of the verbs of a fit; the methods of the same names import them when they are called.
FIT_VERBS = {
    "accuracy": "voirdire.fit.accuracy",
    "board": "voirdire.decide.board",
    "decide": "voirdire.decide.decision",
    "escalate": "voirdire.decide.escalate",
    "export": "voirdire.report.exports",
    "next_comparisons": "voirdire.fit.next.suggest",
    "next_rankings": "voirdire.fit.next.rankings",
    "notebook": "voirdire.report.html",
    "plot": "voirdire.report.figures",
    "report": "voirdire.report.verb",
    "save": "voirdire.fit.store",
    "update": "voirdire.fit.update",
    "verdicts": "voirdire.decide.verdicts",
}


class _Package(ModuleType):
    """Module type of this package: importing the module ``voirdire.fit`` does not replace the function ``fit``."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "fit" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "covariates":
        return importlib.import_module("voirdire.tables.covariates")
    if name in _SUBMODULES:
        return importlib.import_module(f"voirdire.{name}")
    if name in _HOME_MODULES:
        value = getattr(importlib.import_module(_HOME_MODULES[name]), name)
        globals()[name] = value
        return value
    remedy = "; voirdire.read reads tables of every kind" if name.startswith("read") else ""
    raise AttributeError(f"module 'voirdire' has no attribute {name!r}{remedy}")


def __dir__() -> list[str]:
    return sorted(__all__)
