"""Run ``collect`` in processes that start at once, so that many can be killed: one line of JSON in, one number out.

A line ``{"run": {...}}`` forks a process that calls ``collect`` and prints its id; ``{"wait": id}`` prints its status;
``{"here": {...}}`` calls it in this process, so that what it imports is there for the others.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from voirdire.collect import collect, plan

registered = plan._registered_protocols
plan._registered_protocols = lambda: registered() | {"toy": "toy:Toy"}

for line in sys.stdin:
    command = json.loads(line)
    if "wait" in command:
        print(os.waitpid(command["wait"], 0)[1], flush=True)
        continue
    if "here" in command:
        collect(**command["here"])
        print(0, flush=True)
        continue
    process = os.fork()
    if process == 0:
        try:
            collect(**command["run"])
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    print(process, flush=True)
