# needs: llmfao
# %% [markdown]
# # May a judge replace people?
#
# LLMFAO: 124 people, GPT-3.5 and GPT-4 compared answers of language models, or called them equal. Do the two answer as one more person
# would?

# %%
import voirdire
from voirdire.agreement import may_replace

votes = voirdire.datasets.load("llmfao").table
person = votes["judge"].str.startswith("worker")
humans = votes[person].rename(columns={"judge": "person"})
found = may_replace(votes[~person], humans, margin=0.05)
found[["judge", "agreement", "people", "difference", "low", "high", "verdict"]].round(3)

# %%
# alt: Difference between each judge's agreement with people and people's with each other, with intervals; that of GPT-3.5 ends
#      below the margin, that of GPT-4 has it in its upper part
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
for place, row in enumerate(found.itertuples()):
    axes.errorbar(
        row.difference, place, xerr=[[row.difference - row.low], [row.high - row.difference]], fmt="o", color="C0"
    )
axes.axvline(-0.05, color="grey", linestyle=":")
axes.axvline(0, color="grey", linewidth=0.5)
axes.set_yticks(range(len(found)), found["judge"])
axes.margins(y=0.6)
axes.set_xlabel("agrees with people less (left) or more (right)\nthan they with each other; dotted: the margin")
plt.show()

# %% [markdown]
# Ties are part of it: how often does each say that two answers are equal?

# %%
who = votes["judge"].where(~person, "people")
(votes["winner"] == "tie").groupby(who).mean().round(3)

# %% [markdown]
# **Answer.** GPT-3.5 may not, and nothing says that GPT-4 may. People agree with each other on about half of these pairs, so that is the
# bar, not 100%; both models stay below it, GPT-4 by less. People often call answers equal, the models seldom do: of the difference, that
# is a part. The interval of GPT-4 crosses the margin: `not sure yet`, and the column `more`, which says how many more answers of people it
# takes, is empty where the table has too few pairs for a verdict.

# %%
# check
found = found.set_index("judge")
assert found["verdict"].to_dict() == {"gpt-3.5": "no", "gpt-4": "not sure yet"}
assert found.loc["gpt-3.5", "high"] < -0.05 < found.loc["gpt-4", "high"] < 0
assert found.loc["gpt-4"].isna()["more"]
assert 0.5 < found["people"].iloc[0] < 0.56
assert found.loc["gpt-4", "difference"] > found.loc["gpt-3.5", "difference"]
tied = (votes["winner"] == "tie").groupby(who).mean()
assert tied["people"] > 2 * tied[["gpt-3.5", "gpt-4"]].max()
