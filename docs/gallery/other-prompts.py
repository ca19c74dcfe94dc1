# %% [markdown]
# # Does it hold on other prompts?
#
# Five systems answered eight prompts each, and every pair was judged often. The board looks settled. Is it settled about the next prompt?

# %%
import numpy as np
import pandas as pd

import voirdire

rng = np.random.default_rng(11)
overall = np.linspace(0.8, -0.8, 5)
on_prompt = overall[:, None] + 0.9 * rng.normal(size=(5, 8))
rows = []
for prompt in range(8):
    for a in range(5):
        for b in range(5):
            if a == b:
                continue
            for judge in ("ann", "bob", "cem"):
                wins = rng.random() < 1 / (1 + np.exp(on_prompt[b, prompt] - on_prompt[a, prompt]))
                rows.append(
                    (judge, f"system {a}", f"system {b}", "first" if wins else "second", f"prompt {prompt}")
                )
votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner", "context"])
fits = {
    "these prompts only": voirdire.fit(votes, over="these", method="laplace"),
    "prompts like these": voirdire.fit(votes, over="new", method="laplace"),
}

# %%
# alt: Scores of five systems with 90% intervals twice: about these prompts only the intervals are narrow, about prompts like
#      these they are about twice as wide and overlap
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for shift, (name, fit) in zip((-0.12, 0.12), fits.items(), strict=True):
    found = fit.ranking().sort_values("item")
    place = np.arange(5) + shift
    axes.errorbar(
        found["score"],
        place,
        xerr=[found["score"] - found["low"], found["high"] - found["score"]],
        fmt="o",
        label=name,
    )
axes.set_yticks(range(5), [f"system {n}" for n in range(5)])
axes.invert_yaxis()
axes.set_xlabel("score (log-odds), 90% interval")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
plt.show()

# %%
widths = {name: (fit.ranking()["high"] - fit.ranking()["low"]).mean() for name, fit in fits.items()}
print({name: round(float(width), 2) for name, width in widths.items()})

# %% [markdown]
# **Answer.** Less than it looks. With a column `context` the default intervals are about prompts like these, and they are wider: the
# choice of eight prompts is part of the chance. More votes on the same prompts do not narrow them, more prompts do; the check `contexts`
# says how much of the variance is theirs.

# %%
# check
assert widths["prompts like these"] > 1.3 * widths["these prompts only"]
