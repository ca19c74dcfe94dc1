# needs: mtrepro
# %% [markdown]
# # Which of five models do I take?
#
# Six judges compared five models' answers to 16 prompts. A larger model costs more to run. Which is best, which may I take, and do I have
# to ask more?

# %%
import voirdire

votes = voirdire.datasets.load("mtrepro").table[["judge", "context", "first", "second", "winner"]]
licence = "EXAONE-3.5-7.8B-Instruct"  # say that its licence rules it out
votes = votes[(votes["first"] != licence) & (votes["second"] != licence)]
prompts = sorted(votes["context"].unique())
pilot = voirdire.fit(votes[votes["context"].isin(prompts[::5])], method="laplace")
decision = pilot.decide()
print(decision.sentence())

# %%
# alt: Scores of five models after 16 prompts with 90% intervals; those of Phi-3.5-mini, gemma-2 and Llama-3.1 overlap, Mistral and
#      EEVE lie below
pilot.plot("ranking")

# %% [markdown]
# One rule says who shares the first place: a model does unless another is distinguishably better. So the next question is which model is
# the cheapest of those that are good enough. Let the price be billions of parameters. How much worse than the best may the choice be? The
# smaller that margin (in log-odds of winning), the more one has to know; a choice is made where its probability is 95% or more.

# %%
import pandas as pd

price = {
    "Phi-3.5-mini-Instruct": 3.8,
    "Mistral-7B-Instruct-v0.3": 7.2,
    "Llama-3.1-8B-Instruct": 8.0,
    "gemma-2-9b-it": 9.2,
    "EEVE-Korean-Instruct-10.8B": 10.8,
}
choices = [pilot.decide(price, margin=margin).choice for margin in (0.1, 0.25, 0.5, 1.0)]
pd.DataFrame(choices)

# %% [markdown]
# And what if we want to know which of the first two is better? `voirdire plan --apart top` says how many more prompts, or judges, that takes:

# %%
from voirdire.planning.distinguish import plan_to_distinguish

plan = plan_to_distinguish(pilot, "top")
print(plan)

# %% [markdown]
# The other 64 prompts are at hand, so here we can see what asking more would have brought.

# %%
# alt: Difference between Phi-3.5-mini and gemma-2 after 16, 40 and 80 prompts with the lowest values that are left
#      open: all reach below zero, with 80 prompts less far than with 16
import matplotlib.pyplot as plt

fits = {16: pilot}
for step in (2, 1):
    some = votes[votes["context"].isin(prompts[::step])]
    fits[80 // step] = voirdire.fit(some, method="laplace")
leader, second = plan.items
rows = []
for count, fit in fits.items():
    pairs = fit.decide().pairs
    i, j = (fit.decide().items.index(name) for name in (leader, second))
    reach = pairs.t * pairs.deviation[i, j]
    rows.append({"prompts": count, "difference": pairs.median[i, j], "reach": reach})
told = pd.DataFrame(rows)
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
axes.errorbar(told["difference"], range(3), xerr=[told["reach"], 0 * told["reach"]], fmt="o")
axes.axvline(0, color="grey", linestyle=":")
axes.set_yticks(range(3), [f"{count} prompts" for count in told["prompts"]])
axes.margins(y=0.3)
axes.invert_yaxis()
axes.set_xlabel(f"{leader} beyond {second}, log-odds\n(a line that ends above zero: distinguishable)")
plt.show()

# %% [markdown]
# **Answer.** Take Phi-3.5-mini. It shares the first place, it is the smallest, and after 16 prompts it is worse than the best by no more
# than 0.25 log-odds, with a probability above 95%. All 80 prompts lead to the same choice. Do not ask more only to learn whether it is the
# best: the plan said that this takes some nine hundred prompts more, and five times as many as in the pilot did not tell. Ask more if a
# smaller margin matters, or if another model were the cheap one.

# %%
# check
every = {count: fit.decide() for count, fit in fits.items()}
assert all(len(found.first) == 3 and found.first[0] == leader for found in every.values())
assert [choice.item for choice in choices] == [None, leader, leader, leader]
assert leader == "Phi-3.5-mini-Instruct"
assert min(price, key=price.get) == leader
assert choices[1].probability > 0.95
assert fits[80].decide(price, margin=0.25).choice.item == leader
assert 850 < plan.rows[0]["more"] < 950
assert (told["difference"] < told["reach"]).all()
assert told["reach"].iloc[-1] < told["reach"].iloc[0] / 2
