# needs: mtrepro-scores
# %% [markdown]
# # Severe, or wrong?
#
# Six language models scored the answers of six others, 1 to 10. One of them, Gemma, gives the lowest mean. Is it
# severe, which moves all scores of a judge alike and can be taken out?

# %%
import voirdire

scores = voirdire.datasets.load("mtrepro-scores").table
scores.groupby("judge")["score"].agg(["mean", "std"]).round(2)

# %%
scores = scores.rename(columns={"system": "item"})[["judge", "item", "score"]]
result = voirdire.fit(scores, method="laplace")
result.judges()[["judge", "severity", "severity_low", "severity_high", "noise"]].round(2)

# %%
# alt: Severity of six judges with 90% intervals: five lie at or just above zero, Gemma-4 lies far below, with the widest
#      interval
result.plot("severity")

# %% [markdown]
# The other way round: of all six it is the most lenient (`severity` is what a judge takes off all its scores), and by far the noisiest
# (`noise` is the standard deviation of what is left: prompts, tastes, chance). How Gemma scores:

# %%
# alt: How often Gemma-4 and gpt-4o-mini give each score from 1 to 10: Gemma mostly 9 or 10, and else mostly 1 to 4; gpt-4o-mini mostly
#      7 to 9
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
for shift, judge in ((-0.2, "Gemma-4-12B-it"), (0.2, "gpt-4o-mini")):
    counts = scores.loc[scores["judge"] == judge, "score"].round().value_counts()
    axes.bar(counts.index + shift, counts, width=0.4, label=judge)
axes.set(xlabel="score", ylabel="answers", xticks=range(1, 11))
axes.legend()
plt.show()

# %% [markdown]
# **Answer.** Not severe: it gives the highest score far more often than the others, and where it does not, mostly 1 to 4. The scale ends
# at 10, so that its praise cannot raise its mean as much as its blame lowers it; a mean of scores cannot tell that, a model that knows the
# ends can. And as what one answer is better by drowns in so much noise, a score of Gemma counts for less. That says nothing of its votes: in comparisons of the same answers it is
# [among the best](first-or-better.md). Ask a judge for what it can do.

# %%
# check
judged = result.judges().set_index("judge")
gemma = "Gemma-4-12B-it"
assert scores.groupby("judge")["score"].mean().idxmin() == gemma
assert judged["noise"].idxmax() == gemma
assert judged["severity_high"][gemma] < 0
assert judged["severity"].idxmin() == gemma
assert judged.loc[gemma, "noise"] > 2 * judged["noise"].drop(gemma).max()
ends = scores[scores["judge"] == gemma]["score"]
assert ((ends >= 9) | (ends <= 4)).mean() > 0.8
top = (scores["score"] == 10).groupby(scores["judge"]).mean()
assert top[gemma] > 2 * top.drop(gemma).max()
