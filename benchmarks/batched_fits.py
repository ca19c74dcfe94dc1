"""Fits per second of a study's batch against a plain loop of single fits over the same simulated tables."""

from __future__ import annotations

import time

from common import show

from voirdire import fit
from voirdire.simulate import simulate_votes
from voirdire_studies import load_study, recovery
from voirdire_studies.study import simulation_settings

COUNT = 20

study = load_study("rq3")
cell = next(cell for cell in study.study_cells() if cell.added == "random" and cell.count == 10)
number = study.study_cells().index(cell)
study.settings["models"] = ["maple-position"]
unit = (number, tuple(range(COUNT)))

recovery.run(study, unit)  # compiles
start = time.perf_counter()
recovery.run(study, unit)
batched = COUNT / (time.perf_counter() - start)

tables = [simulate_votes(**simulation_settings(study, cell, replicate)) for replicate in range(COUNT)]
fit(tables[0].votes, tables[0].criteria_votes, model="maple-position", method="map")  # compiles
start = time.perf_counter()
for table in tables:
    fit(table.votes, table.criteria_votes, model="maple-position", method="map")
looped = COUNT / (time.perf_counter() - start)

row = {
    "work": "maple-position, 20 judges x 30 items x 4 criteria (34,920 votes)",
    "batched, fits/s": batched,
    "loop of fit(), fits/s": looped,
    "ratio": batched / looped,
}
notes = [
    "The batch simulates, counts, fits and measures 20 replicates under one jax.vmap; the loop reads and fits "
    "tables "
    "that are there. Compilation is left out of both; the loop compiles anew whenever a table has other "
    "numbers of "
    "distinct outcomes, which is where it loses most."
]
show("Fits of a simulation study", [row], notes)
