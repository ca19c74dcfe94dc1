"""The verb ``prompts``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console


def prompts(
    what: Annotated[
        str,
        typer.Argument(metavar="RUN|PROTOCOL", help="The folder of a run of collect, or a protocol's name."),
    ],
    panel: Annotated[
        Path | None,
        typer.Option(
            metavar="PANEL.toml", readable=False, help="Of a protocol: fill its prompts for this panel."
        ),
    ] = None,
    items: Annotated[
        Path | None, typer.Option(metavar="ITEMS", readable=False, help="Of a protocol: for these items.")
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option(
            "--prompts", metavar="DIR", readable=False, help="Templates that replace those of the same name."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many to show.")] = 5,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Show prompts: as a run sent them, as a protocol would send them first (nothing is asked), or its templates."""
    from voirdire.collect import shown

    if Path(what).is_dir():
        found = shown.prompts_sent(Path(what))
    elif panel is not None and items is not None:
        found = shown.prompts_first(panel, items, what, own)
    elif panel is not None or items is not None:
        raise typer.BadParameter("--panel and --items go together")
    else:
        texts = shown.templates(what)
        if json:
            console.emit({"templates": texts})
        for name, text in () if json else texts.items():
            print(f"== {console.plain(name)}\n{_printable_lines(text)}\n")
        return
    kept = list(islice(found, limit))
    if json:
        console.emit({"prompts": [one._asdict() for one in kept]})
        return
    for one in kept:
        print(f"== {console.plain(one.judge)} {console.plain(one.key)}")
        for name in ("system", "user", "answer"):
            if getattr(one, name):
                print(f"-- {name}\n{_printable_lines(getattr(one, name))}")
        print()


def _printable_lines(text: str) -> str:
    """Text with its lines, and nothing that moves a terminal's cursor."""
    return "\n".join(console.plain(line.replace("\t", "    ")) for line in text.split("\n"))
