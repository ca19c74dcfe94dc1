"""Agreement of judges: coefficients, panels of experts and judges, correlation with people, all with intervals.

The package is callable: ``voirdire.agreement(table)`` is `voirdire.agreement.verb.agreement`. The other verbs and their
building blocks are its attributes: ``voirdire.agreement.expert_agreement(table, experts)``.

Examples
--------
>>> import pandas as pd
>>> import voirdire
>>> table = pd.DataFrame({"judge": ["e1", "e2", "gpt"] * 2, "item": [1] * 3 + [2] * 3, "label": list("yyynny")})
>>> found = voirdire.agreement.expert_agreement(table, ["e1", "e2"], resamples=100)
>>> found[["measure", "value"]].values.tolist()
[['agreement_with_majority', 0.5], ['agreement_with_any', 0.5], ['all_agree', 1.0]]
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from voirdire.agreement.coefficients.pairwise import concordance_index
from voirdire.agreement.correlation.ceiling import human_ceiling
from voirdire.agreement.correlation.compare import compare_metrics, williams_test
from voirdire.agreement.correlation.table import metric_table
from voirdire.agreement.engine.permutation import adjust
from voirdire.agreement.engine.resample import bootstrap
from voirdire.agreement.engine.resampling import Resampling
from voirdire.agreement.engine.statistic import PlainStatistic
from voirdire.agreement.experts.expert_panel import expert_agreement, leave_one_expert_out
from voirdire.agreement.experts.gates import compare_means, compare_pass_rates, gate
from voirdire.agreement.experts.paired_groups import compare_paired_means, compare_paired_pass_rates
from voirdire.agreement.experts.phases import phase_change
from voirdire.agreement.experts.reference import compare_judges, detection
from voirdire.agreement.experts.stability import run_deviation, run_to_run, swap_consistency
from voirdire.agreement.experts.systems import compare_systems
from voirdire.agreement.replace.verb import may_replace
from voirdire.agreement.verb import agreement

__all__ = [
    "PlainStatistic", "Resampling", "adjust", "bootstrap", "compare_judges", "compare_means", "compare_metrics",
    "compare_paired_means", "compare_paired_pass_rates", "compare_pass_rates", "compare_systems", "concordance_index",
    "detection", "expert_agreement", "gate", "human_ceiling", "leave_one_expert_out", "may_replace", "metric_table",
    "phase_change", "run_deviation", "run_to_run", "swap_consistency", "williams_test",
]  # fmt: skip


class _Verb(ModuleType):
    """A callable module: a call runs its verb."""

    __signature__ = inspect.signature(agreement)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return agreement(*args, **kwargs)


sys.modules[__name__].__class__ = _Verb
