# needs: topical-chat-unieval
# %% [markdown]
# # Does a metric order replies as people do?
#
# Topical-Chat: people and the metric UniEval scored 360 replies of six systems in 60 dialogues, by several criteria. How well do they
# correlate, and at which level?

# %%
import pandas as pd

import voirdire

data = voirdire.datasets.load("topical-chat-unieval")
data

# %%
found = pd.concat(
    voirdire.metaeval(data.table, "human", level=level, measures="spearman", resamples=500).assign(of=level)
    for level in ("pooled", "context")
)
found[["of", "criterion", "judges", "value", "low", "high", "n"]].round(2)

# %%
# alt: Spearman correlation of the metric with people under each criterion, pooled and within dialogues, with intervals
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for shift, (of, rows) in zip((-0.1, 0.1), found.groupby("of", sort=False), strict=True):
    place = [n + shift for n in range(len(rows))]
    axes.errorbar(
        rows["value"], place, xerr=[rows["value"] - rows["low"], rows["high"] - rows["value"]], fmt="o", label=of
    )
axes.set_yticks(range(len(rows)), rows["criterion"])
axes.set_xlabel("Spearman's correlation with people, 90% interval")
axes.legend()
plt.show()

# %% [markdown]
# **Answer.** Moderately, and "at which level" is part of the answer: pooled, differences between dialogues count as agreement; within
# dialogues they do not. Name the level beside the number.

# %%
# check
assert found["value"].between(0, 1).all()
assert (found["low"] < found["high"]).all()
