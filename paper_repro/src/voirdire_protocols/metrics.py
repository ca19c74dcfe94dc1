"""Metrics as baselines for judges: ROUGE-L and BERTScore of texts and their references. No language model is asked.

F = 2 P R / (P + R). ROUGE-L (Lin 2004, package rouge-score): P = L / words of the text, R = L / words of the reference,
where L is the length of the longest common subsequence of their words. BERTScore (Zhang et al. 2020, package
bert-score, which needs PyTorch): P is the mean over the text's tokens of the highest cosine with a token of the
reference in a model's embeddings; R is the same mean over the reference's tokens. The user provides the model as a
folder in the format of the package transformers; nothing is downloaded.

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
        Quantity used as the score: F, P or R.
    stem : bool
        True applies Porter's stemmer (English) to words first.

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
        The model's folder; by default that of the environment variable VOIRDIRE_BERTSCORE_MODEL.
    layers : int
        Layer of the compared embeddings: 17 for roberta-large, 9 for bert-base.
    idf : bool
        True weights tokens by inverse document frequency.
    measure : "f1", "precision" or "recall"
        Quantity used as the score: F, P or R.

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
        """The model's folder from the option or the environment; empty if neither is set."""
        return self.model or os.environ.get(MODEL_VARIABLE, "")


class Metric:
    """A protocol that computes a score of each item by an optional package."""

    name: ClassVar[str]
    package: ClassVar[tuple[str, str]]  # module name, and the extra that installs it

    def problems(self, setting: Setting) -> list[str]:
        """Return the faults: items without a reference, invalid options, a missing package."""
        problems = partial_column_problems(setting.items)
        lacking = [item.id for item in setting.items if not item.reference]
        if lacking:
            shown = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
            problems.append(f"items: {len(lacking)} have no reference ({shown}); {self.name} needs one for each item")
        problems += self.option_faults(setting.options)
        module, extra = self.package
        if importlib.util.find_spec(module) is None:
            name = module.replace("_", "-")
            problems.append(f"the package {name} is not installed; run pip install 'voirdire[{extra}]'")
        return problems

    def option_faults(self, options: Any) -> list[str]:
        """Return the faults of the options."""
        return []

    def calls(self, setting: Setting) -> Calls:
        """Return empty bounds, as no language model is asked."""
        return Calls({}, {})

    def row(self, item: Item, value: float | None) -> Row:
        """Return the row of an item's score, or of ``missing`` without one."""
        columns = {"judge": self.name, "item": item.id, **context_and_system(item), "run": 1, "phase": "final"}
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
        """Compute ROUGE-L of each item."""
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

    def option_faults(self, options: BertScoreOptions) -> list[str]:
        """Return a fault if there is no model."""
        if not options.folder:
            return [f"option model: name the folder of a model, here or in the environment variable {MODEL_VARIABLE}"]
        exists = Path(options.folder).is_dir()
        return [] if exists else [f"option model: there is no folder {options.folder!r}"]

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Compute BERTScore of each item."""
        from bert_score import BERTScorer

        options: BertScoreOptions = setting.options
        references = [str(item.reference) for item in setting.items]
        idf_options = {"idf": options.idf, "idf_sents": references if options.idf else None}
        scorer = BERTScorer(model_type=options.folder, num_layers=options.layers, **idf_options)
        measures = scorer.score([item.text for item in setting.items], references)
        values = measures[("precision", "recall", "f1").index(options.measure)].tolist()
        return [self.row(item, value) for item, value in zip(setting.items, values, strict=True)]
