# %% [markdown]
# # Seven judges, or three?
#
# A panel of seven, of which five are one base model under five names. How many opinions are that?

# %%
import voirdire

panel = {
    "ann": {"kind": "one-coin", "eta": 0.85},
    "bob": {"kind": "one-coin", "eta": 0.85},
    "model": {"kind": "one-coin", "eta": 0.7},
    **{f"model-v{n}": {"kind": "copycat", "copies": "model", "rho": 0.9} for n in (2, 3, 4, 5)},
}
votes = voirdire.simulate_votes(panel, items=12, criteria=1, seed=3).votes
result = voirdire.fit(votes, method="laplace")

# %% [markdown]
# Blue: two judges agree more than the fitted model expects of independent ones.

# %%
# alt: Judges by judges, coloured by how much more they agree than expected; the five judges of the model form a blue
#      block, ann and bob stand outside
result.plot("agreement")

# %%
checks = result.checks().set_index("check")
import textwrap

for said in (checks.loc["dependence", "message"], *result.notes):
    print(textwrap.fill(said, 80, subsequent_indent="  "))

# %% [markdown]
# **Answer.** Far fewer than seven. The check `dependence` says how many independent judges the panel is worth. Duplicates that it
# finds count for less by themselves; where you know that judges share a base model, say so with `families=`, as a family whose errors
# are the consensus cannot be found by answers alone.

# %%
# check
assert checks.loc["dependence", "level"] in ("warn", "fail")
