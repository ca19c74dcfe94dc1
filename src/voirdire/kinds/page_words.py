"""Words of report pages that differ by kind of data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageWords:
    """Words of pages about fits of one kind of data.

    Attributes
    ----------
    reliability : str
        Caption of the figure of the judges' reliability.
    judges : str
        Note below the table of judges.
    people : str
        Noun for people's answers, at the beginning of a sentence.
    doubt : str
        Possible error that the check of orientation found.
    twin, turned, prior : str
        Words for the mirrored mode: a heading, the change of a draw, and the argument of the prior.
    agreement : str
        Heading of the figure of agreement between judges.
    shares, told, whose : str
        Words of the posterior predictive check: caption of the shares, noun for their rows, and their owners.
    binned, probability, seen : str
        Words of calibration: caption, axis of probabilities, and note for methods without draws.
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
    "Probability of choosing the better item, averaged over both positions: 0.5 is chance. Grey diamonds: not clearly "
    "different from chance; red triangles: below it, used reversed.",
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
    "Probability of giving the better of a typical pair the higher score: 0.5 is chance. Grey diamonds: not clearly "
    "different from chance; red triangles: below it.",
    "“right” is the probability of giving the better of a typical pair the higher score, ties counted half. "
    "Severity is on the scale of the items' scores: a judge one unit more severe sees every item one unit lower.",
    people="Scores that people gave to some items",
    shares="Share of each level among a judge's scores, one column per level, on the same scale",
    binned="Scores in ten bins by the probability of exceeding a level that all other scores give them, each score "
    "once for every level but the highest, and the share that did (95% intervals). On the diagonal, "
    "probabilities mean what they say.",
    probability="probability of exceeding a level by the other scores",
    seen=" Method {method!r} has no draws, so scores cannot be left out: the fit has seen them all.",
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
    agreement="Who agrees with whom in votes",
)
LABELS = PageWords(
    "Probability of the right label, averaged over the classes; the dashed line is chance. Grey diamonds: "
    "not clearly different from chance; red triangles: below it.",
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
