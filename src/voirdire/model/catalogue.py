"""The catalogue of models: cards, and the tables of models in the documentation.

``python -m voirdire.model.catalogue`` (``make models-table``) rewrites models/README.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voirdire.model.specs import SECTIONS, Model, load_model, model_names
from voirdire.model.terms.parameters import Parameter
from voirdire.settings import read_toml

#: Words of the table of models, by section and kind.
_WORDS = read_toml(Path(__file__).with_name("catalogue.toml"))


def models() -> dict[str, Model]:
    """Load the models that ship with the package, by name.

    Examples
    --------
    >>> models()["crowd-bt"].title
    'Crowd-BT: one coin per judge'
    """
    return {name: load_model(name) for name in model_names()}


def model_card(model: Model) -> dict[str, Any]:
    """Return the contents of a model file, as plain Python.

    Parameters
    ----------
    model : Model

    Returns
    -------
    dict
        name, title, data, criteria, pool, position_aware, equation, prior (kind and numbers of each term),
        parameters, mode (the log densities that the mode maximises), identifiability, reduces_to (model and when) and
        source.

    Examples
    --------
    >>> model_card(load_model("bradley-terry"))["prior"]["reliability"]
    {'kind': 'fixed'}
    """
    fields = ("name", "title", "data", "criteria", "pool", "position_aware", "equation")
    return {
        **{field: getattr(model, field) for field in fields},
        "prior": {name: {"kind": term.kind} | term.numbers for name, term in model.sections.items()},
        "parameters": list_parameters(model),
        "mode": [MODE_NOTE, *prior_densities(model)],
        "identifiability": model.identifiability,
        "reduces_to": [{"model": simpler.model, "when": simpler.when} for simpler in model.reduces_to],
        "source": model.source,
    }


MODE_NOTE = (
    "The mode is that of the log likelihood (every answer counts once, without binomial factors) plus these log "
    "densities, in these coordinates x. Where n values sum to zero, they are H y of n - 1 coordinates y, of which each "
    "has the prior; H is orthonormal: |H y| = |y|, so that the density is that on the hyperplane, with n - 1 factors."
)


def list_parameters(model: Model) -> list[dict[str, Any]]:
    """List the parameters of all terms of a model, in the coordinates of the estimation.

    Returns
    -------
    list of dict
        ``name``, ``of`` (dimensions), ``sum_zero`` (dimension over which values sum to zero, or ""),
        ``prior`` with its numbers.

    Examples
    --------
    >>> [(one["name"], one["prior"]) for one in list_parameters(load_model("crowd-bt"))][:2]
    [('strength', 'Normal(0, 4)'), ('reliability', 'logit Beta(4, 1.5; 0.1)')]
    """
    return [
        {
            "name": parameter.name,
            "of": list(parameter.dims),
            "sum_zero": parameter.dims[-1] if parameter.zero_sum else "",
            "prior": str(parameter.prior),
        }
        for parameter in _model_parameters(model)
    ]


def prior_densities(model: Model) -> list[str]:
    """List the normalised log density of each kind of prior in a model, and its terms' additions to the equation.

    Examples
    --------
    >>> prior_densities(load_model("bradley-terry"))[0]
    'Normal(m, s): -(x - m)^2 / (2 s^2) - log s - log(2 pi) / 2'
    """
    terms = {name: SECTIONS[model.data][name][term.kind] for name, term in model.sections.items()}
    term_notes = [f"{name}: {term.says}" for name, term in terms.items() if term.says]
    return [*dict.fromkeys(parameter.prior.words for parameter in _model_parameters(model)), *term_notes]


def _model_parameters(model: Model) -> list[Parameter]:
    registries = SECTIONS[model.data]
    return [
        parameter
        for name, term in model.sections.items()
        for parameter in registries[name][term.kind].parameters(term.numbers)
    ]


def prior_lines(model: Model) -> list[tuple[str, str, str]]:
    """List each term of a model with its kind and the numbers of its prior, as text.

    Examples
    --------
    >>> prior_lines(load_model("crowd-bt").with_priors({"reliability": {"a": 8, "b": 2}}))[1]
    ('reliability', 'one-coin', 'a = 8, b = 2, reversed = 0.1')
    """
    lines = []
    for name, numbers in model_card(model)["prior"].items():
        kind = numbers.pop("kind")
        lines.append((name, kind, ", ".join(f"{key} = {value:g}" for key, value in numbers.items())))
    return lines


def parameter_sentence(parameter: dict[str, Any]) -> str:
    """Write an entry of :func:`list_parameters` as text.

    Examples
    --------
    >>> parameter_sentence(list_parameters(load_model("crowd-bt"))[0])
    'strength, of each criterion and item, sum zero over item: Normal(0, 4)'
    """
    dims_note = f", of each {' and '.join(parameter['of'])}" if parameter["of"] else ""
    zero = f", sum zero over {parameter['sum_zero']}" if parameter["sum_zero"] else ""
    return f"{parameter['name']}{dims_note}{zero}: {parameter['prior']}"


def criteria_in_words(model: Model) -> str:
    """Describe the treatment of criteria in a model.

    Examples
    --------
    >>> criteria_in_words(load_model("maple"))
    'separate, weights from votes'
    """
    word = str(_WORDS["criteria"][model.criteria])
    return word if model.weights is None else f"{word}, {_WORDS['weights'][model.weights.kind]}"


def models_table(folder: str) -> str:
    """Write the models as a Markdown table; ``folder`` is the prefix of the links to their files."""
    lines = ["| model | data | what it is | a judge is | criteria | reduces to |", "|---|---|---|---|---|---|"]
    order = list(SECTIONS)
    for name, model in sorted(models().items(), key=lambda entry: order.index(entry[1].data)):
        simpler = ", ".join(f"`{reduction.model}`" for reduction in model.reduces_to) or "–"
        judge = _WORDS["judges"][model.reliability.kind] if model.pool == "none" else f"pooled by {model.pool}"
        if model.cutpoints is not None and model.cutpoints.kind == "by-judge" and "cutpoints" not in judge:
            judge += " and cutpoints"
        link = f"[`{name}`]({folder}{name}.toml)"
        lines.append(f"| {link} | {model.data} | {model.title} | {judge} | {criteria_in_words(model)} | {simpler} |")
    return "\n".join(lines)


def models_readme() -> str:
    """Write the text of models/README.md."""
    parts = [
        "# Models",
        "Written by `make models-table` from the TOML files in this folder: change those. A file holds a model's\n"
        "equation and every number of its prior; its terms (`kind`) are functions in `src/voirdire/model/terms/`.\n"
        "`voirdire models NAME` shows a card, `voirdire fit --prior section.key=value` changes a number for one fit,\n"
        "and `--model FILE.toml` fits a model file of your own.",
        f"{MODE_NOTE} `voirdire models NAME` writes out the densities that a card names.",
        models_table(""),
        *(_markdown_card(model) for model in models().values()),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown_card(model: Model) -> str:
    terms = [f"- {name}: `{kind}`{numbers and ', ' + numbers}" for name, kind, numbers in prior_lines(model)]
    if model.refuses_ties:
        terms.append("- ties: refused")
    parts = [f"## {model.name}", f"{model.title}.", f"```text\n{model.equation}\n```", "\n".join(terms)]
    parts += ["Mode: " + "; ".join(map(parameter_sentence, list_parameters(model))) + ".", model.identifiability]
    parts += [f"Reduces to `{simpler.model}` when {simpler.when}." for simpler in model.reduces_to]
    return "\n\n".join([*parts, f"Source: {model.source}."])


def _write_readme(root: Path) -> None:
    if not (root / "pyproject.toml").is_file():
        raise SystemExit(f"{root} is no source tree of voirdire")
    (root / "models" / "README.md").write_text(models_readme(), encoding="utf-8")
    print("wrote models/README.md")


if __name__ == "__main__":
    _write_readme(Path(__file__).resolve().parents[3])
