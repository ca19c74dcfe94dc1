"""Models: model files, their terms and log densities, and the catalogue of the models in the package."""

from __future__ import annotations

from voirdire.doors import lazy_attributes

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "COMMON": "design",
        "Check": "problem",
        "Model": "specs",
        "draw_from_prior": "prior_draws",
        "load_model": "specs",
        "model_names": "specs",
        "specification_folder": "specs",
    },
)
