"""Synthetic panels: truth, judges, designs, and simulated votes and rankings."""

from voirdire.simulate.designs import design_from_spec
from voirdire.simulate.designs.base import Design
from voirdire.simulate.designs.pairs import AllPairs, GivenPairs, InContexts, Referenced, RoundRobin, SharePairs
from voirdire.simulate.judges.accuracy import Accuracy, Adversarial, AlwaysFirst, AlwaysSecond, Random
from voirdire.simulate.judges.base import Judge
from voirdire.simulate.judges.coins import BradleyTerry, Discrimination, OneCoin, TwoCoin
from voirdire.simulate.judges.mixed import Copycat, Drifting, Lazy, TieProne
from voirdire.simulate.judges.perception import CriterionBlind, Halo, VerbosityBiased
from voirdire.simulate.panel import judge_from_spec, panel_from_spec
from voirdire.simulate.rankings import RankingDesign, SimulatedRankings, simulate_rankings
from voirdire.simulate.truth import GivenTruth, NormalTruth, RanksTruth, Truth, truth_from_spec
from voirdire.simulate.votes import (
    SimulatedArrays,
    Simulation,
    VoteArrays,
    check_simulation,
    simulate_counts,
    simulate_votes,
)

__all__ = [
    "Accuracy", "Adversarial", "AllPairs", "AlwaysFirst", "AlwaysSecond", "BradleyTerry", "Copycat", "CriterionBlind",
    "Design", "Discrimination", "Drifting", "GivenPairs", "GivenTruth", "Halo", "InContexts", "Judge", "Lazy",
    "NormalTruth", "OneCoin", "Random", "RankingDesign", "RanksTruth", "Referenced", "RoundRobin", "SharePairs",
    "SimulatedArrays", "SimulatedRankings", "Simulation", "TieProne", "Truth", "TwoCoin", "VerbosityBiased",
    "VoteArrays", "check_simulation", "design_from_spec", "judge_from_spec", "panel_from_spec", "simulate_counts",
    "simulate_rankings", "simulate_votes", "truth_from_spec",
]  # fmt: skip
