# needs: mtrepro
# %% [markdown]
# # When is enough asked?
#
# Two language models compared the answers of six others to the prompts of MT-bench: 4,785 votes. Had one asked the most telling pairs
# first, and stopped when the best of the six was known with 95%: how many votes would have done?

# %%
import voirdire
from voirdire.adaptive import replay_votes

votes = voirdire.datasets.load("mtrepro").table
votes = votes[votes["judge"].isin(["gpt-4o-mini", "Qwen2.5-32B-Instruct"])]
votes = votes[["judge", "first", "second", "winner"]]
course, asked = replay_votes(votes, until="p_best >= 0.95", count=20)
print(f"{len(asked)} of {len(votes)} votes; best: {course.known[0].best}")

# %%
# alt: The probability that the best model is the best against the number of votes asked for; it rises over a few rounds and
#      crosses 0.95
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.plot([row["asked"] for row in course.rounds], [row["p_best"] for row in course.rounds], marker="o")
axes.axhline(0.95, color="grey", linestyle=":")
axes.set(xlabel="votes asked for", ylabel="probability of being best", ylim=(0, 1.02))
plt.show()

# %% [markdown]
# **Answer.** A small part, as the first line says: once a model is out of the race, no more votes are spent on it. `voirdire collect
# --until` does the same with live judges. What it saves on average, and where it is behind, is measured [here](../adaptive.md). To know
# how the others rank takes more, and what holds on [other prompts](other-prompts.md) is another question.

# %%
# check
assert course.reached
assert len(asked) < len(votes) / 5
assert len(votes) == 4785
assert course.known[0].best == voirdire.fit(votes, method="map").ranking()["item"].iloc[0]
