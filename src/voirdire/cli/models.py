"""The verb ``models``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options, matching_models
from voirdire.model import catalogue
from voirdire.model.catalogue import criteria_in_words, prior_lines
from voirdire.model.specs import load_model

if TYPE_CHECKING:
    from rich.table import Table

    from voirdire.model.specs import Model


@declare_options()
def models(
    name: Annotated[str | None, typer.Argument(autocompletion=matching_models)] = None, *, json: bool = False
) -> None:
    """List the models, or show one: equation, priors, identifiability, source.

    Parameters
    ----------
    name : [NAME|FILE]
        Show one model's card.
    """
    if name is None:
        all_models = catalogue.models()
        cards = [catalogue.model_card(model) for model in all_models.values()] if json else []
        console.print_result({"models": cards}, json, lambda: _list_models(all_models))
        return
    model = load_model(name)
    console.print_result(catalogue.model_card(model), json, lambda: _show_card(model))


def _list_models(all_models: dict[str, Model]) -> None:
    out = console.stdout_console()
    rows = [{"model": name, "what it is": model.title} for name, model in all_models.items()]
    out.print(console.fill_table(_plain_table(), rows, list(rows[0])))
    out.print("\nvoirdire models NAME shows a card: equation, priors, identifiability, source.")


def _plain_table() -> Table:
    return console.empty_table()


def _show_card(model: Model) -> None:
    from rich.padding import Padding
    from rich.text import Text

    def escaped_text(content: str, style: str = "") -> Text:
        return Text(console.printable_lines(content), style=style)

    heads = ("term", "kind", "prior's numbers")
    lines = [*prior_lines(model), *([("ties", "refused", "")] if model.refuses_ties else [])]
    priors = console.fill_table(_plain_table(), [dict(zip(heads, line, strict=True)) for line in lines], heads)
    out = console.stdout_console()
    out.print(escaped_text(model.name, "bold"))
    out.print(escaped_text(f"{model.title}\n"))
    out.print(Padding(escaped_text(f"{model.equation}\n"), (0, 0, 0, 2)))
    out.print(priors)
    position = "may sway a judge" if model.position_aware else "does not matter"
    facts = [
        ("Data", model.data),
        ("Criteria", criteria_in_words(model)),
        *([("Position of an item", position)] if model.compares else []),
        *(("Reduces to", f"{simpler.model} when {simpler.when}") for simpler in model.reduces_to),
        ("Identifiability", model.identifiability),
        ("Source", model.source),
    ]
    out.print("\nMode", style="bold")
    out.print(escaped_text(catalogue.MODE_NOTE))
    for parameter in catalogue.list_parameters(model):
        out.print(escaped_text(f"  {catalogue.parameter_sentence(parameter)}"))
    out.print()
    for density in catalogue.prior_densities(model):
        out.print(escaped_text(f"  {density}"))
    out.print()
    for name, content in facts:
        out.print(Text.assemble((f"{name}: ", "bold"), escaped_text(content)))
