"""Wording of report pages that differs by kind of data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageWords:
    """Words of pages about fits of one kind of data.

    Attributes
    ----------
    reliability : str
        How to read the figure of the judges' reliability.
    judges : str
        What stands below the table of judges.
    people : str
        What people gave, at the beginning of a sentence.
    doubt : str
        What the check of orientation doubts.
    twin, turned, prior : str
        The posterior's mirrored twin: a heading, what is done to a draw, and that as the argument of the prior.
    agreement : str
        Heading of the figure of who agrees with whom.
    shares, told, whose : str
        Of the posterior predictive check: which shares are shown, what they are of, whose they are.
    binned, probability, seen : str
        Of calibration: what is shown, the axis of probabilities, and what to say where a method has no draws.
    """

    reliability: str
    judges: str
    people: str = "Answers of people to some comparisons"
    doubt: str = "the panel may be wrong as a whole"
    twin: str = "The panel turned round"
    turned: str = "every strength reversed"
    prior: str = "reversed"
    agreement: str = "Who agrees with whom"
    shares: str = ""
    told: str = "shares"
    whose: str = "judges"
    binned: str = ""
    probability: str = ""
    seen: str = ""


VOTES = PageWords(
    "Probability of answering as the comparison came out, averaged over both positions: 0.5 is chance. Grey "
    "diamonds: not told from chance; red triangles: below it, used reversed.",
    "“right”, “picks first” and “ties” are what a judge does on a typical pair, two items drawn at random. "
    "Position bias runs from \u22120.5 (always the second) to 0.5 (always the first).",
    shares="Share of wins of every item (a tie counts half)",
    told="items",
    whose="items",
    binned="Votes in ten bins by the probability that the fit gives them, and the share that came out (95% "
    "intervals). On the diagonal, probabilities mean what they say; these are the votes that were fitted.",
    probability="predicted probability of “first” or “second”",
)
SCORES = PageWords(
    "Probability of giving the better of a typical pair the higher score: 0.5 is chance. Grey diamonds: not "
    "told from chance; red triangles: below it.",
    "“right” is the probability of giving the better of a typical pair the higher score, ties counted half. "
    "Severity is on the scale of the items' scores: a judge one unit more severe sees every item one unit lower.",
    people="Scores that people gave to some items",
    shares="Share of each level among a judge's scores, one column per level, on the same scale",
    binned="Scores in ten bins by the probability of exceeding a level that all other scores give them, each score "
    "once for every level but the highest, and the share that did (95% intervals). On the diagonal, "
    "probabilities mean what they say.",
    probability="probability of exceeding a level by the other scores",
    seen=" Method {method!r} has no draws to leave a score out with: here it has seen them all.",
)
RANKINGS = PageWords(
    "Probability of ranking the better of two items above the worse, over all pairs: 0.5 is chance. Grey "
    "diamonds: not told from chance.",
    "“p right” is the probability of ranking the better of two items above the worse, over all pairs of items; "
    "judges differ in it by their tastes.",
)
JOINT = PageWords(
    "Probability of choosing the better of a typical pair in a vote: 0.5 is chance. Grey diamonds: not told "
    "from chance.",
    "Reliability is the probability of choosing the better of a typical pair in a vote, “p right score” that "
    "of giving it the higher score; both follow from the discrimination that a judge's votes and scores share.",
    agreement="Who agrees with whom in votes",
)
LABELS = PageWords(
    "Probability of the right label, averaged over the classes; the dashed line is chance. Grey diamonds: "
    "not told from chance; red triangles: below it.",
    "Reliability is the probability of the right label, averaged over the classes with equal weights; "
    "accuracy weighs them by how common they are.",
    people="Labels that people gave to some items",
    doubt="the names of classes may be exchanged",
    twin="The classes renamed",
    turned="classes under each other's names",
    prior="renamed",
    shares="Share of each label among those a judge gave, one column per label, on the same scale",
    binned="Labels in ten bins by the probability that the other judges' labels of the item give them, and the "
    "share that was given (95% intervals). On the diagonal, probabilities mean what they say.",
    probability="probability of a label by the other judges' labels",
)
