# needs: topical-chat-unieval
# %% [markdown]
# # How many answers are good, when people have read a quarter of them?
#
# UniEval, a metric, scored the coherence of 360 answers of six systems in 60 dialogues. Say that people had read only 90 of them, drawn at
# random. What share of all would they call coherent (at least 2.5 of 3 points), and which system is better?

# %%
import voirdire

scores = voirdire.datasets.load("topical-chat-unieval").table
scores = scores[scores["criterion"] == "coherence"].drop(columns="criterion")
metric = scores[scores["judge"] == "unieval"]
everyone = scores[scores["judge"] == "human"].assign(judge="people")  # they read all: we look at the end
people = everyone.sample(90, random_state=2)
found = voirdire.rate(metric, people, positive=2.5)
{name: found[name] for name in ("rate", "low", "high", "estimator", "humans", "items")}

# %% [markdown]
# The metric does not say from which score on an answer is good. A cut that looks natural, such as one half, gives a share that is far
# from people's. `voirdire rate` needs no cut: it looks at what people say where the metric is low, and where it is high.

# %%
# alt: Three shares of good answers: the metric cut at one half says that three in four are good; people's 90 answers alone and
#      people and metric together say somewhat more than two in five, together with the narrower interval; both hold the dotted true share
import matplotlib.pyplot as plt

alone = next(row for row in found["estimators"] if row["estimator"] == "people")
shown = {
    "the metric, cut at 0.5": ((metric["score"] > 0.5).mean(), None, None),
    "90 people's answers": (alone["rate"], alone["low"], alone["high"]),
    "both": (found["rate"], found["low"], found["high"]),
}
truth = (everyone["score"] >= 2.5).mean()
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
for place, (middle, low, high) in enumerate(shown.values()):
    reach = None if low is None else [[middle - low], [high - middle]]
    axes.errorbar(middle, place, xerr=reach, fmt="o", color="C0")
axes.axvline(truth, color="grey", linestyle=":")
axes.set_yticks(range(len(shown)), list(shown))
axes.margins(y=0.3)
axes.set_xlabel("share of good answers, 90% intervals; dotted: people's on all 360")
plt.show()

# %% [markdown]
# The same by system, each with about fifteen answers that people read:

# %%
# alt: Shares of good answers of six systems with 90% intervals and people's shares on all answers: the two human ones far above the
#      four decodings of a model, whose intervals overlap
import pandas as pd

by = pd.DataFrame(found["by"]).set_index("group").sort_values("rate")
known = (everyone["score"] >= 2.5).groupby(everyone["system"]).mean()[by.index]
figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.errorbar(by["rate"], by.index, xerr=[by["rate"] - by["low"], by["high"] - by["rate"]], fmt="o")
axes.plot(known, by.index, "x", color="grey", label="people on all")
axes.set_xlim(0, 1)
axes.set_xlabel("share of good answers, 90% interval")
axes.legend(loc="lower right")
plt.show()

# %% [markdown]
# Do the decodings of the model differ? Differences are paired, since all systems answered in the same dialogues:

# %%
differences = pd.DataFrame(found["differences"])
model = ~differences[["a", "b"]].isin(["Original Ground Truth", "New Human Generated"]).any(axis=1)
differences[model].round(3)

# %% [markdown]
# **Answer.** Report the share of both together, with its interval, and not the metric's. It is right whatever the metric is worth; the
# better the metric, the narrower the interval: here a little narrower than that of the 90 answers alone. What people wrote is better than
# what the model wrote: use that. Which decoding is best is not known: take any, or let people read more answers of these four. The condition
# of it all is that the answers people read are a random sample.

# %%
# check
assert found["estimator"] == "joint"
assert found["low"] < truth < found["high"]
assert alone["low"] < truth < alone["high"]
assert found["high"] - found["low"] < alone["high"] - alone["low"]
assert shown["the metric, cut at 0.5"][0] > truth + 0.2
assert set(by.index[-2:]) == {"Original Ground Truth", "New Human Generated"}
assert ((by["low"] < known) & (known < by["high"])).sum() >= 5
assert (differences[model]["p_value"] > 0.05).all()
human = ~model & ~(differences["a"].isin(by.index[-2:]) & differences["b"].isin(by.index[-2:]))
assert (differences[human]["p_value"] < 0.01).all()
