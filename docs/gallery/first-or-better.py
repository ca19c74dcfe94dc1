# needs: mtrepro
# %% [markdown]
# # Better, or only shown first?
#
# Six judges compared six models' answers in both orders. Say that each pair had been shown in one order only, as is often done to save
# half of the cost: what does a model make of it that takes no notice of places, and what one that knows them?

# %%
import voirdire

votes = voirdire.datasets.load("mtrepro").table[["judge", "first", "second", "winner"]]
result = voirdire.fit(votes, method="laplace")

# %%
# alt: How often each of six judges picks the better answer when it is shown first and when it is shown second; for the smallest,
#      Qwen2.5-7B, the two lie far apart, for Gemma-4 and Qwen2.5-32B close together
result.plot("position")

# %% [markdown]
# All judges lean to what is shown first, the smallest most. Now one order: the model whose name comes first in the alphabet is always
# shown first.

# %%
one_order = votes[votes["first"] < votes["second"]]
fits = {
    "both orders": voirdire.fit(votes, method="map"),
    "one order, places ignored": voirdire.fit(one_order, model="bradley-terry", method="map"),
    "one order, places known": voirdire.fit(one_order, method="map"),
}
score = {name: fit.ranking().set_index("item")["score"] for name, fit in fits.items()}

# %%
# alt: Scores of six models, in the order of the alphabet, by the three fits; with one order and places ignored EEVE, first of
#      the alphabet, gains most, and gemma-2, last of it, loses most
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
names = sorted(score["both orders"].index)
for (name, values), mark in zip(score.items(), "o^x", strict=True):
    values = (values - values.mean()) / values.std()
    axes.plot(values[names], names, mark, label=name, markersize=8)
axes.invert_yaxis()
axes.set_xlabel("score, in standard deviations")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize="small", columnspacing=1)
plt.show()

# %% [markdown]
# **Answer.** Look at the position bias before the ranking. In one order the places push items up and down, and only a model that knows
# them can undo it, at a price: what was shown first and what is better are then told apart by differences between judges and between
# pairs alone. Both orders cost twice, and need no such trust. `voirdire fit` takes the model with places by itself where order is known.

# %%
# check
bias = result.judges().set_index("judge")["position_bias"]
assert (bias > 0).all()
assert bias.idxmax() == "Qwen2.5-7B-Instruct"
even = {name: (values - values.mean()) / values.std() for name, values in score.items()}
off = {name: (values - even["both orders"]).abs().mean() for name, values in even.items()}
gain = even["one order, places ignored"] - even["both orders"]
assert (gain.idxmax(), gain.idxmin()) == (names[0], names[-1])
place = {name: int(values.rank(ascending=False)[names[0]]) for name, values in score.items()}
assert (place["both orders"], place["one order, places ignored"]) == (6, 4)
assert off["one order, places known"] < off["one order, places ignored"]
