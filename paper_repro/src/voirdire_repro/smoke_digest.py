"""Digest of everything that determines the questions of a smoke test, to detect later changes."""

from __future__ import annotations

from voirdire.collect.rendering import PACKAGE_PROMPTS
from voirdire.settings import read_toml
from voirdire_repro.claims import System
from voirdire_repro.runfile import read_run, toy_file
from voirdire_repro.smoke import MODELS, SMALL
from voirdire_repro.transcribed import digest_of

#: Further folders of prompts that a protocol uses.
_BORROWED = {"simple-role": ("maj-eval",)}


def smoke_test_digest(system: System, name: str) -> str:
    """Compute a digest of a smoke test: run file, names of judges, invented items, options, models and prompts.

    Parameters
    ----------
    system : System
    name : str
        Folder name in ``runs/``.

    Raises
    ------
    InputError
        The run is unknown, its file has a fault, or there are no invented items.

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> len(smoke_test_digest(load_system("debate"), "summeval"))
    10
    """
    spec = read_run(system, name)
    protocols = sorted({part["protocol"] for part in spec["parts"] if "protocol" in part})
    panel = read_toml(system.folder / "runs" / name / "panel.toml", "panel")
    folders = {"shared", *protocols, *(other for borrower in protocols for other in _BORROWED.get(borrower, ()))}
    prompts = {
        path.relative_to(PACKAGE_PROMPTS).as_posix(): path.read_text(encoding="utf-8")
        for folder in sorted(folders)
        for path in sorted((PACKAGE_PROMPTS / folder).glob("*.j2"))
    }
    return digest_of(
        {key: value for key, value in spec.items() if key not in ("title", "differs")},
        [judge["name"] for judge in panel["judges"]],
        toy_file(system, name).read_text(encoding="utf-8"),
        {protocol: SMALL[protocol] for protocol in protocols},
        MODELS,
        prompts,
    )
