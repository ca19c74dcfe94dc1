# needs: llmbar-judges
# %% [markdown]
# # May I trust this judge?
#
# LLMBar: which of two outputs follows the instruction? Six language models under one plain prompt said so of 239 pairs, each shown in both
# orders; what is right is known, as the authors agree. The judge in question is PaLM 2.

# %%
import voirdire

data = voirdire.datasets.load("llmbar-judges")
plain = data.table[data.table["judge"].str.endswith("/Vanilla")]
votes = plain.assign(judge=plain["judge"].str.removesuffix("/Vanilla")).drop(columns="subset")
people = data.gold[["first", "second", "winner"]]
audit = voirdire.audit(votes, people)
card = {card["judge"]: card for card in audit["judges"]}["PaLM2"]
print(f"{card['judge']}: {card['verdict']}. It {card['why']}.")

# %% [markdown]
# Each line of the card is a measure, with its interval and what it means; `found` says that it is a bias large enough to matter.

# %%
import pandas as pd

pd.set_option("display.max_colwidth", None)
pd.DataFrame(card["measures"])[["measure", "value", "low", "high", "found", "note"]].round(2)

# %% [markdown]
# The same for all six:

# %%
# alt: Six judges: what an answer tells, in nats, against the share of answers that change with the order; GPT-4 tells far more than
#      the others and hardly changes, PaLM 2 tells less than half of it and changes a quarter, the rest tell next to nothing
import matplotlib.pyplot as plt

rows = []
for one in audit["judges"]:
    measured = {row["measure"]: row["value"] for row in one["measures"]}
    rows.append({key: one[key] for key in ("judge", "verdict", "agreement_information")} | {"swap": measured["swap"]})
judges = pd.DataFrame(rows).set_index("judge")
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for verdict, group in judges.groupby("verdict"):
    axes.plot(group["swap"], group["agreement_information"], "o", label=verdict)
for name, row in judges.iterrows():
    axes.annotate(
        name, (row["swap"], row["agreement_information"]), xytext=(4, 4), textcoords="offset points", fontsize=8
    )
axes.set_xlabel("share of answers that change with the order shown")
axes.set_ylabel("nats that an answer tells")
axes.margins(x=0.2, y=0.1)
axes.legend(title="verdict")
plt.show()

# %% [markdown]
# The verdict on PaLM 2 says what to do: ask in both orders. What is gained where a pair counts only if both answers name the same output?

# %%
mine = votes[votes["judge"] == "PaLM2"]
pair = mine[["first", "second"]].agg(frozenset, axis=1)
named = mine["first"].where(mine["winner"] == "first", mine["second"]).where(mine["winner"] != "tie", "tie")
right = people["first"].where(people["winner"] == "first", people["second"])
right.index = people[["first", "second"]].agg(frozenset, axis=1)
same = named.groupby(pair).nunique().eq(1) & named.groupby(pair).first().ne("tie")
is_right = named.eq(pair.map(right)).groupby(pair).mean()
pd.Series(
    {
        "right, of all answers": is_right.mean(),
        "right, where both orders agree": is_right[same].mean(),
        "pairs where they agree": same.mean(),
    }
).round(2)

# %% [markdown]
# **Answer.** Not as it is. PaLM 2 knows something, but more than a quarter of its answers change with the order, more of them towards what
# is shown first than noise alone would turn: ask in both orders, and give the pairs on which the two answers differ to a better judge, here
# GPT-4, or to people. Two of the six are to be dropped, since their answers tell next to nothing of what is right. A verdict is about these
# pairs and this prompt: audit again when either changes. From the
# command line: `voirdire audit votes.csv --humans people.csv --out card.html`.

# %%
# check
assert card["verdict"] == "recalibrate"
found = {row["measure"]: row for row in card["measures"]}
assert found["position"]["found"]
assert found["position"]["value"] > 0
assert 0.2 < found["swap"]["value"] < 0.35
assert list(judges.index[judges["verdict"] == "keep"]) == ["GPT-4"]
assert judges["agreement_information"].idxmax() == "GPT-4"
assert (judges["verdict"] == "drop").sum() == 2
assert judges.loc["PaLM2", "agreement_information"] < judges.loc["GPT-4", "agreement_information"] / 2
assert (judges.drop(index=["PaLM2", "GPT-4"])["agreement_information"] < 0.03).all()
assert is_right[same].mean() > is_right.mean() + 0.05
