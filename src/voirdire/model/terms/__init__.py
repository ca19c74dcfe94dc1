"""The mathematics, one idea per file; model files name terms by their ``kind``."""

from voirdire.model.terms.confusion import (
    Alike,
    ByItem,
    Confusion,
    JudgeConfusion,
    LatentValue,
    OneCoinLabel,
    PooledConfusion,
    SeparateConfusion,
    Shares,
)
from voirdire.model.terms.cutpoints import Cutpoints, JudgeCutpoints, SharedCutpoints
from voirdire.model.terms.discrimination import (
    Discrimination,
    DiscriminationPosition,
    Linked,
    LinkedDiscrimination,
    LinkedPosition,
    PooledDiscrimination,
    PooledDiscriminationPosition,
)
from voirdire.model.terms.family_labels import FamilyConfusion
from voirdire.model.terms.one_coin import Fixed, OneCoin, OneCoinByCriterion, PooledOneCoin
from voirdire.model.terms.person import (
    NoisyPerson,
    NormalPerson,
    Person,
    PersonAsJudge,
    ScoringPeople,
    ScoringPerson,
)
from voirdire.model.terms.raters import (
    AlikeRaters,
    JudgeItem,
    JudgeItemEffect,
    RaterDiscrimination,
    RaterNoise,
    RaterNoiseByCriterion,
    Raters,
)
from voirdire.model.terms.reliability import Reliability
from voirdire.model.terms.severity import Severity, SeverityByCriterion
from voirdire.model.terms.shared_errors import JudgeCutpointsOfLabels, SharedConfusion, SharedErrors
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
from voirdire.model.terms.ties import (
    Davidson,
    DavidsonByContext,
    DavidsonByJudge,
    LearnedDavidsonByJudge,
    Ties,
)
from voirdire.model.terms.two_coin import PooledTwoCoin, TwoCoin

JOINT_STRENGTH: dict[str, NormalStrength | LearnedStrength] = {  # of items with votes and scores
    term.kind: term for term in (NormalStrength(), LearnedStrength())
}
STRENGTH: dict[str, NormalStrength | LearnedStrength] = JOINT_STRENGTH | {
    term.kind: term for term in (LearnedScale(), DividedStrength())
}
SCORE_STRENGTH = {
    term.kind: term
    for term in (
        NormalStrength(),
        LearnedStrength(),
        LearnedScale(),
        SharedStrength(),
        LearnedScaleLevel(),
        SharedStrengthLevel(),
        LevelStrength(),
    )
}
_LINKED = (Linked(), LinkedDiscrimination(), LinkedPosition())  # of judges who vote and score
LINKED = {term.kind: term for term in _LINKED}
RELIABILITY: dict[str, Reliability] = {
    term.kind: term
    for term in (
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
        *_LINKED,
    )
}
TIES: dict[str, Ties] = {
    term.kind: term for term in (Davidson(), DavidsonByJudge(), LearnedDavidsonByJudge(), DavidsonByContext())
}
ANCHORS: dict[str, Person] = {term.kind: term for term in (Person(), NormalPerson())}
SCORE_ANCHORS: dict[str, ScoringPeople] = {
    term.kind: term for term in (PersonAsJudge(), ScoringPerson(), NoisyPerson())
}
RANKING_ANCHORS = {PanelError.kind: PanelError()}
WEIGHTS = {term.kind: term for term in (VotedWeights(), UniformWeights())}
CLASSES = {term.kind: term for term in (Shares(), ByItem(), LatentValue())}
MATRICES: dict[str, Confusion] = {
    term.kind: term
    for term in (Alike(), PooledConfusion(), SeparateConfusion(), JudgeConfusion(), OneCoinLabel())
}
SHARED_ERRORS: dict[str, SharedErrors] = {
    term.kind: term for term in (SharedConfusion(), FamilyConfusion(), JudgeCutpointsOfLabels())
}
CONFUSION: dict[str, Confusion | SharedErrors] = {**MATRICES, **SHARED_ERRORS}
CUTPOINTS: dict[str, Cutpoints] = {term.kind: term for term in (SharedCutpoints(), JudgeCutpoints())}
RATERS: dict[str, Raters] = {
    term.kind: term
    for term in (AlikeRaters(), RaterDiscrimination(), RaterNoise(), RaterNoiseByCriterion(), *_LINKED)
}
SEVERITY: dict[str, Severity] = {term.kind: term for term in (Severity(), SeverityByCriterion())}
REPEATS = {term.kind: term for term in (JudgeItem(), JudgeItemEffect())}
CONTEXT = {ItemContext.kind: ItemContext()}
TASTE: dict[str, JudgeTaste] = {term.kind: term for term in (JudgeTaste(), JudgeTasteEach())}
FAMILIES = {FamilyItem.kind: FamilyItem()}
