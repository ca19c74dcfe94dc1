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
# alt: Scores of the twelve texts with 90% intervals, best on top; the intervals of the first five overlap
result.plot("ranking")

# %% [markdown]
# Three lead, and their intervals overlap. Now the judges: what is each worth, and does it matter to it which text is shown first?

# %%
# alt: How often each of eight judges picks the better text when it is shown first and when it is shown second; for the two
#      gemma judges these lie far apart, for the rules that prefer longer texts and rare words both are near one
result.plot("position")

# %%
import textwrap

for row in result.checks().query("level != 'ok'").itertuples():
    print(textwrap.fill(f"{row.level} {row.check}: {row.message}", 80, subsequent_indent="  "))

# %% [markdown]
# **Answer.** a01, a06 or a07, and no vote more of this panel will make one of them a fact: the language models answer by position
# (reliability near 0.5), and what is left are two rules, one that likes longer texts and one that likes rare words. Each is always
# of one opinion, and where the two differ that is taste, which the intervals hold. Who is consistent shows in votes; who is right
# takes [a few human answers](a-panel-that-is-wrong.md).

# %%
# check
judges = result.judges().set_index("judge")
assert set(result.ranking()["item"].head(2)) == {"a01", "a06"}
assert (judges.filter(like="gemma", axis=0)["reliability"] < 0.6).all()
assert set(judges["reliability"].nlargest(2).index) == {"longer", "rare-words"}
assert result.ranking()["p_best"].head(3).between(0.05, 0.8).all()
assert {"taste", "general"} <= set(result.spreads()["name"])
