"""Simulation studies: a TOML file specifies simulation, fits and measures; the runner executes it."""

from voirdire_studies.runner import StudyResult, run_study
from voirdire_studies.study import Study, load_study, study_names

__all__ = ["Study", "StudyResult", "load_study", "run_study", "study_names"]
