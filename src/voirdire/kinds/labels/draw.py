"""Labels drawn from a model: the class of every item, and every label from its judge's row of that class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.kinds.labels.influence import label_units
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.states import drawn_rates, expand_units
from voirdire.kinds.pick import sample_categorical
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.tables.labels import Labels


def draw_labels(
    problem: LabelsProblem, values: Values, rng: np.random.Generator, *, anew: bool = False
) -> Labels:
    """The labels of a problem, drawn anew under one set of values.

    Parameters
    ----------
    anew : bool
        Draw classes by their shares alone, as of other items; by default by P(class | the item's labels).
    """
    density, table, part = problem.density, problem.table, problem.data["labels"]
    judge, unit = table.judge, label_units(problem)
    seen = {"labels": part | {"counts": part["counts"] * 0 if anew else part["counts"]}}
    if density.shares_errors:
        of_unit = expand_units(seen, problem.unit_row)  # items with the same labels are drawn each by itself
        chance = np.empty((len(judge), density.labels))
        for k, rates in drawn_rates(density, values, of_unit, rng)[1]:
            chance[judge == k] = rates[unit[judge == k]]
    elif density.latent:
        joint = density.joint(values, seen, np)[problem.unit_row]
        of = sample_categorical(np.exp(log_softmax(joint, problem.classes, np)), rng)
        rates = np.exp(density.rates(values, np))
        chance = rates[judge if len(rates) > 1 else judge * 0, of[unit]]
    else:
        chance = np.exp(log_softmax(values["tendency"], density.labels, np))[problem.unit_row[unit]]
    code = np.array([table.labels.index(label) for label in problem.labels])
    return replace(table, label=code[sample_categorical(chance, rng)])
