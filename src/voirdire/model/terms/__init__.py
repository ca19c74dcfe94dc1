"""Terms of models, one idea in each file; model files name terms by their ``kind``."""

from voirdire.model.terms.coins import Fixed, OneCoin, OneCoinByCriterion, PooledOneCoin, PooledTwoCoin, TwoCoin
from voirdire.model.terms.confusion import (
    Alike,
    ByItem,
    ClassShares,
    Confusion,
    JudgeConfusion,
    LatentValue,
    OneCoinLabel,
    PooledConfusion,
    SeparateConfusion,
)
from voirdire.model.terms.cutpoints import JudgeCutpoints, Severity, SeverityByCriterion, SharedCutpoints
from voirdire.model.terms.discrimination import (
    Discrimination,
    DiscriminationPosition,
    LearnedLinkedPosition,
    Linked,
    LinkedDiscrimination,
    LinkedPosition,
    PooledDiscrimination,
    PooledDiscriminationPosition,
)
from voirdire.model.terms.person import NoisyPerson, NormalPerson, Person, PersonAsJudge, ScoringPerson
from voirdire.model.terms.raters import (
    AlikeRaters,
    JudgeItem,
    JudgeItemEffect,
    RaterDiscrimination,
    RaterNoise,
    RaterNoiseByCriterion,
)
from voirdire.model.terms.shared_errors import FamilyConfusion, JudgeCutpointsOfLabels, SharedConfusion, SharedErrors
from voirdire.model.terms.strength import (
    DividedStrength,
    LearnedScale,
    LearnedScaleLevel,
    LearnedStrength,
    LevelStrength,
    NormalStrength,
    SharedStrength,
    SharedStrengthLevel,
    UniformWeights,
    VotedWeights,
)
from voirdire.model.terms.structure import FamilyItem, ItemContext, JudgeTaste, JudgeTasteEach, PanelError
from voirdire.model.terms.term import Reliability, by_kind
from voirdire.model.terms.ties import Davidson, DavidsonByContext, DavidsonByJudge, LearnedDavidsonByJudge

JOINT_STRENGTH = by_kind(NormalStrength(), LearnedStrength(), SharedStrength())  # for items with votes and scores
STRENGTH = JOINT_STRENGTH | by_kind(LearnedScale(), DividedStrength())
SCORE_STRENGTH = JOINT_STRENGTH | by_kind(LearnedScale(), LearnedScaleLevel(), SharedStrengthLevel(), LevelStrength())
LINKED: dict[str, Discrimination] = by_kind(  # for judges who vote and score
    Linked(), LinkedDiscrimination(), LinkedPosition(), LearnedLinkedPosition()
)
RELIABILITY: dict[str, Reliability] = by_kind(
    Fixed(),
    OneCoin(),
    PooledOneCoin(),
    TwoCoin(),
    PooledTwoCoin(),
    OneCoinByCriterion(),
    Discrimination(),
    DiscriminationPosition(),
    PooledDiscrimination(),
    PooledDiscriminationPosition(),
    *LINKED.values(),
)
TIES: dict[str, Davidson] = by_kind(Davidson(), DavidsonByJudge(), LearnedDavidsonByJudge(), DavidsonByContext())
ANCHORS: dict[str, Person] = by_kind(Person(), NormalPerson())
SCORE_ANCHORS: dict[str, PersonAsJudge] = by_kind(PersonAsJudge(), ScoringPerson(), NoisyPerson())
RANKING_ANCHORS = by_kind(PanelError())
WEIGHTS = by_kind(VotedWeights(), UniformWeights())
CLASSES = by_kind(ClassShares(), ByItem(), LatentValue())
MATRICES: dict[str, Confusion] = by_kind(
    Alike(), PooledConfusion(), SeparateConfusion(), JudgeConfusion(), OneCoinLabel()
)
SHARED_ERRORS: dict[str, SharedErrors] = by_kind(SharedConfusion(), FamilyConfusion(), JudgeCutpointsOfLabels())
CONFUSION: dict[str, Confusion | SharedErrors] = {**MATRICES, **SHARED_ERRORS}
CUTPOINTS: dict[str, SharedCutpoints] = by_kind(SharedCutpoints(), JudgeCutpoints())
RATERS: dict[str, AlikeRaters | RaterDiscrimination | Discrimination] = by_kind(
    AlikeRaters(), RaterDiscrimination(), RaterNoise(), RaterNoiseByCriterion(), *LINKED.values()
)
SEVERITY: dict[str, Severity] = by_kind(Severity(), SeverityByCriterion())
REPEATS = by_kind(JudgeItem(), JudgeItemEffect())
CONTEXT = by_kind(ItemContext())
TASTE: dict[str, JudgeTaste] = by_kind(JudgeTaste(), JudgeTasteEach())
FAMILIES = by_kind(FamilyItem())
