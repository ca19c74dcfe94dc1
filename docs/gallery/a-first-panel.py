# %% [markdown]
# # Which text is best, and can the panel be trusted?
#
# Eight judges, two of them very small language models, compared twelve texts. What is best? And is that the panel's word, or one
# judge's?

# %%
import voirdire

votes = voirdire.datasets.load("demo").table
result = voirdire.fit(votes, method="laplace")
result.ranking()[["item", "score", "low", "high", "p_best"]].head(5).round(2)

# %% [markdown]
# The picture shows every text's score with its 90% interval, in log-odds: of two texts one apart, a perfect judge prefers the better
# one 73% of the time.

# %%
# alt: Scores of the twelve texts with 90% intervals, best on top; the intervals of the first two overlap
result.plot("ranking")

# %% [markdown]
# Two lead, and their intervals overlap. Now the judges: what is each worth, and does it matter to it which text is shown first?

# %%
# alt: How often each of eight judges picks the better text when it is shown first and when it is shown second; for the two
#      gemma judges these lie far apart, for the rule that prefers longer texts both are near one
result.plot("position")

# %%
import textwrap

for row in result.checks().query("level != 'ok'").itertuples():
    print(textwrap.fill(f"{row.level} {row.check}: {row.message}", 80, subsequent_indent="  "))

# %% [markdown]
# **Answer.** a01 or a06, and no vote more of this panel will make it a fact: the language models answer by position (reliability
# near 0.5), and what is left hangs on one rule that likes longer texts. The check `influence` says that. Who is consistent shows in
# votes; who is right takes [a few human answers](a-panel-that-is-wrong.md).

# %%
# check
judges = result.judges().set_index("judge")
assert set(result.ranking()["item"].head(2)) == {"a01", "a06"}
assert (judges.filter(like="gemma", axis=0)["reliability"] < 0.6).all()
assert judges["reliability"].idxmax() == "longer"
assert "influence" in set(result.checks().query("level != 'ok'")["check"])
