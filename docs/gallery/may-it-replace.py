# %% [markdown]
# # May a judge replace people?
#
# Three people and two language models compared the same 300 pairs. Do the models answer as a person would?

# %%
import numpy as np
import pandas as pd

from voirdire.agreement import may_replace

rng = np.random.default_rng(3)
better = rng.random(300) < 0.5
pairs = pd.DataFrame({"first": [f"a{n}" for n in range(300)], "second": [f"b{n}" for n in range(300)]})


def answers(right, name, column):
    said = np.where(rng.random(300) < right, better, ~better)
    return pairs.assign(**{column: name, "winner": np.where(said, "first", "second")})


humans = pd.concat([answers(0.8, name, "person") for name in ("ann", "bob", "cem")])
votes = pd.concat([answers(0.86, "large", "judge"), answers(0.6, "small", "judge")])
found = may_replace(votes, humans, margin=0.05)
found[["judge", "agreement", "people", "difference", "low", "high", "verdict"]].round(3)

# %%
# alt: Difference between each judge's agreement with people and people's with each other, with intervals; the large model
#      lies above the margin, the small one below
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
for place, row in enumerate(found.itertuples()):
    axes.errorbar(
        row.difference,
        place,
        xerr=[[row.difference - row.low], [row.high - row.difference]],
        fmt="o",
        color="C0",
    )
axes.axvline(-0.05, color="grey", linestyle=":")
axes.set_yticks(range(len(found)), found["judge"])
axes.margins(y=0.4)
axes.set_xlabel(
    "agrees with people less (left) or more (right)\nthan they with each other; dotted: the margin"
)
plt.show()

# %% [markdown]
# **Answer.** The large one may, the small one may not. People agree with each other on about two thirds of these pairs, so that is the
# bar, not 100%. Where the interval crosses the margin the verdict is `not sure yet`, and the column `more` says how many more answers
# it takes.

# %%
# check
verdict = found.set_index("judge")["verdict"]
assert verdict["large"] == "yes"
assert verdict["small"] == "no"
