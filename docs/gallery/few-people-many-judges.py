# %% [markdown]
# # Forty human answers and four hundred of a judge
#
# People are dear: they graded 40 of 400 answers. A language model graded all, and is somewhat off. What would people's mean grade be?

# %%
import numpy as np
import pandas as pd

import voirdire

rng = np.random.default_rng(1)
quality = 3 + 0.8 * rng.normal(size=400)
judge = quality + 0.4 + 0.5 * rng.normal(size=400)  # lenient by 0.4
scores = pd.DataFrame({"judge": "model", "item": range(400), "score": judge})
people = pd.DataFrame({"item": range(40), "score": quality[:40]})
row = voirdire.agreement(scores, humans=people, measures="mean_score").iloc[0]
row[["value", "low", "high", "human_value", "human_low", "human_high", "effective_n", "weight"]]

# %%
# alt: Three intervals of the mean grade: the judge's own is narrow and too high, that of the forty people is wide, that of
#      both together is narrow and holds the true mean
import matplotlib.pyplot as plt

error = 1.96 * judge.std(ddof=1) / 20
shown = {
    "the judge alone": (judge.mean(), judge.mean() - error, judge.mean() + error),
    "40 people alone": (row["human_value"], row["human_low"], row["human_high"]),
    "both": (row["value"], row["low"], row["high"]),
}
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
for place, (middle, low, high) in enumerate(shown.values()):
    axes.errorbar(middle, place, xerr=[[middle - low], [high - middle]], fmt="o", color="C0")
axes.axvline(quality.mean(), color="grey", linestyle=":")
axes.set_yticks(range(3), list(shown))
axes.margins(y=0.3)
axes.set_xlabel("mean grade; dotted: of people on all 400")
plt.show()

# %% [markdown]
# **Answer.** Both together: prediction-powered inference corrects the judge by how it errs on the forty. It is right on average
# whatever the judge is worth, and here as sure as many more human answers would be (`effective_n`). The condition: the forty are a
# random part.

# %%
# check
assert row["low"] < quality.mean() < row["high"]
assert row["high"] - row["low"] < row["human_high"] - row["human_low"]
assert row["effective_n"] > 60
assert shown["the judge alone"][1] > quality.mean()
