# %% [markdown]
# # When is enough asked?
#
# A panel answered everything. Had one asked the most telling comparisons first, and stopped when the best item was known with 95%: how
# many answers would have done?

# %%
import voirdire
from voirdire.adaptive import reveal

panel = [{"kind": "one-coin", "eta": 0.9, "count": 3}, {"kind": "always-first", "count": 1}]
votes = voirdire.simulate_votes(
    panel, items=6, criteria=1, design={"kind": "all-pairs", "repeats": 6}, seed=6
).votes
votes = votes.drop(columns="criterion")
course, asked = reveal(votes, until="p_best >= 0.95", count=16)
print(f"{len(asked)} of {len(votes)} answers; best: {course.known[0].best}; reached: {course.reached}")

# %%
# alt: The probability that the best item is the best against the number of comparisons asked, rising with each round
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.plot([row["asked"] for row in course.rounds], [row["p_best"] for row in course.rounds], marker="o")
axes.axhline(0.95, color="grey", linestyle=":")
axes.set(xlabel="comparisons asked", ylabel="probability of being best", ylim=(0, 1.02))
plt.show()

# %% [markdown]
# **Answer.** A part, as the first line says: questions about items that are out of the race are left out. `voirdire collect --until`
# does the same with live models. What it saves, and where it is behind, is measured [here](../adaptive.md).

# %%
# check
assert course.reached
assert len(asked) < len(votes)
assert course.known[0].best == voirdire.fit(votes, method="laplace").ranking()["item"].iloc[0]
