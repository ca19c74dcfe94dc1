"""Importing large files of tools: speed and memory of the whole command, beside the parser alone."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from common import show, small

SIZE, ROWS = (20 * 10**6, 100_000) if small() else (2 * 10**9, 10_000_000)
COMMAND = """
import json, resource, sys, time
from voirdire.tables.formats.conversion_report import import_files
start = time.process_time()
found = import_files([sys.argv[1]], sys.argv[2])
seconds = time.process_time() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found.counts["votes"]]))
"""


def record(rng: random.Random, number: int) -> dict[str, object]:
    """An annotation as AlpacaEval writes it: two answers of some 200 words, and what the annotator's model sent."""
    words = ("the", "of", "model", "answer", "Zürich", 'says "so"', "line\n", "therefore", "numbers", "10%")
    tokens = [{"token": letter, "bytes": [ord(letter)], "logprob": -rng.random()} for letter in ("m", "M", "n")]
    return {
        "instruction": f"Task {number % 805}: say what is right.",
        "output_1": " ".join(rng.choices(words, k=200)),
        "generator_1": "gpt4_1106_preview",
        "dataset": "selfinstruct",
        "output_2": " ".join(rng.choices(words, k=200)),
        "generator_2": f"model-{number // 805}",
        "annotator": "weighted_alpaca_eval_gpt4_turbo",
        "preference": 1 + rng.random(),
        "price_per_example": 0.02,
        "time_per_example": 0.6,
        "raw_completion": {"finish_reason": "length", "logprobs": {"content": tokens}},
    }


def alpacaeval(path: Path) -> float:
    """Write a list of about ``SIZE`` bytes; how many of its bytes the standard library parses in a second."""
    rng = random.Random(0)
    # texts repeat after a while: making them is not what is measured
    texts = [json.dumps(record(rng, number), indent=4) for number in range(2000)]
    models = [f"model-{number}" for number in range(1000)]
    with path.open("w", encoding="utf-8") as file:
        written = file.write("[\n")
        for number in range(10**9):
            text = texts[number % 2000]
            written += file.write(text.replace("model-", models[number // 2000 % 1000] + "-", 1) + ",\n")
            if written > SIZE:
                break
        file.write(texts[0] + "\n]\n")
    start = time.process_time()
    for text in texts:
        json.loads(text)
    return sum(map(len, texts)) / (time.process_time() - start)


def arena(path: Path) -> None:
    """Write ``ROWS`` battles."""
    with duckdb.connect() as connection:
        connection.execute("set memory_limit = '1GB'")
        connection.execute(
            "COPY (SELECT md5(i::varchar) AS question_id, 'model-' || (hash(i) % 100) AS model_a, "
            "'rival-' || (hash(i + 1) % 100) AS model_b, "
            "['model_a', 'model_b', 'tie', 'tie (bothbad)'][(hash(i + 2) % 4)::int "
            "+ 1] AS winner, 'arena_user_' || (hash(i + 3) % 100000) AS judge, 1 AS turn, true AS anony, "
            f"1.68e9 + i AS tstamp FROM range({ROWS}) t(i)) TO '{path}' (FORMAT parquet)"
        )


def imported(path: Path, out: Path) -> tuple[float, float, int]:
    """Seconds of CPU, peak memory in MB and votes of the import, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(path), str(out)], capture_output=True, text=True, check=True
    )
    seconds, memory, votes = json.loads(done.stdout)
    return seconds, memory, votes


rows: list[dict[str, object]] = []
for name, write in (("annotations.json", alpacaeval), ("battles.parquet", arena)):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        parser = write(file)
        size = file.stat().st_size / 1e6
        seconds, memory, votes = imported(file, Path(folder, "out"))
    rows.append(
        {
            "file": name,
            "MB": size,
            "votes": votes,
            "CPU s": seconds,
            "MB/s": size / seconds,
            "votes/s": votes / seconds,
            "MB/s of json.loads alone": "" if parser is None else parser / 1e6,
            "peak memory of the process, MB": memory,
        }
    )
notes = [
    "From the file to votes.csv, in seconds of one core. The JSON is a list of AlpacaEval's annotations, indented as "
    "it writes them; it is parsed by the standard library, whose speed on the same records is beside it."
]
show("Importing files of tools", rows, notes)
