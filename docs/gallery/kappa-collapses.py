# %% [markdown]
# # When kappa collapses
#
# Two raters agree on 95 of 100 comments that nothing is toxic in. Kappa is near zero. Which number should be reported?

# %%
import pandas as pd

import voirdire

said = [("no", "no")] * 95 + [("no", "yes")] * 3 + [("yes", "no")] * 2
labels = pd.DataFrame(
    [(judge, n, label) for n, both in enumerate(said) for judge, label in zip(("ann", "bob"), both, strict=True)],
    columns=["judge", "item", "label"],
)
measures = ["agreement_rate", "cohen_kappa", "krippendorff_alpha_nominal", "gwet_ac1"]
found = voirdire.agreement(labels, measures=measures, resamples=2000)
found[["measure", "value", "low", "high"]].round(3)

# %% [markdown]
# Kappa asks how much better than chance, and where nearly all answers are "no", chance agrees nearly always. The same two raters, as
# seldom wrong, on tables with other shares of "yes":

# %%
# alt: Cohen's kappa, Gwet's AC1 and the agreement rate of two raters who each err in five of a hundred, against the share
#      of yes; kappa falls to near zero at both ends, AC1 and the rate stay high
import matplotlib.pyplot as plt
import numpy as np

share = np.linspace(0.005, 0.995, 199)
right = 0.95
yes = share * right + (1 - share) * (1 - right)
observed = right**2 + (1 - right) ** 2
kappa = (observed - (yes**2 + (1 - yes) ** 2)) / (1 - (yes**2 + (1 - yes) ** 2))
ac1 = (observed - 2 * yes * (1 - yes)) / (1 - 2 * yes * (1 - yes))
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, values in {
    "agreement rate": np.full_like(share, observed),
    "Gwet's AC1": ac1,
    "Cohen's kappa": kappa,
}.items():
    axes.plot(share, values, label=name)
axes.set(xlabel="share of yes", ylabel="coefficient", ylim=(0, 1))
axes.legend()
plt.show()

# %% [markdown]
# **Answer.** Report the agreement rate with the share of each label, and one coefficient that suits the question, each with its
# interval. A low kappa here says that the table cannot show whether the raters can tell toxic comments from others: five were called
# so, and never the same. It does not say that raters are careless. [Formulas](../coefficients.md) has more of such cases.

# %%
# check
value = found.set_index("measure")["value"]
assert value["agreement_rate"] == 0.95
assert abs(value["cohen_kappa"]) < 0.05 < 0.9 < value["gwet_ac1"]
