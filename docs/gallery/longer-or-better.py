# needs: mtrepro
# %% [markdown]
# # Better, or longer?
#
# Six judges compared six models' answers to the 80 prompts of MT-bench. Judges like length, and the models write at different lengths.
# Who leads among answers of equal length?

# %%
import voirdire

data = voirdire.datasets.load("mtrepro")
result = voirdire.fit(data.table, covariates=data.items, method="laplace")
result.covariates().round(2)

# %%
found = result.ranking().merge(data.items.groupby("item", as_index=False)["length"].mean(), on="item")
found[["item", "score", "low", "high", "unadjusted", "length"]].round(2)

# %%
# alt: Scores of six models with length held fixed, with 90% intervals, and unadjusted; the terse gemma-2 moves up past Phi-3.5,
#      the verbose EXAONE comes down and stays first
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
axes.invert_yaxis()
axes.set_xlabel("score (log-odds)")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
plt.show()

# %% [markdown]
# **Answer.** The same one, by less: EXAONE writes most and is still first. The terse gemma-2 moves past Phi-3.5. How well length and
# quality can be told apart hangs on how much lengths vary within a model, and the intervals say it; that longer answers may also be
# better ones, no table of votes can exclude. `voirdire.covariates.text(items)` counts characters, lists, headings and more.

# %%
# check
found = found.set_index("item")
assert result.covariates()["low"].item() > 0
best = found["score"].idxmax()
assert best == found["unadjusted"].idxmax() == found["length"].idxmax() == "EXAONE-3.5-7.8B-Instruct"
assert found.loc[best, "score"] < found.loc[best, "unadjusted"]
assert found.loc["gemma-2-9b-it", "score"] > found.loc["Phi-3.5-mini-Instruct", "score"]
assert found.loc["gemma-2-9b-it", "unadjusted"] < found.loc["Phi-3.5-mini-Instruct", "unadjusted"]
assert found.loc["gemma-2-9b-it", "length"] == found["length"].min()
