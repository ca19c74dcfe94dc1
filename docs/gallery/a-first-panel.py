# %% [markdown]
# # Which text is best, and can the panel be trusted?
#
# Eight judges compared sixteen answers to one question: a pan of oil is burning on the stove, what should I do? The panel is simulated
# and made to be wrong. Does the fit notice, and what do twenty answers of people change?

# %%
import voirdire

demo = voirdire.datasets.load("demo")
alone = voirdire.fit(demo.table, method="laplace")
alone.ranking().merge(demo.items)[["item", "score", "low", "high", "grade", "words"]].head(5).round(2)

# %% [markdown]
# The panel's first three are dangerous (grade 0 of 3), and long. What do the checks say?

# %%
import textwrap

for row in alone.checks().query("level != 'ok'").itertuples():
    print(textwrap.fill(f"{row.level} {row.check}: {row.message}", 80, subsequent_indent="  "))

# %% [markdown]
# Two judges contradict the other ones, and the votes cannot tell which of them are wrong. Twenty answers of people can:

# %%
# alt: Scores of the sixteen answers with 90% intervals, best on top: those of grade 3 lead, those that are dangerous come last
helped = voirdire.fit(demo.table, anchors=demo.gold, anchor_mode="cut", method="laplace")
helped.plot("ranking")

# %%
judges = alone.judges().merge(helped.judges(), on="judge", suffixes=("_alone", "_with_people"))
judges[["judge", "reliability_alone", "reliability_with_people"]].round(2)

# %% [markdown]
# **Answer.** The answer that tells the whole story, or the two short ones that say the same: the panel's own favourites come last. The
# votes showed that the panel is divided, not who is right: the judges that like long answers look best without people, and little better
# than a coin with them. So ask people [where the votes are in doubt](a-panel-that-is-wrong.md); the [guide](../guide.md#the-demo) says how
# this panel was made.

# %%
# check
grades = demo.items.set_index("item")["grade"]
assert (grades[alone.ranking()["item"].head(3)] == 0).all()
assert (grades[helped.ranking()["item"].head(4)] == 3).all()
assert (grades[helped.ranking()["item"].tail(4)] == 0).all()
assert alone.checks().set_index("check").loc["orientation", "level"] == "warn"
found = judges.set_index("judge")
assert (found.filter(like="long", axis=0)["reliability_alone"] > 0.9).all()
assert (found.filter(like="long", axis=0)["reliability_with_people"] < 0.7).all()
assert (found.filter(like="careful", axis=0)["reliability_with_people"] > 0.85).all()
