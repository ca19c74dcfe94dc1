"""The data sets `load` knows: where their files are, what bytes they have, how they become a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from voirdire.datasets import convert
from voirdire.datasets.cache import RemoteFile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Entry:
    """One data set: its files (passed to ``convert`` in order) and what ``Dataset`` says about it.

    Examples
    --------
    >>> REGISTRY["llmfao"].kind, len(REGISTRY["llmfao"].files)
    ('votes', 3)
    """

    kind: Literal["votes", "scores"]
    files: tuple[RemoteFile, ...]
    convert: Callable[..., pd.DataFrame]
    description: str
    licence: str
    citation: str
    source: str
    criteria_votes: Callable[[], pd.DataFrame] | None = None


_RAW = "https://raw.githubusercontent.com"
_LLMFAO = f"{_RAW}/dustalov/llmfao/9e224e94a40129fd6e1e1529b962307e84af40da"
_UNIEVAL = f"{_RAW}/maszhongming/UniEval/d33e7b6cfebe97b2bafe435adbd818230d5a416a"
_MSLR = f"{_RAW}/allenai/mslr-annotated-dataset/2d2c6bb9a629d8bcb3c5fe1f45758c310f03c260"

REGISTRY: dict[str, Entry] = {
    "demo": Entry(
        kind="votes",
        files=(),
        convert=convert.demo_votes,
        description=(
            "Two very small language models at two temperatures each, and four rules, compare 12 short texts by "
            "two criteria, every pair in both orders."
        ),
        licence="Apache-2.0",
        citation="This package.",
        source="src/voirdire/datasets/demo (asked anew by make demo-panel)",
        criteria_votes=convert.demo_criteria_votes,
    ),
    "llmfao": Entry(
        kind="votes",
        files=(
            RemoteFile(
                f"{_LLMFAO}/crowd-comparisons.csv",
                "106564a4bf06f047a4662979384313c22d9b4ca901e780f9e8419f8e5581adb1",
            ),
            RemoteFile(
                f"{_LLMFAO}/gpt3-crowd-comparisons.csv",
                "3f1f1a259acbee6c7a87ea663b0e0b9a3fcd0ff072edc73b5cae0d9cc1dd3fc7",
            ),
            RemoteFile(
                f"{_LLMFAO}/gpt4-crowd-comparisons.csv",
                "86553cbbcb15b030e16fba8dfa7370e8141ff1ab508342f6a18c6fdd908c7d0b",
            ),
        ),
        convert=convert.llmfao,
        description="124 crowd workers, GPT-3.5 and GPT-4 compare 59 language models' answers to 13 prompts.",
        licence="CC BY 4.0",
        citation=(
            "Dmitry Ustalov (2023). LLMFAO: Large Language Model Feedback Analysis and Optimization. "
            "https://github.com/dustalov/llmfao"
        ),
        source="https://github.com/dustalov/llmfao/tree/9e224e94a40129fd6e1e1529b962307e84af40da",
    ),
    "topical-chat-unieval": Entry(
        kind="scores",
        files=(
            RemoteFile(
                f"{_UNIEVAL}/reproduce/unieval_predict/dialogue/topical_chat_result.json",
                "e1c28ffea8850d82a53c241922557fcde1a16b14cb50ce29db29ab3db702678d",
            ),
        ),
        convert=convert.topical_chat,
        description=(
            "Human (mean of annotators) and UniEval scores, on 6 criteria, of 6 systems' replies in 60 "
            "Topical-Chat dialogues."
        ),
        licence="MIT (the UniEval repository)",
        citation=(
            "Human scores: Shikib Mehri and Maxine Eskenazi (2020). USR: An Unsupervised and Reference "
            "Free Evaluation Metric for Dialog Generation. ACL 2020, "
            "https://doi.org/10.18653/v1/2020.acl-main.64. "
            "UniEval scores: Ming Zhong et al. (2022). Towards a Unified Multi-Dimensional Evaluator for "
            "Text Generation. EMNLP 2022, https://doi.org/10.18653/v1/2022.emnlp-main.131"
        ),
        source="https://github.com/maszhongming/UniEval/tree/d33e7b6cfebe97b2bafe435adbd818230d5a416a",
    ),
    "summeval-unieval": Entry(
        kind="scores",
        files=(RemoteFile(f"{_UNIEVAL}/reproduce/unieval_predict/summarization/summeval_result.json"),),
        convert=convert.summeval,
        description=(
            "Human (mean of three experts) and UniEval scores, on 4 criteria and overall, of 16 systems' summaries of "
            "100 news articles."
        ),
        licence="MIT (the UniEval and SummEval repositories)",
        citation=(
            "Human scores: Alexander R. Fabbri et al. (2021). SummEval: Re-evaluating Summarization Evaluation. "
            "TACL 9, https://doi.org/10.1162/tacl_a_00373. "
            "UniEval scores: Ming Zhong et al. (2022). Towards a Unified Multi-Dimensional Evaluator for "
            "Text Generation. EMNLP 2022, https://doi.org/10.18653/v1/2022.emnlp-main.131"
        ),
        source="https://github.com/maszhongming/UniEval/tree/d33e7b6cfebe97b2bafe435adbd818230d5a416a",
    ),
    "mslr-cochrane": Entry(
        kind="scores",
        files=(RemoteFile(f"{_MSLR}/data/data_with_overlap_scores.json"),),
        convert=convert.mslr_cochrane,
        description=(
            "Human scores, BERTScore and ROUGE-L of 6 systems' summaries of groups of medical studies, 100 groups "
            "each, from the MSLR shared task's Cochrane set."
        ),
        licence="not stated by its authors",
        citation=(
            "Lucy Lu Wang et al. (2023). Automated Metrics for Medical Multi-Document Summarization Disagree with "
            "Human Evaluations. ACL 2023."
        ),
        source="https://github.com/allenai/mslr-annotated-dataset/tree/2d2c6bb9a629d8bcb3c5fe1f45758c310f03c260",
    ),
}
