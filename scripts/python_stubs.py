#!/usr/bin/env python3
"""Writes the stub of `sarrus._families` from the registries of the installed package.

    python scripts/python_stubs.py            writes python/sarrus/_families.pyi
    python scripts/python_stubs.py --check    exits with 1 where it is not as it would be written
"""

from __future__ import annotations

import sys
from pathlib import Path

from sarrus._registry import ENTRIES, KEYED, SETTERS, USUAL, Key, families, python_name, tables

STUB = Path(__file__).resolve().parent.parent / "python" / "sarrus" / "_families.pyi"

HEAD = '''"""Written by scripts/python_stubs.py: what kinds there are, with their keys."""

from collections.abc import Mapping as Table_
from collections.abc import Sequence
from typing import Any, Literal

from ._registry import Family, Mapping
from .types import Flag, Local, Matrix, Method, Number, Numbers, Orientation, Table, Vector

__all__ = ["SHAPES", "Families", "Shapes"]

'''


def method(name: str, keys: dict[str, Key], *, named: bool, returns: str) -> list[str]:
    """One method."""
    lines = [f"    def {name}(", "        self,", "        name: str,", "        /,"]
    if not named:
        lines = [f"    def {name}(", "        self,", "        /,"]
    if keys:
        lines.append("        *,")
    for key, ty, _, _ in keys.values():
        # `Mapping` is a class of the package here
        ty = ty.replace("Mapping[", "Table_[")
        lines.append(f"        {python_name(key)}: {ty} | None = None,")
    return [*lines, f"    ) -> {returns}: ..."]


def stub() -> str:
    """The whole stub."""
    classes: list[str] = []
    attributes: list[str] = [f"    {section}: Mapping" for section in ENTRIES]
    methods: list[str] = []
    known = tables()
    for section, (default, _, kinds) in families().items():
        shape = section == "shapes"
        title = section.capitalize()
        classes.append(f"class {title}:" if shape else f"class {title}(Family):")
        for kind, (_, keys) in kinds.items():
            returns = "dict[str, Any]" if shape else "str"
            classes += method(python_name(kind), keys, named=not shape, returns=returns)
        classes.append("")
        if not shape:
            attributes.append(f"    {section}: {title}")
        if section in USUAL:
            keys = kinds[default or next(iter(kinds))][1]
            methods += method(USUAL[section], keys, named=True, returns="str")
    for section, (name, _) in KEYED.items():
        if section != name:
            attributes.append(f"    {section}: Family")
        methods += method(name, known[section], named=True, returns="str")
    for name, (sections, _) in SETTERS.items():
        keys = {key: row for section in sections for key, row in known[section].items()}
        methods += method(name, keys, named=False, returns="None")
    own = ["    _tree: dict[str, Any]", "    def _edit(self) -> dict[str, Any]: ...", "    def _begin(self) -> None: ..."]
    body = [*classes, "class Families:", *attributes, *own, *methods, "", "SHAPES: Shapes"]
    return HEAD + "\n".join(body) + "\n"


def main() -> int:
    """Writes or compares."""
    text = stub()
    if "--check" in sys.argv[1:]:
        same = STUB.read_text(encoding="utf-8") == text
        if not same:
            print(f"{STUB} is not up to date: python scripts/python_stubs.py", file=sys.stderr)
        return 0 if same else 1
    STUB.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
