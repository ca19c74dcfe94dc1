"""What a wheel holds of what lies outside the package: packages beside their data, and the kernel of chains.

The kernel (the C files of src/voirdire/infer/kernel) is built where the package is built or installed for editing. Its
compiler comes as a wheel (ziglang), which only the build needs, and builds for every platform on any: a wheel of
the package has the kernels of all, an editable install those of the machine. Where nothing can be built the package
works without, slower.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = Path("src") / "voirdire" / "infer" / "kernel"
SOURCES = ("kernel.c", "coordinates.c", "path.c", "rescale.c")  # what they include is named *.h
FOLDER = KERNEL / "built"
# one of the sources of pyproject.toml cannot lie in another
PACKAGES = {
    "simulations/src/voirdire_studies": "voirdire_studies",
    "paper_repro/src/voirdire_protocols": "voirdire_protocols",
    "paper_repro/src/voirdire_repro": "voirdire_repro",
}
SHARED = ("-shared", "-fPIC", "-nostdlib", "-g0", "-s")  # no library is called
FLAGS = ("-O3", "-fno-builtin", "-fno-math-errno", "-ffp-contract=fast", "-fno-trapping-math", *SHARED)
COMPILER = "ziglang>=0.15,<0.18"
X86 = {"v2": "x86_64_v2", "v3": "x86_64_v3", "v4": "x86_64_v4"}
# system and machine as Python's platform names them, with the compiler's names of the target and of processors; the
# names of files are those that voirdire.infer.kernel.library looks for
TARGETS = {
    ("Linux", "x86_64"): ("x86_64-linux-gnu.2.17", X86, "so"),
    ("Linux", "aarch64"): ("aarch64-linux-gnu.2.17", {"v8": "generic"}, "so"),
    ("Darwin", "x86_64"): ("x86_64-macos.11.0", X86, "dylib"),
    ("Darwin", "arm64"): ("aarch64-macos.11.0", {"v8": "apple_m1"}, "dylib"),
    ("Windows", "AMD64"): ("x86_64-windows-gnu", X86, "dll"),
}


class OutsideHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the packages beside their data and the kernels to a wheel, or builds the machine's kernels in place."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The compiler, where there may be a wheel of it."""
        return [COMPILER] if (platform.system(), platform.machine()) in TARGETS else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files of a wheel are collected."""
        if self.target_name != "wheel":
            return
        if version != "editable":
            build_data["force_include"] |= PACKAGES
        here = (platform.system(), platform.machine())
        wanted = [here] if version == "editable" else list(TARGETS)
        for system in (system for system in wanted if system in TARGETS):
            for path in built(Path(self.root), *system):
                if version != "editable":
                    name = path.relative_to(self.root).as_posix()
                    build_data["force_include"][str(path)] = name.removeprefix("src/")


def built(root: Path, system: str, machine: str) -> list[Path]:
    """Build the kernels of a platform that are not newer than their source, and return those that there are."""
    target, processors, ending = TARGETS[system, machine]
    sources, found = [root / KERNEL / name for name in SOURCES], []
    newest = max(path.stat().st_mtime for path in [*sources, *(root / KERNEL).glob("*.h")])
    (root / FOLDER).mkdir(exist_ok=True)
    for name, processor in processors.items():
        path = root / FOLDER / f"{system}-{machine}-{name}.{ending}".lower()
        if not path.exists() or path.stat().st_mtime < newest:
            command = [sys.executable, "-m", "ziglang", "cc", "-target", target, f"-mcpu={processor}", *FLAGS]
            command += ["-mno-stack-arg-probe"] if system == "Windows" else []
            with tempfile.TemporaryDirectory() as folder:  # where compilers leave more than was asked for
                made = Path(folder) / path.name
                cache = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), folder)
                try:
                    command += ["-o", str(made), *map(str, sources)]
                    subprocess.run(command, env=os.environ | cache, check=True, capture_output=True)
                except (OSError, subprocess.CalledProcessError) as error:
                    said = getattr(error, "stderr", b"") or str(error).encode()
                    print(f"voirdire: no {path.name}: {said.decode(errors='replace')}", file=sys.stderr)
                    continue
                shutil.move(made, path)
        found.append(path)
    return found
