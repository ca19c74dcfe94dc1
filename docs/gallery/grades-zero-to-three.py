# needs: llmjudge-half
# %% [markdown]
# # Grades from 0 to 3, by nine language models
#
# LLMJudge again: nine judges grade how well 1,715 passages answer a query, from 0 (not at all) to 3 (perfectly). What is the grade of each
# passage, and what do 60 grades of people add?

# %%
import voirdire

data = voirdire.datasets.load("llmjudge-half")
judges = sorted(data.table["judge"].unique())[::4]
labels = data.table[data.table["judge"].isin(judges)][["judge", "item", "label"]]
people = data.gold.sample(60, random_state=0)
alone = voirdire.fit(labels, levels=[0, 1, 2, 3], method="map")
result = voirdire.fit(labels, levels=[0, 1, 2, 3], method="map", anchors=people)
result.classes().head().round(2)

# %% [markdown]
# `levels=` says that 0 to 3 are in order (`classes=` would take them as names), `anchors=` has the grades that people gave 60 of the
# passages. What each judge says of a passage by its grade:

# %%
# alt: For each of nine judges the shares of the grades that it gives to passages of each true grade, darkest along the diagonal
#      at 0 and mixed at 1 and 2
result.plot("confusion")

# %% [markdown]
# And on the 1,655 passages whose grade by people was not given?

# %%
rest = data.gold[~data.gold["item"].isin(people["item"])].set_index("item")["label"]
grades = ["p_0", "p_1", "p_2", "p_3"]
said = {
    "majority": labels.groupby("item")["label"].agg(lambda said: said.mode()[0]),
    "model, no grades of people": alone.classes().set_index("item")[grades].idxmax(axis=1).str[2:].astype(int),
    "model, 60 grades": result.classes().set_index("item")[grades].idxmax(axis=1).str[2:].astype(int),
}
right = {name: float((found[rest.index] == rest).mean()) for name, found in said.items()}
{name: f"{value:.1%} as people" for name, value in right.items()}

# %% [markdown]
# **Answer.** `classes()` gives each passage's grade with a probability for each of 0 to 3. What the judges share cannot be learned from
# them alone: there the model is as often right as the majority. Sixty grades of people show that most judges call many a 0 and 1 too high
# or too low, each in its way, and are worth some four points. [Labels](../labels.md) has the rest.

# %%
# check
assert len(judges) == 9
assert len(rest) == 1655
assert result.classes()[grades].sum(axis=1).between(0.999, 1.001).all()
none, sixty = right["model, no grades of people"], right["model, 60 grades"]
assert abs(none - right["majority"]) < 0.01
assert 0.03 < sixty - none < 0.05
