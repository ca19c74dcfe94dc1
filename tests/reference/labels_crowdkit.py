"""Makes labels_crowdkit.json: Dawid-Skene by crowd-kit's EM on two textbook tables. Run in an environment of its own
(pip install crowd-kit): python tests/reference/labels_crowdkit.py > tests/reference/labels_crowdkit.json

anesthesia: Dawid and Skene (1979), JRSS C 28, table 1: 45 patients, fitness for anaesthesia from 1 to 4 as given by
five observers, the first of them three times. caries: Espeland and Handelman (1989), Biometrics 45: X-rays of 3,869
teeth, caries (1) or not (0) as seen by five dentists, as counts of the 32 patterns.

Both tables were compared with copies typed by others and are the same in every cell: anesthesia with
generate_sample_data() of github.com/dallascard/dawid_skene; caries with the 32 patterns of Handelman, Leverett,
Espeland and Curzon (1986, J. Am. Dent. Assoc. 113), and, summed over dentists 2 and 4, with the table of three
dentists that a textbook prints (2128 1122 54 226 36 87 7 209).
"""

import json
import platform
from importlib.metadata import version

import pandas as pd
from crowdkit.aggregation import DawidSkene

ANESTHESIA = (  # noqa: SIM905
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 "
    "1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 "
    "1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 "
    "2322222 1211111 2222222"
).split()
CARIES = [
    *(1880, 789, 43, 75, 23, 63, 8, 22, 188, 191, 17, 67, 15, 85, 8, 56),
    *(22, 26, 6, 14, 1, 20, 2, 17, 2, 20, 6, 27, 3, 72, 1, 100),
]


def anesthesia() -> pd.DataFrame:
    rows = [
        (f"patient-{number:02d}", f"observer-{max(place - 2, 0) + 1}", label)
        for number, labels in enumerate(ANESTHESIA, 1)
        for place, label in enumerate(labels)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def caries() -> pd.DataFrame:
    patterns = [f"{pattern:05b}" for pattern, count in enumerate(CARIES) for _ in range(count)]
    rows = [
        (f"tooth-{number:04d}", f"dentist-{place + 1}", label)
        for number, labels in enumerate(patterns, 1)
        for place, label in enumerate(labels)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


if __name__ == "__main__":
    found = {}
    for name, table in {"anesthesia": anesthesia(), "caries": caries()}.items():
        em = DawidSkene(n_iter=20000, tol=1e-13).fit(table)
        errors = em.errors_.reset_index().melt(["worker", "label"], var_name="class", value_name="p")
        found[name] = {
            "shares": {str(k): float(v) for k, v in em.priors_.items()},
            "rates": [[str(r.worker), str(r["class"]), str(r.label), float(r.p)] for _, r in errors.iterrows()],
        }
    versions = {"python": platform.python_version()} | {p: version(p) for p in ("crowd-kit", "numpy", "pandas")}
    print(json.dumps({"versions": versions, "tables": found}, indent=1))
