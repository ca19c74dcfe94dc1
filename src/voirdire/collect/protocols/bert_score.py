"""BERTScore: how near the words of a text come to those of its reference in a model's embeddings.

F = 2 P R / (P + R); P is the mean over the text's tokens of the highest cosine with a token of the reference, R that
over the reference's tokens (Zhang et al. 2020), by the package bert-score (extra ``bert-score``), which brings PyTorch.
The model is one that the user has: a folder in the form of the package transformers; nothing is downloaded.

Input: texts with references. Output: ``scores`` of a judge ``bert-score``. No language model is asked.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Calls, Row, Setting
from voirdire.collect.protocols.roles import belongs, uneven, without_reference

MODEL = "VOIRDIRE_BERTSCORE_MODEL"


@dataclass(frozen=True)
class BertScoreOptions:
    """Options of bert-score.

    Attributes
    ----------
    model : str
        The model's folder; by default the one that the environment variable VOIRDIRE_BERTSCORE_MODEL names.
    layers : int
        Which layer's embeddings are compared: 17 of roberta-large, 9 of bert-base.
    idf : bool
        Whether rare tokens weigh more.
    measure : "f1", "precision" or "recall"
        Which of the three is the score.

    Examples
    --------
    >>> BertScoreOptions().measure
    'f1'
    """

    model: str = ""
    layers: int = 17
    idf: bool = False
    measure: Literal["f1", "precision", "recall"] = "f1"

    @property
    def folder(self) -> str:
        """The model's folder, as given or from the environment; empty if neither says."""
        return self.model or os.environ.get(MODEL, "")


class BertScore:
    """The protocol ``bert-score``.

    Examples
    --------
    >>> from voirdire.collect.protocol import Item
    >>> setting = Setting((), (Item("a", "the cat sat"),), BertScoreOptions(model="/nowhere"))
    >>> BertScore().problems(setting)[0]
    "items: 1 have no reference ('a'); bert-score needs one for each item"
    """

    name: ClassVar[str] = "bert-score"
    Options: ClassVar[type[Any]] = BertScoreOptions

    def problems(self, setting: Setting) -> list[str]:
        """Items without a reference; no model; the package is not there."""
        options: BertScoreOptions = setting.options
        found = uneven(setting.items) + without_reference(setting.items, self.name)
        if options.layers < 1:
            found.append(f"option layers: {options.layers} must be at least 1")
        if not options.folder:
            found.append(
                f"option model: name the folder of a model, here or in the environment variable {MODEL}"
            )
        elif not Path(options.folder).is_dir():
            found.append(f"option model: there is no folder {options.folder!r}")
        if importlib.util.find_spec("bert_score") is None:
            found.append("the package bert-score is not installed; run pip install 'voirdire[bert-score]'")
        return found

    def calls(self, setting: Setting) -> Calls:
        """None."""
        return Calls({}, {})

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Compare embeddings."""
        from bert_score import BERTScorer

        options: BertScoreOptions = setting.options
        references = [str(item.reference) for item in setting.items]
        scorer = BERTScorer(
            model_type=options.folder,
            num_layers=options.layers,
            idf=options.idf,
            idf_sents=references if options.idf else None,
        )
        three = scorer.score([item.text for item in setting.items], references)
        values = three[("precision", "recall", "f1").index(options.measure)].tolist()
        return [
            Row(
                "scores",
                {
                    "judge": self.name,
                    "item": item.id,
                    **belongs(item),
                    "run": 1,
                    "phase": "final",
                    "score": float(value),
                },
            )
            for item, value in zip(setting.items, values, strict=True)
        ]
