# %% [markdown]
# # Better, or longer?
#
# Judges like length. Six systems, of which the verbose ones win by length alone. What is each worth among answers of equal length?

# %%
import numpy as np
import pandas as pd

import voirdire

rng = np.random.default_rng(0)
worth = np.array([0.6, 0.4, 0.2, -0.2, -0.4, -0.6])
mean_length = np.array([300, 400, 600, 900, 1200, 1500])
length = mean_length[:, None] + rng.integers(-250, 250, (6, 10))
first = rng.integers(0, 6, 1500)
second = (first + rng.integers(1, 6, 1500)) % 6
prompt = rng.integers(0, 10, 1500)
d = worth[first] - worth[second] + (length[first, prompt] - length[second, prompt]) / 400
votes = pd.DataFrame(
    {
        "judge": rng.choice(["ann", "bob"], 1500),
        "first": [f"system {n}" for n in first],
        "second": [f"system {n}" for n in second],
        "context": [f"prompt {n}" for n in prompt],
        "winner": np.where(rng.random(1500) < 1 / (1 + np.exp(-d)), "first", "second"),
    }
)
items = pd.DataFrame(
    [(f"system {i}", f"prompt {x}", length[i, x]) for i in range(6) for x in range(10)],
    columns=["item", "context", "length"],
)
result = voirdire.fit(votes, covariates=items, method="laplace")
found = result.ranking().sort_values("item")
found[["item", "score", "low", "high", "unadjusted"]].round(2)

# %%
# alt: Scores of six systems with length held fixed fall from system 0 to system 5; unadjusted scores rise instead
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.errorbar(
    found["score"],
    found["item"],
    xerr=[found["score"] - found["low"], found["high"] - found["score"]],
    fmt="o",
    label="length held fixed, 90% interval",
)
axes.plot(found["unadjusted"], found["item"], "x", label="unadjusted")
axes.set_xlabel("score (log-odds)")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
plt.show()

# %%
result.covariates().round(2)

# %% [markdown]
# **Answer.** The other way round: with length held fixed the terse systems lead. How well the two can be told apart hangs on how much
# lengths vary within a system, and the intervals say it. `voirdire.covariates.text(items)` counts characters, lists, headings and more.

# %%
# check
assert np.corrcoef(found["unadjusted"], worth)[0, 1] < -0.8
assert np.corrcoef(found["score"], worth)[0, 1] > 0.7
assert result.covariates()["low"].item() > 0
