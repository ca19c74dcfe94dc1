# needs: llmbar-judges
# %% [markdown]
# # Twenty judges, or four?
#
# LLMBar asked the same language models under several prompts. Twenty judges: GPT-4 under ten prompts, ChatGPT and LLaMA 2 under four
# each, PaLM 2 under two. How many opinions are that?

# %%
import voirdire

data = voirdire.datasets.load("llmbar-judges")
votes = data.table[data.table["judge"].str.match("GPT-4/|ChatGPT/V|LLaMA2/V|PaLM2/V")].drop(columns="subset")
result = voirdire.fit(votes, method="laplace")
sorted(votes["judge"].unique())

# %% [markdown]
# Blue: two judges agree more than the fitted model expects of independent ones.

# %%
# alt: Judges by judges, coloured by how much more they agree than expected; those of ChatGPT and LLaMA 2 form one blue block, darkest
#      within a language model, and those of GPT-4 stand nearly white
result.plot("agreement")

# %%
import textwrap

checks = result.checks().set_index("check")
for said in (checks.loc["dependence", "message"], result.notes[1]):
    print(textwrap.fill(said, 80, subsequent_indent="  "))

# %% [markdown]
# **Answer.** About four, as there are language models: another prompt is not another opinion, and ChatGPT and LLaMA 2 share mistakes even
# with each other. GPT-4 stands pale, as it agrees with itself by being right, which the model expects. The check `dependence` says how many
# independent judges the panel is worth. Duplicates that it finds count for less by themselves; where you know
# that judges share a base model, say so with `families=`.

# %%
# check
assert votes["judge"].nunique() == 20
assert checks.loc["dependence", "level"] in ("warn", "fail")
assert 2 <= checks.loc["dependence", "value"] <= 6
assert "Duplicate judges" in result.notes[1]
