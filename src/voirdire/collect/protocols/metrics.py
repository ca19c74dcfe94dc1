"""Metrics to compare judges with: ROUGE-L and BERTScore of texts and their references. No language model is asked.

F = 2 P R / (P + R). Of ROUGE-L (Lin 2004), by the package rouge-score, P = L / words of the text, R = L / words of the
reference, L the length of the longest common subsequence of their words. Of BERTScore (Zhang et al. 2020), by the
package bert-score, which brings PyTorch, P is the mean over the text's tokens of the highest cosine with a token of the
reference in a model's embeddings, R that over the reference's tokens; the model is one that the user has, a folder in
the form of the package transformers, and nothing is downloaded.

Input: texts with references. Output: ``scores`` of a judge ``rouge-l`` or ``bert-score``.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Ask, Calls, Item, Row, Setting, missing_row
from voirdire.collect.protocols.roles import context_and_system, partial_column_problems
from voirdire.settings import Count

MODEL_VARIABLE = "VOIRDIRE_BERTSCORE_MODEL"


@dataclass(frozen=True)
class RougeLOptions:
    """Options of rouge-l.

    Attributes
    ----------
    measure : "f1", "precision" or "recall"
        Which of the three is the score.
    stem : bool
        Whether words are reduced by Porter's stemmer first (English).

    Examples
    --------
    >>> RougeLOptions().measure
    'f1'
    """

    measure: Literal["f1", "precision", "recall"] = "f1"
    stem: bool = True


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
    layers: Count = 17
    idf: bool = False
    measure: Literal["f1", "precision", "recall"] = "f1"

    @property
    def folder(self) -> str:
        """The model's folder, as given or from the environment; empty if neither says."""
        return self.model or os.environ.get(MODEL_VARIABLE, "")


class Metric:
    """A protocol that computes a score of each item, and needs an installed package to do so."""

    name: ClassVar[str]
    package: ClassVar[tuple[str, str]]  # of the import, and the extra that brings it

    def problems(self, setting: Setting) -> list[str]:
        """Items without a reference, faults of the options, a package that is not there."""
        problems = partial_column_problems(setting.items)
        lacking = [item.id for item in setting.items if not item.reference]
        if lacking:
            shown = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
            problems.append(
                f"items: {len(lacking)} have no reference ({shown}); {self.name} needs one for each item"
            )
        problems += self.faults(setting.options)
        module, extra = self.package
        if importlib.util.find_spec(module) is None:
            name = module.replace("_", "-")
            problems.append(f"the package {name} is not installed; run pip install 'voirdire[{extra}]'")
        return problems

    def faults(self, options: Any) -> list[str]:
        """Faults of the options."""
        return []

    def calls(self, setting: Setting) -> Calls:
        """No calls: no language model is asked."""
        return Calls({}, {})

    def row(self, item: Item, value: float | None) -> Row:
        """The row of an item's score, or of none."""
        columns = {
            "judge": self.name,
            "item": item.id,
            **context_and_system(item),
            "run": 1,
            "phase": "final",
        }
        if value is not None:
            return Row("scores", {**columns, "score": float(value)})
        reason = "text or reference has no word that ROUGE knows (of the letters a-z and digits)"
        return missing_row(("score", item.id), reason, table="scores", **columns)


class RougeL(Metric):
    """The protocol ``rouge-l``.

    Examples
    --------
    >>> import asyncio
    >>> items = (Item("a", "the cat sat", reference="the cat sat down"),)
    >>> (row,) = asyncio.run(RougeL().run(Setting((), items, RougeLOptions()), None))
    >>> round(row.values["score"], 4)  # P = 3/3, R = 3/4
    0.8571
    """

    name: ClassVar[str] = "rouge-l"
    package: ClassVar[tuple[str, str]] = ("rouge_score", "rouge")
    Options: ClassVar[type[Any]] = RougeLOptions

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Count words."""
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer

        tokenizer = DefaultTokenizer(setting.options.stem)
        scorer = RougeScorer(["rougeL"], tokenizer=tokenizer)
        measure = {"f1": "fmeasure"}.get(setting.options.measure, setting.options.measure)
        rows = []
        for item in setting.items:
            readable = tokenizer.tokenize(item.text) and tokenizer.tokenize(item.reference)
            value = getattr(scorer.score(item.reference, item.text)["rougeL"], measure) if readable else None
            rows.append(self.row(item, value))
        return rows


class BertScore(Metric):
    """The protocol ``bert-score``.

    Examples
    --------
    >>> setting = Setting((), (Item("a", "the cat sat"),), BertScoreOptions(model="/nowhere"))
    >>> BertScore().problems(setting)[0]
    "items: 1 have no reference ('a'); bert-score needs one for each item"
    """

    name: ClassVar[str] = "bert-score"
    package: ClassVar[tuple[str, str]] = ("bert_score", "bert-score")
    Options: ClassVar[type[Any]] = BertScoreOptions

    def faults(self, options: BertScoreOptions) -> list[str]:
        """No model."""
        if not options.folder:
            return [
                f"option model: name the folder of a model, here or in the environment variable {MODEL_VARIABLE}"
            ]
        exists = Path(options.folder).is_dir()
        return [] if exists else [f"option model: there is no folder {options.folder!r}"]

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Compare embeddings."""
        from bert_score import BERTScorer

        options: BertScoreOptions = setting.options
        references = [str(item.reference) for item in setting.items]
        idf_options = {"idf": options.idf, "idf_sents": references if options.idf else None}
        scorer = BERTScorer(model_type=options.folder, num_layers=options.layers, **idf_options)
        measures = scorer.score([item.text for item in setting.items], references)
        values = measures[("precision", "recall", "f1").index(options.measure)].tolist()
        return [self.row(item, value) for item, value in zip(setting.items, values, strict=True)]
