"""Values of Python as values of a model file, and back to text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def plain(value: Any, where: str) -> Any:
    """The value in numbers, flags, strings, lists and tables; `where` names it in errors."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{where}: {number} is not a finite number")
        return number
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiu" or value.ndim == 0 or value.ndim > 2:
            kind = f"an array of {value.dtype} with {value.ndim} dimensions"
            raise TypeError(f"{where}: {kind} has no meaning in a model")
        return plain(value.tolist(), where)
    if isinstance(value, Mapping):
        out = {}
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{where}: the key {key!r} of a table must be a string")
            out[key] = plain(inner, f"{where}, `{key}`")
        return out
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(inner, where) for inner in value]
    raise TypeError(f"{where}: {type(value).__name__} has no meaning in a model")


def toml(tree: Mapping[str, Any]) -> str:
    """The tree as a model file: short things first, then a section each, an element a line."""
    lines = [f"{_key(name)} = {_inline(value)}" for name, value in tree.items() if not isinstance(value, dict)]
    for name, section in tree.items():
        if isinstance(section, dict) and section:
            lines.append(f"\n[{_key(name)}]")
            lines += [f"{_key(key)} = {_inline(value)}" for key, value in section.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.match(name) else _quoted(name)


def _quoted(text: str) -> str:
    def escaped(c: str) -> str:
        return _ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c)

    return '"' + "".join(map(escaped, text)) + '"'


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (int, float)):
        # whole numbers beyond 64 bits are numbers all the same
        return repr(value if isinstance(value, float) or abs(value) < 2**63 else float(value))
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if not value:
        return "{}"
    return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }"


def assignment(value: Any, where: str) -> str:
    """A value as `--set name=value` takes it."""
    value = plain(value, where)
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        raise TypeError(f"{where}: a table cannot be set")
    return _inline(value)


def method(value: Any, where: str) -> Any:
    """A method as the command line writes it: `name:option=value,...`."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"{where} must be a name or a table with `kind`, not {type(value).__name__}")
    table = plain(value, where)
    kind = table.pop("kind", None)
    if not isinstance(kind, str):
        raise ValueError(f"{where} has no `kind`\nhint: write {{'kind': 'baumgarte', 'alpha': 5}}")
    if not table:
        return kind
    # a flag is 1 or 0
    words = [f"{k}={int(v) if isinstance(v, bool) else v}" for k, v in table.items()]
    return f"{kind}:{','.join(words)}"
