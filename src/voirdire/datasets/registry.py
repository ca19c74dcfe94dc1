"""The data sets `load` knows: what they are, how their files (`files.csv`) become tables.

Where the upstream files of each data set are, and what bytes they have: ``files.csv`` beside this module.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voirdire.datasets import convert, gold, mtrepro
from voirdire.datasets.cache import RemoteFile

if TYPE_CHECKING:
    import pandas as pd


@cache
def upstream_files(name: str) -> tuple[RemoteFile, ...]:
    """The files of a data set, in the order of ``files.csv``; none of one that comes with the package.

    A file is kept under the last part of its address; where files of a data set share that, under its path upstream.

    Examples
    --------
    >>> [file.filename for file in upstream_files("llmfao")][0]
    'crowd-comparisons.csv'
    >>> [file.filename for file in upstream_files("llmbar")][-1]
    'Dataset/LLMBar/Natural/dataset.json'
    """
    with Path(__file__).with_name("files.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == name]
    last = Counter(row["path"].rsplit("/", 1)[-1] for row in rows)
    shared = max(last.values(), default=1) > 1
    return tuple(
        RemoteFile(
            f"https://raw.githubusercontent.com/{row['repository']}/{row['commit']}/{row['path']}",
            row["sha256"],
            path=row["path"] if shared else "",
            size=int(row["bytes"] or 0),
        )
        for row in rows
    )


def source_page(name: str) -> str:
    """The page of the commit that a data set's files come from.

    Examples
    --------
    >>> source_page("llmbar")
    'https://github.com/princeton-nlp/LLMBar/tree/900616bff90b6c6c8e1681f7d079250637c55992'
    """
    with Path(__file__).with_name("files.csv").open(encoding="utf-8", newline="") as file:
        pages = [
            f"https://github.com/{row['repository']}/tree/{row['commit']}"
            for row in csv.DictReader(file)
            if row["name"] == name
        ]
    return ", ".join(dict.fromkeys(pages))


@dataclass(frozen=True)
class Entry:
    """One data set: its files, passed to ``convert`` in order, and what ``Dataset`` says about it.

    ``convert`` gives the table, or the table, what people say of its items and what is known of them; ``rows`` says how
    large that is.

    Examples
    --------
    >>> REGISTRY["llmfao"].kind, len(REGISTRY["llmfao"].files)
    ('votes', 3)
    """

    kind: Literal["votes", "scores", "labels"]
    files: tuple[RemoteFile, ...]
    convert: Callable[..., pd.DataFrame | tuple[pd.DataFrame | None, ...]]
    rows: str
    description: str
    licence: str
    citation: str
    source: str


_LLMJUDGE = upstream_files("llmjudge")
_LLMJUDGE_NAMES = tuple(file.filename.removesuffix(".txt") for file in _LLMJUDGE[:-1])
# chosen before anything was fitted
_LLMJUDGE_HALF = ("q0", "q9", "q13", "q15", "q19", "q22", "q30", "q32", "q34", "q36", "q38", "q43", "q46")
_LLMJUDGE_CITE = (
    "Hossein A. Rahmani et al. (2025). Judging the Judges: A Collection of LLM-Generated Relevance Judgements. "
    "https://github.com/llm4eval/LLMJudge-benchmark"
)
_LLMBAR = ("GPTInst", "GPTOut", "Manual", "Neighbor", "Natural")
_LLMBAR_CITE = (
    "Zhiyuan Zeng et al. (2024). Evaluating Large Language Models at Evaluating Instruction Following. "
    "ICLR 2024."
)
_MTREPRO = (
    "Seunghyun Park (2026). MT-Bench Reproduction. "
    "https://github.com/kook222/mt_bench_repro. Prompts: Lianmin Zheng et al. (2023). Judging LLM-as-a-Judge with "
    "MT-Bench and Chatbot Arena. NeurIPS 2023."
)
_JUDGE_BENCH = (
    "As published by Anna Bavaresco et al. (2025). LLMs instead of Human Judges? A Large Scale Empirical Study across "
    "20 NLP Evaluation Tasks. ACL 2025."
)

REGISTRY: dict[str, Entry] = {
    "demo": Entry(
        kind="votes",
        files=(),
        convert=convert.demo_tables,
        rows="960 votes",
        description=(
            "16 answers to one question, each pair compared once by 8 simulated judges that are wrong together: four "
            "like long texts, two read, two guess; and 20 answers of people (simulated, too)."
        ),
        licence="Apache-2.0",
        citation="This package.",
        source="src/voirdire/datasets/demo (texts by us; votes made by docs/demo_data.py)",
    ),
    "llmfao": Entry(
        kind="votes",
        files=upstream_files("llmfao"),
        convert=convert.convert_llmfao,
        rows="13,209 votes",
        description="124 crowd workers, GPT-3.5 and GPT-4 compare 59 language models' answers to 13 prompts.",
        licence="CC BY 4.0",
        citation=(
            "Dmitry Ustalov (2023). LLMFAO: Large Language Model Feedback Analysis and Optimization. "
            "https://github.com/dustalov/llmfao"
        ),
        source=source_page("llmfao"),
    ),
    "topical-chat-unieval": Entry(
        kind="scores",
        files=upstream_files("topical-chat-unieval"),
        convert=convert.convert_topical_chat,
        rows="4,320 scores",
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
        source=source_page("topical-chat-unieval"),
    ),
    "summeval-unieval": Entry(
        kind="scores",
        files=upstream_files("summeval-unieval"),
        convert=convert.convert_summeval,
        rows="16,000 scores",
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
        source=source_page("summeval-unieval"),
    ),
    "mslr-cochrane": Entry(
        kind="scores",
        files=upstream_files("mslr-cochrane"),
        convert=convert.convert_mslr_cochrane,
        rows="about 9,000 scores",
        description=(
            "Human scores, BERTScore and ROUGE-L of 6 systems' summaries of groups of medical studies, 100 groups "
            "each, from the MSLR shared task's Cochrane set."
        ),
        licence="not stated by its authors",
        citation=(
            "Lucy Lu Wang et al. (2023). Automated Metrics for Medical Multi-Document Summarization Disagree with "
            "Human Evaluations. ACL 2023."
        ),
        source=source_page("mslr-cochrane"),
    ),
    "mslr-pairwise": Entry(
        kind="votes",
        files=upstream_files("mslr-pairwise"),
        convert=convert.preference_votes,
        rows="about 900 votes",
        description=(
            "Five annotators say which of two systems' summaries of a group of medical studies is nearer to the "
            "target, with ties: the pairwise half of the MSLR shared task's Cochrane set."
        ),
        licence="not stated by its authors",
        citation=(
            "Lucy Lu Wang et al. (2023). Automated Metrics for Medical Multi-Document Summarization Disagree with "
            "Human Evaluations. ACL 2023."
        ),
        source=source_page("mslr-pairwise"),
    ),
    "dices-350": Entry(
        kind="labels",
        files=upstream_files("dices-350"),
        convert=gold.convert_dices,
        rows="43,050 labels, 350 of experts",
        description="123 raters, and experts, say of 350 conversations with a chatbot whether its last answer is safe.",
        licence="CC BY 4.0",
        citation=(
            "Lora Aroyo et al. (2023). DICES Dataset: Diversity in Conversational AI Evaluation for Safety. "
            f"NeurIPS 2023. {_JUDGE_BENCH}"
        ),
        source=source_page("dices-350"),
    ),
    "llmbar": Entry(
        kind="votes",
        files=upstream_files("llmbar"),
        convert=partial(gold.convert_llmbar, subsets=_LLMBAR),
        rows="419 votes, of people",
        description=(
            "Which of two outputs follows the instruction, as its authors agree, in 419 pairs, many made to mislead; a "
            "judge's votes on them are yours to collect."
        ),
        licence="MIT",
        citation=_LLMBAR_CITE,
        source=source_page("llmbar"),
    ),
    "llmbar-judges": Entry(
        kind="votes",
        files=upstream_files("llmbar-judges"),
        convert=gold.convert_llmbar_judges,
        rows="27,648 votes, 239 of people",
        description=(
            "58 judges, six language models under up to ten prompts, say in both orders which of two outputs follows "
            "the instruction; the authors' answers are the gold."
        ),
        licence="MIT",
        citation=_LLMBAR_CITE,
        source=source_page("llmbar-judges"),
    ),
    "llmjudge": Entry(
        kind="labels",
        files=_LLMJUDGE,
        convert=partial(gold.convert_llmjudge, judges=_LLMJUDGE_NAMES),
        rows="about 145,000 labels, 4,423 of people",
        description="33 language-model judges, and people, grade 4,423 pairs of a query and a passage 0 to 3.",
        licence="MIT",
        citation=_LLMJUDGE_CITE,
        source=source_page("llmjudge"),
    ),
    "llmjudge-half": Entry(
        kind="labels",
        files=_LLMJUDGE,
        convert=partial(gold.convert_llmjudge, judges=_LLMJUDGE_NAMES, queries=_LLMJUDGE_HALF),
        rows="56,593 labels, 1,715 of people",
        description="13 of the 25 queries of llmjudge: to choose with, so that the others can confirm.",
        licence="MIT",
        citation=_LLMJUDGE_CITE,
        source=source_page("llmjudge"),
    ),
    "mtrepro": Entry(
        kind="votes",
        files=upstream_files("mtrepro"),
        convert=mtrepro.votes_and_lengths,
        rows="14,365 votes",
        description=(
            "6 language-model judges compare the answers of 6 models to the 80 prompts of MT-bench, in both orders; "
            "judges and models share families."
        ),
        licence="Apache-2.0",
        citation=_MTREPRO,
        source=source_page("mtrepro"),
    ),
    "mtrepro-scores": Entry(
        kind="scores",
        files=upstream_files("mtrepro-scores"),
        convert=mtrepro.turn_scores,
        rows="5,749 scores",
        description="The judges of mtrepro score both turns of each answer 1 to 10.",
        licence="Apache-2.0",
        citation=_MTREPRO,
        source=source_page("mtrepro-scores"),
    ),
    "newsroom": Entry(
        kind="scores",
        files=upstream_files("newsroom"),
        convert=gold.convert_newsroom,
        rows="5,040 scores",
        description="Three raters score 420 summaries of news articles, 1 to 5, on 4 criteria.",
        licence="not stated by its authors",
        citation=(
            "Max Grusky et al. (2018). Newsroom: A Dataset of 1.3 Million Summaries with Diverse Extractive "
            f"Strategies. NAACL 2018. {_JUDGE_BENCH}"
        ),
        source=source_page("newsroom"),
    ),
}
