# %% [markdown]
# # A panel that is wrong together
#
# Five of eight judges prefer the worse answer of each pair: they like length, say. No vote of theirs gives that away. What do 15
# answers of one person change?

# %%
import pandas as pd

import voirdire

wrong = {f"likes-length-{n}": {"kind": "one-coin", "eta": 0.15} for n in range(1, 6)}
panel = wrong | {f"careful-{n}": {"kind": "one-coin", "eta": 0.9} for n in range(1, 4)}
made = voirdire.simulate_votes(
    panel, items=10, criteria=1, design={"kind": "all-pairs", "order": "random"}, seed=5
)
worth = dict(zip(made.truth.items, made.truth.strengths[0], strict=True))
alone = voirdire.fit(made.votes, method="laplace")

pairs = made.votes[["first", "second"]].drop_duplicates().sample(15, random_state=0)
person = pairs.assign(winner=[a if worth[a] > worth[b] else b for a, b in pairs.itertuples(index=False)])
helped = voirdire.fit(made.votes, anchors=person, method="laplace")

# %%
found = pd.DataFrame(
    {
        "truth": worth,
        "panel alone": alone.ranking().set_index("item")["score"],
        "with 15 answers": helped.ranking().set_index("item")["score"],
    }
)
found.sort_values("truth", ascending=False).round(1)

# %% [markdown]
# The panel alone has the order upside down, and its intervals are narrow. Reliability, after the person's answers:

# %%
# alt: Reliability of eight judges with 90% intervals after a person's answers: the three careful ones high, the five others
#      below one half, one of them not clearly
helped.plot("judges")

# %% [markdown]
# **Answer.** Everything. A wrong majority looks exactly like a right one, reversed: the check `orientation` gives that a probability, and
# only people (or known answers) decide it. Judges found below one half are then used reversed. `voirdire next --who person` chooses
# which pairs to ask about, `voirdire ask` makes the page.

# %%
# check
assert found.corr(method="kendall").loc["truth", "panel alone"] < -0.5
assert found.corr(method="kendall").loc["truth", "with 15 answers"] > 0.7
assert (helped.judges().set_index("judge")["reliability"] < 0.5).sum() == 5
