# needs: llmjudge-half
# %% [markdown]
# # A hundred human grades and all of a judge
#
# LLMJudge: a language model graded 1,715 passages 0 to 3 for how well they answer a query. Say that people had graded only 100 of them. What is the
# mean grade that people would give all?

# %%
import voirdire

data = voirdire.datasets.load("llmjudge-half")
scores = data.table[data.table["judge"] == "Olz-multiprompt"].rename(columns={"label": "score"})
scores = scores[["judge", "item", "score"]]
everyone = data.gold.rename(columns={"label": "score"})  # people graded all: we look at the end
people = everyone.sample(100, random_state=1)
row = voirdire.agreement(scores, humans=people, measures="mean_score").iloc[0]
row[["value", "low", "high", "human_value", "human_low", "human_high", "effective_n", "weight"]]

# %%
# alt: Three intervals of the mean grade: the judge's own is narrow and far too high, that of a hundred human grades is wide,
#      that of both is a little narrower and holds the true mean
import matplotlib.pyplot as plt

mean, error = scores["score"].mean(), 1.645 * scores["score"].sem()
shown = {
    "the judge alone": (mean, mean - error, mean + error),
    "100 human grades": (row["human_value"], row["human_low"], row["human_high"]),
    "both": (row["value"], row["low"], row["high"]),
}
truth = everyone["score"].mean()
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
for place, (middle, low, high) in enumerate(shown.values()):
    axes.errorbar(middle, place, xerr=[[middle - low], [high - middle]], fmt="o", color="C0")
axes.axvline(truth, color="grey", linestyle=":")
axes.set_yticks(range(3), list(shown))
axes.margins(y=0.3)
axes.set_xlabel("mean grade, 90% intervals; dotted: people's on all 1,715")
plt.show()

# %% [markdown]
# **Answer.** Ask both: prediction-powered inference corrects the judge by how it errs on the hundred. The judge alone is sure
# and far off; the two together are worth `effective_n` human grades, a quarter more than were paid for. It gains more where judge and people
# agree more. The condition: the hundred are a random part.

# %%
# check
assert row["low"] < truth < row["high"]
assert not shown["the judge alone"][1] <= truth <= shown["the judge alone"][2]
assert row["high"] - row["low"] < row["human_high"] - row["human_low"]
assert 120 < row["effective_n"] < 130
assert mean > truth + 0.3
