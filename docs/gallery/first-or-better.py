# %% [markdown]
# # Better, or only shown first?
#
# Two of six judges always pick what is shown first. What does a model make of it that takes all judges as alike, and what one that
# knows positions?

# %%
import voirdire

panel = [{"kind": "one-coin", "eta": 0.85, "count": 4}, {"kind": "always-first", "count": 2}]
made = voirdire.simulate_votes(
    panel, items=10, criteria=1, design={"kind": "all-pairs", "order": "random"}, seed=4
)
votes = made.votes
naive = voirdire.fit(votes, model="bradley-terry", method="laplace")
aware = voirdire.fit(votes, model="crowd-bt-position", method="laplace")

# %%
# alt: How often each of six judges picks the better item when it is shown first and when it is shown second; for the judges
#      always-first-01 and always-first-02 that is nearly always and nearly never, for the honest ones both are high
aware.plot("position")

# %% [markdown]
# The judges who do not look are found from the votes alone: their answers follow the place and nothing else. How well does each model
# order the items, whose true order is known here?

# %%
from scipy.stats import kendalltau

truth = dict(zip(made.truth.items, made.truth.strengths[0], strict=True))


def right(fit):
    found = fit.ranking()
    tau = kendalltau(found["score"], found["item"].map(truth)).statistic
    return round((1 + tau) / 2, 3)


print("pairs in the right order:", right(naive), "all judges alike,", right(aware), "with positions")

# %% [markdown]
# And how far apart are items? Where judges that do not look count as witnesses, strengths are drawn together; the model with positions
# takes their votes for what they are:

# %%
# alt: Scores of ten items with 90% intervals by the model with positions, the best on top
aware.plot("ranking")

# %% [markdown]
# **Answer.** Look at the position bias before the ranking. In random order the two cost precision only; in one fixed order they would
# push whole items up. `voirdire fit` takes the model with positions by itself where order is known.

# %%
# check
assert naive.ranking()["score"].std() < aware.ranking()["score"].std()
judged = aware.judges().set_index("judge")["position_bias"]
assert (judged.filter(like="always-first") > 0.35).all()
assert (judged.filter(like="one-coin").abs() < 0.2).all()
assert right(aware) >= right(naive) - 0.05
