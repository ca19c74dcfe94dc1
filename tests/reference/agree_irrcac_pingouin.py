"""Write agree_irrcac_pingouin.json: agreement coefficients by irrCAC and pingouin on the published tables.

    VOIRDIRE_SHARED=/path/to/tables python agree_irrcac_pingouin.py

in an environment with irrCAC 0.4.4 and pingouin 0.6.1 (numpy 1.26, pandas 2.3), which this project does not
need itself.
"""

from __future__ import annotations

import json
import os
from importlib import metadata
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin
from irrCAC.raw import CAC

DATA = Path(os.environ["VOIRDIRE_SHARED"]) / "data"


def unrounded(frame: pd.DataFrame, weights: str, method: str, categories: list | None = None) -> float:
    made = CAC(frame, weights=weights, categories=categories, digits=15)
    return float(getattr(made, method)()["est"]["coefficient_value"])


def llmfao() -> pd.DataFrame:
    votes = pd.read_csv(DATA / "llmfao_votes.csv")
    low = votes[["first", "second"]].min(axis=1)
    first_won = votes["winner"] == "first"
    answer = np.where(first_won == (votes["first"] == low), "first by name", "second by name")
    votes["answer"] = np.where(votes["winner"] == "tie", "tie", answer)
    votes["unit"] = votes["context"].astype(str) + low + votes[["first", "second"]].max(axis=1)
    return votes.pivot(index="unit", columns="judge", values="answer")


def main() -> None:
    values: dict[str, dict[str, float]] = {}
    newsroom = pd.read_csv(DATA / "newsroom_scores.csv")
    for criterion, part in newsroom.groupby("criterion"):
        frame = part.pivot(index="item", columns="judge", values="score")
        found = values[f"newsroom {criterion}"] = {}
        found["gwet_ac1"] = unrounded(frame, "identity", "gwet")
        found["gwet_ac2_linear"] = unrounded(frame, "linear", "gwet")
        found["gwet_ac2"] = unrounded(frame, "quadratic", "gwet")
        found["gwet_ac2_ordinal"] = unrounded(frame, "ordinal", "gwet")
        for measure, method in (("fleiss_kappa", "fleiss"), ("conger_kappa", "conger")):
            found[measure] = unrounded(frame, "identity", method)
            found[f"{measure}_linear"] = unrounded(frame, "linear", method)
            found[f"{measure}_quadratic"] = unrounded(frame, "quadratic", method)
        icc = pingouin.intraclass_corr(part, targets="item", raters="judge", ratings="score").set_index("Type")
        for form, name in zip(("1_1", "2_1", "3_1", "1_k", "2_k", "3_k"), icc.index, strict=True):
            found[f"icc_{form} ({name})"] = float(icc.loc[name, "ICC"])
    topical = pd.read_csv(DATA / "topicalchat_scores.csv")
    topical["item"] = topical["context"] + topical["system"]
    for criterion, part in topical.groupby("criterion"):
        icc = pingouin.intraclass_corr(part, targets="item", raters="judge", ratings="score").set_index("Type")
        found = values[f"topicalchat {criterion}"] = {}
        for form, name in zip(("1_1", "2_1", "3_1", "1_k", "2_k", "3_k"), icc.index, strict=True):
            found[f"icc_{form} ({name})"] = float(icc.loc[name, "ICC"])
    dices = pd.read_csv(DATA / "dices350_labels.csv").pivot(index="item", columns="judge", values="label")
    values["dices350"] = {
        "gwet_ac1": unrounded(dices, "identity", "gwet"),
        "fleiss_kappa": unrounded(dices, "identity", "fleiss"),
        "conger_kappa": unrounded(dices, "identity", "conger"),
    }
    for a, b in combinations(["rater-001", "rater-002", "rater-003"], 2):
        values[f"dices350 {a} {b}"] = {
            "gwet_ac1": unrounded(dices[[a, b]], "identity", "gwet", ["No", "Unsure", "Yes"])
        }
    votes = llmfao()
    values["llmfao"] = {
        "gwet_ac1": unrounded(votes, "identity", "gwet"),
        "fleiss_kappa": unrounded(votes, "identity", "fleiss"),
        "conger_kappa": unrounded(votes, "identity", "conger"),
    }
    values["llmfao gpt-3.5 gpt-4"] = {
        "gwet_ac1": unrounded(votes[["gpt-3.5", "gpt-4"]], "identity", "gwet"),
        "fleiss_kappa": unrounded(votes[["gpt-3.5", "gpt-4"]], "identity", "fleiss"),
        "conger_kappa": unrounded(votes[["gpt-3.5", "gpt-4"]], "identity", "conger"),
    }
    versions = {name: metadata.version(name) for name in ("irrCAC", "pingouin", "numpy", "pandas", "scipy")}
    out = {"made_by": Path(__file__).name, "versions": versions, "values": values}
    Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
