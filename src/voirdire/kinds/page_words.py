"""Words of report pages that differ by kind of data."""

from __future__ import annotations

from dataclasses import dataclass


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
    people_noun: str = "Answers of people to some comparisons"
    possible_error: str = "the panel may be wrong as a whole"
    mirror_heading: str = "The panel turned round"
    mirrored_draw: str = "every strength reversed"
    prior_argument: str = "reversed"
    agreement_heading: str = "Who agrees with whom"
    shares_caption: str = ""
    shares_rows: str = "shares"
    shares_owners: str = "judges"
    calibration_caption: str = ""
    calibration_axis: str = ""
    no_draws_note: str = ""


VOTES = PageWords(
    "Probability of choosing the better item, averaged over both positions: 0.5 is chance. Grey diamonds: not clearly "
    "different from chance; red triangles: below it, used reversed.",
    "“right”, “picks first” and “ties” are what a judge does on a typical pair, two items drawn at random. "
    "Position bias runs from \u22120.5 (always the second) to 0.5 (always the first).",
    shares_caption="Share of wins of every item (a tie counts half)",
    shares_rows="items",
    shares_owners="items",
    calibration_caption="Votes in ten bins by the probability that the fit gives them, and the share that came out "
    "(95% intervals). On the diagonal, probabilities mean what they say; these are the votes that were fitted.",
    calibration_axis="predicted probability of “first” or “second”",
)
SCORES = PageWords(
    "Probability of giving the better of a typical pair the higher score: 0.5 is chance. Grey diamonds: not clearly "
    "different from chance; red triangles: below it.",
    "“right” is the probability of giving the better of a typical pair the higher score, ties counted half. "
    "Severity is on the scale of the items' scores: a judge one unit more severe sees every item one unit lower.",
    people_noun="Scores that people gave to some items",
    shares_caption="Share of each level among a judge's scores, one column per level, on the same scale",
    calibration_caption="Scores in ten bins by the probability of exceeding a level that all other scores give them, "
    "each score once for every level but the highest, and the share that did (95% intervals). On the diagonal, "
    "probabilities mean what they say.",
    calibration_axis="probability of exceeding a level by the other scores",
    no_draws_note=" Method {method!r} has no draws, so scores cannot be left out: the fit has seen them all.",
)
RANKINGS = PageWords(
    "Probability of ranking the better of two items above the worse, over all pairs: 0.5 is chance. Grey "
    "diamonds: not clearly different from chance.",
    "“p right” is the probability of ranking the better of two items above the worse, over all pairs of items; "
    "judges differ in it by their tastes.",
)
JOINT = PageWords(
    "Probability of choosing the better of a typical pair in a vote: 0.5 is chance. Grey diamonds: not clearly "
    "different from chance.",
    "Reliability is the probability of choosing the better of a typical pair in a vote, “p right score” that "
    "of giving it the higher score; both follow from the discrimination that a judge's votes and scores share.",
    agreement_heading="Who agrees with whom in votes",
)
LABELS = PageWords(
    "Probability of the right label, averaged over the classes; the dashed line is chance. Grey diamonds: "
    "not clearly different from chance; red triangles: below it.",
    "Reliability is the probability of the right label, averaged over the classes with equal weights; "
    "accuracy weighs them by how common they are.",
    people_noun="Labels that people gave to some items",
    possible_error="the names of classes may be exchanged",
    mirror_heading="The classes renamed",
    mirrored_draw="classes under each other's names",
    prior_argument="renamed",
    shares_caption="Share of each label among those a judge gave, one column per label, on the same scale",
    calibration_caption="Labels in ten bins by the probability that the other judges' labels of the item give them, "
    "and the share that was given (95% intervals). On the diagonal, probabilities mean what they say.",
    calibration_axis="probability of a label by the other judges' labels",
)
