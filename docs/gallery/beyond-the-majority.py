# %% [markdown]
# # Beyond the majority
#
# Seven labellers call answers safe or unsafe. Two overlook most that is unsafe, two cry wolf. Does it pay to know who is who?

# %%
import numpy as np
import pandas as pd

import voirdire

rng = np.random.default_rng(7)
unsafe = rng.random(150) < 0.3
chance = {
    "careful-1": (0.9, 0.9),
    "careful-2": (0.85, 0.92),
    "careful-3": (0.88, 0.88),
    "lax-1": (0.2, 0.98),
    "lax-2": (0.25, 0.97),
    "strict-1": (0.97, 0.55),
    "strict-2": (0.96, 0.5),
}  # sensitivity, specificity
labels = pd.DataFrame(
    [
        (
            judge,
            f"answer-{n:03d}",
            "unsafe" if rng.random() < (sensitive if bad else 1 - specific) else "safe",
        )
        for judge, (sensitive, specific) in chance.items()
        for n, bad in enumerate(unsafe)
    ],
    columns=["judge", "item", "label"],
)
result = voirdire.fit(labels, classes=["safe", "unsafe"], method="laplace")
truth = pd.DataFrame(
    {"item": [f"answer-{n:03d}" for n in range(150)], "label": np.where(unsafe, "unsafe", "safe")}
)
majority = voirdire.fit(labels, classes=["safe", "unsafe"], model="majority-label")
for name, fit in {"majority": majority, "model": result}.items():
    print(name, fit.accuracy(truth).set_index("measure")["value"].round(3).to_dict())

# %% [markdown]
# What the model learned of each, without a single known answer:

# %%
# alt: What each of seven judges says of safe and of unsafe answers, as shares; the lax ones call most unsafe answers safe,
#      the strict ones call half of the safe answers unsafe
result.plot("confusion")

# %%
result.judges()[["judge", "sensitivity", "specificity", "reliability"]].round(2)

# %% [markdown]
# **Answer.** Yes where errors differ: an "unsafe" of a lax judge says much, one of a strict judge little, and a majority counts both
# alike. Where all judges err alike there is nothing to gain but the probabilities.

# %%
# check
value = {
    name: fit.accuracy(truth).set_index("measure")["value"]
    for name, fit in {"m": majority, "r": result}.items()
}
assert value["r"]["accuracy"] >= value["m"]["accuracy"]
judged = result.judges().set_index("judge")
assert (judged.filter(like="lax", axis=0)["sensitivity"] < 0.5).all()
assert (judged.filter(like="strict", axis=0)["specificity"] < 0.75).all()
