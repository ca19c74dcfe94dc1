"""Words of report pages that differ by kind of data, read from ``page_words.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class PageWords:
    """Words of pages about fits of one kind of data.

    Attributes
    ----------
    reliability_caption : str
        Caption of the figure of the judges' reliability.
    judges_note : str
        Note below the table of judges.
    people_noun : str
        Noun for people's answers, at the beginning of a sentence.
    possible_error : str
        Possible error that the check of orientation found.
    mirror_heading, mirrored_draw, prior_argument : str
        Words for the mirrored mode: a heading, the change of a draw, and the argument of the prior.
    agreement_heading : str
        Heading of the figure of agreement between judges.
    shares_caption, shares_rows, shares_owners : str
        Words of the posterior predictive check: caption of the shares, noun for their rows, and their owners.
    calibration_caption, calibration_axis, no_draws_note : str
        Words of calibration: caption, axis of probabilities, and note for methods without draws.
    """

    reliability_caption: str
    judges_note: str
    people_noun: str
    possible_error: str
    mirror_heading: str
    mirrored_draw: str
    prior_argument: str
    agreement_heading: str
    shares_caption: str
    shares_rows: str
    shares_owners: str
    calibration_caption: str
    calibration_axis: str
    no_draws_note: str


@cache
def read_page_words(kind: str) -> PageWords:
    """Read the words of pages about fits of a kind of data.

    Examples
    --------
    >>> read_page_words("rankings").prior_argument
    'reversed'
    """
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return PageWords(**texts["default"] | texts[kind])
