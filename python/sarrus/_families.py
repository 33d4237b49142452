"""The parts of a model that have kinds, made from the registries of the compiled package.

Every kind that exists is a method: `m.joints.revolute`, `m.forces.spring`; its keys are its arguments, with their types, defaults
and meanings in `help`. A kind that is added to Sarrus appears here by itself. The stub beside this file is written from the same
lists by `scripts/python_stubs.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._registry import (
    ENTRIES,
    KEYED,
    SETTERS,
    USUAL,
    Family,
    Key,
    Mapping,
    document,
    families,
    finish,
    given,
    maker,
    python_name,
    setter,
    signature,
    tables,
)

__all__ = ["SHAPES", "Families", "Shapes"]


class Shapes:
    """Shapes of bodies: every kind is a method that returns the table for `shape`.

    >>> import sarrus
    >>> sarrus.shapes.box(size=(1, 2, 3))
    {'kind': 'box', 'size': [1, 2, 3]}
    """

    def __repr__(self) -> str:
        return f"<shapes: {', '.join(k for k in dir(self) if not k.startswith('_'))}>"


class Families:
    """The sections of a model; what :class:`sarrus.Model` is built with."""

    _tree: dict[str, Any]

    def _edit(self) -> dict[str, Any]:
        raise NotImplementedError

    def _begin(self) -> None:
        for section, cls in _SECTIONS.items():
            setattr(self, section, cls(self, section))


_SECTIONS: dict[str, type[Mapping]] = {section: Mapping for section in ENTRIES}


def _make() -> None:
    tabled = tables()
    for section, (default, _, kinds) in families().items():
        if section == "shapes":
            for kind, (lines, keys) in kinds.items():
                setattr(Shapes, python_name(kind), finish(_shape(kind, lines, keys), python_name(kind), Shapes))
            continue
        cls = type(section.capitalize(), (Family,), {"__doc__": Family.__doc__, "__module__": __name__})
        for kind, (lines, keys) in kinds.items():
            method = maker(section, None if kind == default else kind, lines, keys)
            setattr(cls, python_name(kind), finish(method, python_name(kind), cls))
        globals()[cls.__name__] = _SECTIONS[section] = cls
        if section in USUAL:
            lines, keys = kinds[default or next(iter(kinds))]
            setattr(Families, USUAL[section], finish(maker(section, None, lines, keys), USUAL[section], Families))
    for section, (method_name, line) in KEYED.items():
        # `include` itself is the method
        if section != method_name:
            _SECTIONS[section] = Family
        setattr(Families, method_name, finish(maker(section, None, [line], tabled[section]), method_name, Families))
    for name, (sections, line) in SETTERS.items():
        setattr(Families, name, finish(setter(sections, tabled, line), name, Families))


def _shape(kind: str, lines: list[str], keys: dict[str, Key]) -> Callable[..., dict[str, Any]]:
    def make(self: Shapes, /, **arguments: Any) -> dict[str, Any]:
        return {"kind": kind, **given(arguments, keys, f"shape `{kind}`")}

    make.__doc__ = document(lines, keys)
    make.__signature__ = signature(keys, named=False, returns="dict[str, Any]")  # type: ignore[attr-defined]
    return make


_make()
SHAPES = Shapes()
