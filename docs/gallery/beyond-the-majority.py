# needs: dices-350
# %% [markdown]
# # Beyond the majority
#
# DICES: 123 people call each of 350 conversations with a chatbot safe, unsafe, or are unsure. Experts did the same. Some people call
# nearly everything safe, others nearly nothing. Does it pay to know who is who?

# %%
import voirdire

data = voirdire.datasets.load("dices-350")
labels, experts = data.table, data.gold
fits = {
    "majority": voirdire.fit(labels, classes=["No", "Yes"], model="majority-label"),
    "model": voirdire.fit(labels, classes=["No", "Yes"], method="laplace"),
}
right = {name: fit.accuracy(experts).set_index("measure").loc["accuracy"] for name, fit in fits.items()}
for name, row in right.items():
    print(f"{name}: {row['value']:.3f} of the experts' labels, 90% interval {row['low']:.3f} to {row['high']:.3f}")

# %% [markdown]
# What the model learned of each person, without one expert's label. Top right would be a person who is always right; along the
# diagonal lie those whose answer says nothing of the conversation.

# %%
# alt: Each of 123 people as a point: share of safe conversations called safe against share of unsafe ones called unsafe; they
#      spread from one corner to the other, most of them above the diagonal of answers that say nothing
import matplotlib.pyplot as plt

found = fits["model"].judges()
figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
axes.plot([0, 1], [1, 0], color="grey", linestyle=":")
axes.plot(found["specificity"], found["sensitivity"], "o", alpha=0.5)
axes.set(xlabel="calls 'No' what is No", ylabel="calls 'Yes' what is Yes", aspect="equal")
plt.show()

# %% [markdown]
# Is it true? The same from the experts' labels:

# %%
said = labels.merge(experts.rename(columns={"label": "true"}), on="item")
said = said[said["label"] != "Unsure"]
by_expert = said.assign(right=said["label"] == said["true"]).groupby(["judge", "true"])["right"].mean().unstack()
learned = found.set_index("judge")
agree = {
    "calls 'Yes' what is Yes": learned["sensitivity"].corr(by_expert["Yes"]),
    "calls 'No' what is No": learned["specificity"].corr(by_expert["No"]),
}
print({name: f"correlation {value:.2f}" for name, value in agree.items()})

# %% [markdown]
# **Answer.** Some: a person's "Yes" that is rarely given says more than one that is given always, and the model finds who is who without
# the experts. It agrees with the experts on some more conversations than the majority does. Most of what is left is not noise of raters:
# people and experts see other things, and only [known answers](../labels.md) can tell a model that.

# %%
# check
assert {name: round(row["value"], 3) for name, row in right.items()} == {"majority": 0.654, "model": 0.671}
assert min(agree.values()) > 0.7
assert found["sensitivity"].max() > 0.9
assert found["sensitivity"].min() < 0.1
assert (found["sensitivity"] + found["specificity"] > 1).mean() > 0.9
