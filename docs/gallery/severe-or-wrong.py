# %% [markdown]
# # Severe, or wrong?
#
# Four people grade essays from 1 to 5, not all the same ones. One is severe, one grades at random. Means of grades mix all that up.

# %%
import numpy as np
import pandas as pd

import voirdire

rng = np.random.default_rng(4)
worth = np.linspace(-2, 2, 20)
severity = {"ann": 0.0, "bob": -0.5, "severe": 1.5, "random": 0.0}
rows = []
for judge, severe in severity.items():
    for item in rng.permutation(20)[:14]:
        latent = rng.normal() * 2 if judge == "random" else 1.2 * worth[item] - severe + 0.4 * rng.normal()
        rows.append((judge, f"essay-{item:02d}", int(np.clip(np.round(3 + latent), 1, 5))))
scores = pd.DataFrame(rows, columns=["judge", "item", "score"])
result = voirdire.fit(scores, model="rating-discrimination", levels=[1, 2, 3, 4, 5], method="laplace")
result.judges()[["judge", "severity", "discrimination", "reliability"]].round(2)

# %%
# alt: Severity of four judges with 90% intervals; the severe judge stands apart from the others
result.plot("severity")

# %% [markdown]
# Severity moves all grades of a judge alike and is taken out; discrimination says how well a judge tells essays apart, and a judge who
# does not counts for little. How do both rankings correlate with the worth that made the grades?

# %%
truth = pd.Series(worth, index=[f"essay-{item:02d}" for item in range(20)])
model = result.ranking().set_index("item")["score"]
mean = scores.groupby("item")["score"].mean()
print(
    f"Kendall's tau with the truth: mean grade {mean.corr(truth, method='kendall'):.2f}, "
    f"model {model.corr(truth, method='kendall'):.2f}"
)

# %% [markdown]
# **Answer.** The severe one is no worse a judge than the lenient ones: only its zero differs. The random one is found by its
# discrimination near zero. `rating-severity` is the default; take `rating-discrimination` where judges may differ in skill.

# %%
# check
judged = result.judges().set_index("judge")
assert judged["severity"].idxmax() == "severe"
assert judged["discrimination"].idxmin() == "random"
assert model.corr(truth, method="kendall") > mean.corr(truth, method="kendall")
