"""Makes sets_nltk.json: Krippendorff's alpha of sets of labels by NLTK. Run in an environment of its own
(pip install nltk): python tests/reference/sets_nltk.py > tests/reference/sets_nltk.json

Three judges, of whom each answers some of twelve items; items with one answer are left out, as NLTK counts them.
"""

import json
import random
from collections import Counter
from importlib.metadata import version

from nltk.metrics import jaccard_distance, masi_distance
from nltk.metrics.agreement import AnnotationTask

LABELS = "pqrs"
PAIRS = [("p", "p"), ("pq", "p"), ("pq", "qr"), ("pq", "pqrs"), ("p", "q"), ("pqr", "qrs")]

rng = random.Random(1)
answers = []
for item in range(12):
    truth = {label for label in LABELS if rng.random() < 0.5} or {"p"}
    for judge in "abc":
        if rng.random() < 0.15:
            continue
        said = {label for label in LABELS if (label in truth) != (rng.random() < 0.2)} or {"q"}
        answers.append((judge, f"i{item}", frozenset(said)))
times = Counter(item for _, item, _ in answers)
answers = [one for one in answers if times[one[1]] > 1]
distances = {"masi": masi_distance, "jaccard": jaccard_distance}
found = {
    "nltk": version("nltk"),
    "answers": [[judge, item, sorted(said)] for judge, item, said in answers],
    "alpha": {name: AnnotationTask(data=answers, distance=one).alpha() for name, one in distances.items()},
    "distances": [
        [list(a), list(b), *(one(frozenset(a), frozenset(b)) for one in distances.values())] for a, b in PAIRS
    ],
}
print(json.dumps(found))
