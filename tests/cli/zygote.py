"""Run the command line in processes that start at once, so that many can be ended: one line of JSON in, one number out.

A line ``{"run": [...], "cwd": "...", "said": "..."}`` forks a process that runs these words in that folder, with stderr
in the file ``said``, and prints its id once signals are heard; ``{"wait": id}`` prints its status once it has ended.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
import warnings

# what the verbs import; nothing is computed here, as JAX's threads do not survive a fork
import jax
import numpyro
import pandas

import voirdire.__main__
import voirdire.cli
import voirdire.fit.next.suggest
import voirdire.infer.laplace
import voirdire.planning.votes

__all__ = ["jax", "numpyro", "pandas"]
for verb in voirdire.cli.VERBS:
    importlib.import_module(f"voirdire.cli.{verb}")
warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)


def child(words: list[str], cwd: str, said: str, ready: int) -> None:
    """The command, as in a process of its own."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    app = voirdire.cli.app

    def begin(**settings: str) -> None:
        os.close(ready)
        app(**settings)

    voirdire.cli.app = begin
    os.chdir(cwd)
    for stream, path in ((0, os.devnull), (1, os.devnull), (2, said)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), stream)
    sys.argv = ["voirdire", *words]
    code = 1
    try:
        voirdire.__main__.main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


print(os.getpid(), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    if "wait" in command:
        print(os.waitpid(command["wait"], 0)[1], flush=True)
        continue
    listening, ready = os.pipe()
    process = os.fork()
    if process == 0:
        child(command["run"], command["cwd"], command["said"], ready)
    os.close(ready)
    os.read(listening, 1)
    os.close(listening)
    print(process, flush=True)
