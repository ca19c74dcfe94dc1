"""The mode of MAPLE (RQ1: 10 judges x 50 items x 5 criteria) against its authors' procedure, Adam for "
"5,000 epochs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from common import median, ratio, show, small, timed

from voirdire.infer import engine
from voirdire.infer.mode import find_mode
from voirdire.kinds.votes.problem import encode_votes
from voirdire.model.specs import load_model
from voirdire.simulate import simulate_votes
from voirdire.tables.votes import read_votes
from voirdire_studies import load_study
from voirdire_studies.study import simulation_settings

EPOCHS, RATE, RUNS = (200 if small() else 5000), 0.01, 3 if small() else 5
study = load_study("rq1")
cell = next(cell for cell in study.study_cells() if cell.panel == "10-100")
panel = simulate_votes(**simulation_settings(study, cell, 0))
votes, on_criteria = read_votes(panel.votes), read_votes(panel.criteria_votes)
problem = encode_votes(load_model("maple"), votes, on_criteria)
density = problem.density


@jax.jit
def adam(x: jax.Array, table: object) -> jax.Array:
    both = jax.value_and_grad(lambda y: engine.negative_log_density(density, y, table))

    def step(turn: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        x, mean, square = state
        gradient = both(x)[1]
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        by, of = 1 - 0.9 ** (turn + 1.0), 1 - 0.999 ** (turn + 1.0)
        return x - RATE * (mean / by) / (jnp.sqrt(square / of) + 1e-8), mean, square

    return jax.lax.fori_loop(0, EPOCHS, step, (x, jnp.zeros_like(x), jnp.zeros_like(x)))[0]


def loss(x: np.ndarray) -> float:
    return -float(density.log_density(np.asarray(x), problem.data, np))


with engine.double_precision():
    data = jax.tree.map(jnp.asarray, problem.data)
    start = jnp.full(density.size, 0.01)
    find_mode(problem), adam(start, data).block_until_ready()
    fast, slow = [], []
    for _ in range(RUNS):
        seconds, mode = timed(lambda: find_mode(problem))
        fast.append(seconds)
        seconds, theirs = timed(lambda: adam(start, data).block_until_ready())
        slow.append(seconds)
row = {
    "work": f"{votes.rows + on_criteria.rows:,} votes, {density.size} parameters, compiled before",
    "voirdire, s": median(fast),
    f"Adam, {EPOCHS:,} epochs, s": median(slow),
    "ratio": ratio(slow, fast),
    "our loss": loss(mode.x),
    "its loss": loss(theirs),
}
notes = [
    "Panel 10-100 of the study rq1, every judge's answers in one order. The loss is minus the log "
    "posterior density of "
    "the model `maple` for both.",
    f"Adam as one compiled loop at learning rate {RATE}, without Python between the epochs, which is kinder to "
    "it than one "
    f"call per epoch; medians of {RUNS} interleaved runs.",
]
show("Mode of MAPLE", [row], notes)
