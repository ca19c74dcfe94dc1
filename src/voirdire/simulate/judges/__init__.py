"""Synthetic judges: one file per family, one shared interface."""

from voirdire.simulate.judges.accuracy import Accuracy, Adversarial
from voirdire.simulate.judges.base import IndependentJudge, Judge
from voirdire.simulate.judges.coins import BradleyTerry, Discrimination, OneCoin, TwoCoin
from voirdire.simulate.judges.mixed import Copycat, Drifting, Lazy, TieProne
from voirdire.simulate.judges.perception import CriterionBlind, Halo, VerbosityBiased
from voirdire.simulate.judges.position import AlwaysFirst, AlwaysSecond, Random

__all__ = [
    "Accuracy",
    "Adversarial",
    "AlwaysFirst",
    "AlwaysSecond",
    "BradleyTerry",
    "Copycat",
    "CriterionBlind",
    "Discrimination",
    "Drifting",
    "Halo",
    "IndependentJudge",
    "Judge",
    "Lazy",
    "OneCoin",
    "Random",
    "TieProne",
    "TwoCoin",
    "VerbosityBiased",
]
