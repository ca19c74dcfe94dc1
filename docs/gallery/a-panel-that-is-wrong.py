# needs: llmbar-judges
# %% [markdown]
# # A panel that is wrong together
#
# LLMBar's pairs are made to mislead: often the output that reads better is the one that does not follow the instruction. Six language
# models compared 239 pairs, each in both orders. Most are fooled, and agree on it. What do 30 answers of people change?

# %%
import voirdire

data = voirdire.datasets.load("llmbar-judges")
data

# %%
votes = data.table[data.table["judge"].str.endswith("/Vanilla")].drop(columns="subset")
people = data.gold.sample(30, random_state=0).drop(columns="subset")
alone = voirdire.fit(votes, method="map")
helped = voirdire.fit(votes, anchors=people, method="map")

# %% [markdown]
# All 239 true answers are known here, so that we can look: how often was each judge right, and what did we think of it?

# %%
true = [row.first if row.winner == "first" else row.second for row in data.gold.itertuples()]
said = votes["first"].where(votes["winner"] == "first", votes["second"])
right = said.isin(true).groupby(votes["judge"]).mean()
shown = {
    "by the panel alone": alone.judges().set_index("judge")["p_right"],
    "with 30 answers of people": helped.judges().set_index("judge")["p_right"],
    "right, in truth": right,
}

# %%
# alt: Six judges and how often each is right: the panel alone takes LLaMA2 to be as good as GPT-4, which is far better in truth; with
#      thirty answers of people GPT-4 and PaLM2 stand apart from the four others, as they do in truth
import matplotlib.pyplot as plt

order = right.sort_values().index
figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
for (name, values), mark in zip(shown.items(), "xo|", strict=True):
    axes.plot(values[order], order, mark, label=name, markersize=9)
axes.axvline(0.5, color="grey", linestyle=":")
axes.set_xlabel("probability of being right on a pair")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize="small", columnspacing=1)
plt.show()

# %%
rest = data.gold.drop(people.index)
score = alone.ranking().set_index("item")["score"]
first = helped.pairs().set_index(["first", "second"])["p_first"]
ahead = {
    "alone": (score[rest["first"]].to_numpy() > score[rest["second"]].to_numpy()),
    "helped": first[list(zip(rest["first"], rest["second"], strict=True))].to_numpy() > 0.5,
}
share = {name: float((said == (rest["winner"] == "first")).mean()) for name, said in ahead.items()}
print({name: f"{value:.0%} of the other 209 pairs right" for name, value in share.items()})

# %% [markdown]
# **Answer.** Everything. From votes alone the judges who agree with most look best, and here most are fooled alike. Thirty answers show
# who sees through it. No check can find a shared error in the votes; `voirdire next --who person` chooses which pairs to ask people
# about, `voirdire ask` makes the page, and the [FAQ](../faq.md) says how many answers it takes.

# %%
# check
off = {name: (values - right).abs().mean() for name, values in shown.items()}
assert off["by the panel alone"] > 1.5 * off["with 30 answers of people"]
assert shown["by the panel alone"]["LLaMA2/Vanilla"] > shown["by the panel alone"]["GPT-4/Vanilla"] - 0.03
assert right["LLaMA2/Vanilla"] < right["GPT-4/Vanilla"] - 0.25
assert set(shown["with 30 answers of people"].nlargest(2).index) == set(right.nlargest(2).index)
assert {name: round(value, 2) for name, value in share.items()} == {"alone": 0.74, "helped": 0.88}
assert len(rest) == 209
