"""Names that the shell completes with the tab key (set up by ``voirdire --install-completion``)."""

from __future__ import annotations

from voirdire.cli.options import load_companion
from voirdire.model.specs import model_names


def matching_models(typed: str) -> list[str]:
    """Models whose name begins so; none where it is a file that is typed."""
    return [name for name in model_names() if name.startswith(typed)]


def matching_datasets(typed: str) -> list[str]:
    """Data sets whose name begins so."""
    from voirdire.datasets import available

    return [name for name in available() if name.startswith(typed)]


def matching_studies(typed: str) -> list[str]:
    """Studies whose name begins so."""
    return [name for name in load_companion("voirdire_studies").study_names() if name.startswith(typed)]
