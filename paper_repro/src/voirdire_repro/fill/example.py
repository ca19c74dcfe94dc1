"""Scores of the item that a paper prints as an example: those of people, and those of each part of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from voirdire_repro.fill import scores as of
from voirdire_repro.fill.filled import Filled
from voirdire_repro.job import Job

if TYPE_CHECKING:
    import pandas as pd


def fill_example(job: Job, filled: Filled, every: Mapping[str, pd.DataFrame]) -> None:
    """Fill the cells of ``[example]``.

    The item is the only one with ``text`` in its text (ignoring case); if there is none, or several, nothing is filled.
    A part's score is the mean over its judges; with ``unit`` it is rescaled to 0 to 1, as people's scores are.

    Parameters
    ----------
    every : mapping of str to DataFrame
        Scores by part.
    """
    how = job.spec.get("example")
    if how is None:
        return
    matches = job.items.loc[job.items["text"].str.contains(how["text"], case=False, regex=False), "id"]
    if len(matches) != 1:
        return
    item, criterion = matches.iloc[0], how["criterion"]
    _fill_cell(job, filled, how["people"], job.human, item)
    for part in job.spec["parts"]:
        scores = every[part["name"]]
        if "example" not in part or scores.empty:
            continue
        own = of.final_results(scores)
        if how.get("unit", False):
            (scale,) = (candidate for candidate in job.spec["scales"] if criterion in candidate["criteria"])
            own = own.assign(score=(own["score"] - scale["low"]) / (scale["high"] - scale["low"]))
        _fill_cell(job, filled, part["example"], own, item)


def _fill_cell(job: Job, filled: Filled, entry: str, scores: pd.DataFrame, item: str) -> None:
    how = job.spec["example"]
    here = scores[(scores["item"] == item) & (scores["criterion"] == how["criterion"])]
    if len(here):
        keys = {**how["keys"], how["column"]: entry}
        filled.add_figure(how["table"], **keys, value=float(here["score"].mean()))
