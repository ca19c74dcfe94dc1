"""The class of fits of each kind of data."""

from __future__ import annotations

from voirdire.kinds.fit import Fit
from voirdire.kinds.joint import JointFit
from voirdire.kinds.labels.fit import LabelsFit
from voirdire.kinds.rankings.fit import RankingsFit
from voirdire.kinds.scores.fit import ScoresFit
from voirdire.kinds.votes.fit import VotesFit

FITS: dict[str, type[Fit]] = {
    made.kind.name: made for made in (VotesFit, LabelsFit, ScoresFit, RankingsFit, JointFit)
}
