"""The packages beside this one, of studies and of published numbers: only the verbs of their own need them."""

from __future__ import annotations

import importlib
from typing import Any

from voirdire.errors import InputError


def load_companion(module: str) -> Any:
    """A module of ``voirdire_studies`` or ``voirdire_repro``.

    Raises
    ------
    InputError
        The package is not installed.

    Examples
    --------
    >>> load_companion("voirdire_studies").load_study("rq1").kind
    'recovery'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise InputError(
            f"the package {package} is not installed; pip install voirdire brings it, as does make setup in a source "
            "tree"
        ) from None
