# needs: mtrepro
# %% [markdown]
# # Does it hold on other prompts?
#
# Six models answered the 80 prompts of MT-bench, and three judges compared every pair of answers twice: 7,165 votes, and the board looks
# settled. Is it settled about the next prompt?

# %%
import voirdire

votes = voirdire.datasets.load("mtrepro").table
votes = votes[votes["judge"].isin(["Gemma-4-12B-it", "Qwen2.5-32B-Instruct", "gpt-4o-mini"])]
fits = {
    "these prompts only": voirdire.fit(votes, over="these", method="laplace"),
    "prompts like these": voirdire.fit(votes, over="new", method="laplace"),
}

# %%
# alt: Scores of six models with 90% intervals twice: about these prompts only the intervals are narrow, about prompts like these
#      they are more than twice as wide
import matplotlib.pyplot as plt
import numpy as np

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
names = list(fits["prompts like these"].ranking()["item"])
for shift, (name, fit) in zip((-0.12, 0.12), fits.items(), strict=True):
    found = fit.ranking().set_index("item").loc[names]
    axes.errorbar(
        found["score"],
        np.arange(len(names)) + shift,
        xerr=[found["score"] - found["low"], found["high"] - found["score"]],
        fmt="o",
        label=name,
    )
axes.set_yticks(range(len(names)), names)
axes.invert_yaxis()
axes.set_xlabel("score (log-odds), 90% interval")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
plt.show()

# %%
widths = {name: (fit.ranking()["high"] - fit.ranking()["low"]).mean() for name, fit in fits.items()}
print({name: round(float(width), 2) for name, width in widths.items()})

# %%
import textwrap

message = fits["prompts like these"].checks().set_index("check").loc["contexts", "message"]
print(textwrap.fill(message, 80))

# %% [markdown]
# **Answer.** Less than it looks: with a column `context` the default intervals are about prompts like these, and most of what is unsure is
# which prompts were asked. More votes on the same prompts do not narrow them, more prompts do. `contexts()` has each model's strength on
# each prompt: [Prompts and structure](../contexts.md).

# %%
# check
assert len(votes) == 7165
assert widths["prompts like these"] > 2 * widths["these prompts only"]
assert fits["prompts like these"].checks().set_index("check").loc["contexts", "value"] > 0.5
