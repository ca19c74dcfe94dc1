"""The verb ``prompts``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions
from voirdire.collect import dry_run
from voirdire.decide.informative_prompts import telling

#: How many prompts are shown by default.
DEFAULT_LIMIT = 5


@declare_options()
def prompts(
    what: str | None = None,
    *,
    table: Annotated[Path | None, typer.Option("--telling")] = None,
    keep: float = 0.95,
    seed: int = 0,
    panel: Path | None = None,
    items: Path | None = None,
    own: Annotated[Path | None, typer.Option("--prompts")] = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Show the prompts of a run, or the prompts or templates of a protocol; or find the most informative prompts.

    Parameters
    ----------
    what : RUN|PROTOCOL
        The folder of a run of collect, or a protocol's name.
    table : TABLE
        Votes, scores or labels with a column context: find the prompts that distinguish items best, and the smallest
        subset that keeps the ranking.
    keep
        With --telling: Kendall's tau between the subset's ranking and the full ranking.
    seed
        With --telling: seed of the split of the judges into halves.
    panel : PANEL.toml
        With a protocol: fill in its prompts for this panel.
    items : ITEMS
        With a protocol: fill in its prompts for these items.
    own : DIR
        Templates that replace those of the same name.
    limit
        Number of prompts to show (default: 5; for a protocol 1 of each step).
    """

    if (what is None) == (table is None):
        raise typer.BadParameter("give a run's folder or a protocol, or --telling TABLE")
    if what is None:
        assert table is not None
        choice = telling(reading.table(table), keep=keep, seed=seed, **reading.scale)
        console.print_result(choice, json, lambda: _show_prompt_choice(choice, limit or DEFAULT_LIMIT))
        return
    if Path(what).is_dir():
        shown = list(islice(dry_run.prompts_sent(Path(what)), limit or DEFAULT_LIMIT))
    elif panel is not None and items is not None:
        shown = list(dry_run.prompts_planned(panel, items, what, own, each=limit or 1))
    elif panel is not None or items is not None:
        raise typer.BadParameter("--panel and --items go together")
    else:
        texts = dry_run.protocol_templates(what, own)
        console.print_result({"templates": texts}, json, lambda: _show_templates(texts))
        return
    console.print_result({"prompts": [prompt._asdict() for prompt in shown]}, json, lambda: _show_prompts(shown))


def _show_templates(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        print(f"== {console.printable_text(name)}\n{console.printable_lines(text)}\n")


def _show_prompts(shown: list[Any]) -> None:
    for prompt in shown:
        print("==", *map(console.printable_text, filter(None, (prompt.step, prompt.judge, prompt.key))))
        for name in ("system", "user", "answer"):
            if getattr(prompt, name):
                print(f"-- {name}\n{console.printable_lines(getattr(prompt, name))}")
        print()


def _show_prompt_choice(choice: dict[str, Any], limit: int) -> None:
    sizes, total = choice["sizes"], len(choice["sizes"])
    subset = sizes[choice["smallest"] - 1]
    console.print_sentence(
        f"{choice['smallest']} of {total} prompts keep the ranking: tau {subset['tau']:.2f} with the ranking by all "
        f"prompts (random prompts: {subset['random']:.2f}), on held-out answers."
    )
    console.print_sentence(f"They are: {', '.join(choice['chosen'])}.")
    half = sizes[total // 2 - 1]
    console.print_sentence(f"Half of them: tau {half['tau']:.2f} (at random {half['random']:.2f}).")
    console.print_sentence(
        f"Between two halves of the {choice['halves']} the ranking by all prompts has tau {choice['ceiling']:.2f}. "
        "Only more answers, not other prompts, bring this closer to 1."
    )
    if alike_prompts := [row["prompt"] for row in choice["prompts"] if row["alike"]]:
        console.print_sentence(f"The answers show no difference between items in: {', '.join(alike_prompts)}.")
    console.print_sentence("Prompts with the most information per answer (bits), and the sd of the items in them:")
    for row in choice["prompts"][:limit]:
        sentence = f"{row['prompt']}: {row['information']:.3f}, sd {row['spread']:.2f} ({row['answers']:,} answers)"
        console.print_sentence(sentence, indent=2)
