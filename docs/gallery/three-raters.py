# needs: newsroom
# %% [markdown]
# # Do three raters agree on anything?
#
# Newsroom: three raters scored 420 summaries, 1 to 5, by four criteria. Under which of them do the scores measure something that raters
# share?

# %%
import voirdire

scores = voirdire.datasets.load("newsroom").table
measures = ["krippendorff_alpha_ordinal", "gwet_ac2"]
found = voirdire.agreement(scores, measures=measures, levels=[1, 2, 3, 4, 5], resamples=1000)
found = found[found["judges"].map(len) == 3]  # of all three, not pair by pair
found.pivot(index="criterion", columns="measure", values="value").round(2)

# %%
# alt: Krippendorff's alpha and Gwet's AC2 of three raters under four criteria with 90% intervals: alpha is near zero for fluency and
#      coherence and highest for informativeness; AC2 is higher throughout
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
order = list(scores["criterion"].unique())
for shift, (measure, rows) in zip((-0.1, 0.1), found.groupby("measure", sort=False), strict=True):
    place = [order.index(criterion) + shift for criterion in rows["criterion"]]
    axes.errorbar(
        rows["value"], place, xerr=[rows["value"] - rows["low"], rows["high"] - rows["value"]], fmt="o", label=measure
    )
axes.axvline(0, color="grey", linewidth=0.5)
axes.set_yticks(range(len(order)), order)
axes.set_xlabel("coefficient, 90% interval")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
plt.show()

# %% [markdown]
# **Answer.** On informativeness, somewhat; on fluency not beyond chance. Alpha asks whether differences between summaries stand out of
# those between raters, and nearly all summaries are fluent; AC2 asks how near the scores are, which they are where all lie close together.
# Which to report hangs on what is asked of the scores: to rank summaries, alpha. [Formulas](../coefficients.md) has both.

# %%
# check
value = found.pivot(index="criterion", columns="measure", values="value")
alpha = value["krippendorff_alpha_ordinal"]
assert alpha.round(3).to_dict() == {"coherence": 0.065, "fluency": -0.016, "informativeness": 0.285, "relevance": 0.115}
assert (value["gwet_ac2"] > alpha).all()
