"""ROUGE-L: the longest common subsequence of a text and its reference, as a metric to compare judges with.

F = 2 P R / (P + R), with P = L / words of the text, R = L / words of the reference, L the length of the longest
common subsequence of their words (Lin 2004), by the package rouge-score.

Input: texts with references. Output: ``scores`` of a judge ``rouge-l``. No model is asked.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from voirdire.collect.protocol import Answer, Ask, Calls, Row, Setting, missing
from voirdire.collect.protocols.roles import belongs, uneven, without_reference


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


class RougeL:
    """The protocol ``rouge-l``.

    Examples
    --------
    >>> import asyncio
    >>> from voirdire.collect.protocol import Item, Setting
    >>> items = (Item("a", "the cat sat", reference="the cat sat down"),)
    >>> (row,) = asyncio.run(RougeL().run(Setting((), items, RougeLOptions()), None))
    >>> round(row.values["score"], 4)  # P = 3/3, R = 3/4
    0.8571
    """

    name: ClassVar[str] = "rouge-l"
    Options: ClassVar[type[Any]] = RougeLOptions

    def problems(self, setting: Setting) -> list[str]:
        """Items without a reference; the package is not there."""
        found = uneven(setting.items) + without_reference(setting.items, self.name)
        if importlib.util.find_spec("rouge_score") is None:
            found.append("the package rouge-score is not installed; run pip install 'voirdire[rouge]'")
        return found

    def calls(self, setting: Setting) -> Calls:
        """None."""
        return Calls({}, {})

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Count words."""
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer

        options: RougeLOptions = setting.options
        known = DefaultTokenizer(options.stem)
        scorer = RougeScorer(["rougeL"], tokenizer=known)
        measure = {"f1": "fmeasure"}.get(options.measure, options.measure)
        rows = []
        for item in setting.items:
            columns = {"judge": self.name, "item": item.id, **belongs(item), "run": 1, "phase": "final"}
            if not (known.tokenize(item.text) and known.tokenize(item.reference)):
                lost = Answer(
                    None, "text or reference has no word that ROUGE knows (of the letters a-z and digits)"
                )
                rows.append(missing(("score", item.id), lost, table="scores", **columns))
                continue
            value = getattr(scorer.score(item.reference, item.text)["rougeL"], measure)
            rows.append(Row("scores", {**columns, "score": float(value)}))
        return rows
