# needs: llmfao
# %% [markdown]
# # 59 language models, 126 people: who is told apart?
#
# LLMFAO: 13,209 comparisons of answers to 13 prompts, by a crowd. How many of the 59 places does the board know?

# %%
import voirdire

data = voirdire.datasets.load("llmfao")
data

# %%
result = voirdire.fit(data.table, method="laplace")
result.ranking()[["item", "score", "low", "high", "rank_low", "rank_high", "p_best"]].head(10).round(2)

# %% [markdown]
# Thirteen prompts are few: the intervals are about prompts like these.

# %%
# alt: Scores of 59 language models with 90% intervals, best on top; neighbours overlap all the way down
result.plot("ranking")

# %%
# alt: Reliability of 126 people with 90% intervals, from near one half to near one
result.plot("judges")

# %% [markdown]
# **Answer.** Few places. The best and the worst are clear of each other, neighbours are not, and `voirdire board` names the sets that
# cannot be told apart. People differ as much as models do, and those that answer at random count for little.

# %%
# check
ranking = result.ranking()
assert len(ranking) == 59
assert (ranking["rank_high"] - ranking["rank_low"]).median() >= 5
assert ranking["low"].iloc[0] > ranking["high"].iloc[-1]
