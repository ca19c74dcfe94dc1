"""Linear algebra takes one thread, whatever is loaded when."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from voirdire.infer.threads import one_thread
with one_thread():
    import numpy, scipy.linalg
    from threadpoolctl import threadpool_info
    found = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
assert len(found) >= 1, found
print(max(found))
"""


def test_the_limit_reaches_libraries_that_are_loaded_after_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env={"OPENBLAS_NUM_THREADS": "2"}
    )
    assert done.stdout.strip() == "1"
