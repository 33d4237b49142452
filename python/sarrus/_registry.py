"""The registries of the compiled package as methods: names, arguments, docstrings."""

from __future__ import annotations

import inspect
import keyword
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import _sarrus
from ._text import plain

if TYPE_CHECKING:
    from ._families import Families

Key = tuple[str, str, str, str]
"""Name, type, default in words, line."""

ENTRIES = ["parameters", "points", "functions", "initial", "guess", "cases", "repeat"]
"""Sections of plain entries."""

KEYED = {
    "materials": ("material", "a material"),
    "fluids": ("fluid", "a fluid"),
    "tables": ("table", "a function given by points"),
    "include": ("include", "another file as a part of this model"),
}
"""Sections of tables with keys and no kind: the method that adds one, and its line."""

USUAL = {"bodies": "body", "contacts": "contact", "events": "event"}
"""Sections with a kind that need not be said, and the method that adds one of it."""

SETTERS = {
    "settings": (["run", "output"], "how the motion is computed and what is written"),
    "viewing": (["view"], "what is drawn"),
    "ground": (["ground"], "markers and shapes of the fixed body"),
}
"""Methods that set keys of sections without names."""

SINGULAR = {
    "bodies": "body",
    "flexible": "flexible member",
    "sections": "section",
    "joints": "joint",
    "constraints": "constraint",
    "drivers": "driver",
    "forces": "force",
    "contacts": "contact",
    "controllers": "controller",
    "measures": "measure",
    "events": "event",
    "shapes": "shape",
    "materials": "material",
    "fluids": "fluid",
    "tables": "table",
    "include": "include",
}


def python_name(key: str) -> str:
    """A key as an argument: `from` is `from_`."""
    return key + "_" if keyword.iskeyword(key) else key


def merged(kinds: list[tuple[str, str, list[Key]]]) -> dict[str, tuple[list[str], dict[str, Key]]]:
    """Lines and keys by kind; a joint that exists in the plane and in space is one."""
    out: dict[str, tuple[list[str], dict[str, Key]]] = {}
    for kind, doc, keys in kinds:
        lines, known = out.setdefault(kind, ([], {}))
        if doc not in lines:
            lines.append(doc)
        for key in keys:
            known.setdefault(key[0], key)
    return out


def families() -> dict[str, tuple[str | None, bool, dict[str, tuple[list[str], dict[str, Key]]]]]:
    """By section: the kind that need not be said, whether expressions are entries, and the kinds."""
    return {section: (default, bare, merged(kinds)) for section, default, bare, kinds in _sarrus.families()}


def tables() -> dict[str, dict[str, Key]]:
    """Keys by section, of those without kinds."""
    return {section: {key[0]: key for key in keys} for section, keys in _sarrus.tables()}


def document(lines: list[str], keys: dict[str, Key]) -> str:
    """A docstring."""
    first = "; ".join(lines)
    text = [first[:1].upper() + first[1:] + ".", ""] if first else []
    for name, ty, default, doc in keys.values():
        note = f"{doc} (default: {default})" if default else doc
        body = f"{python_name(name)} ({ty}): {note}"
        text += textwrap.wrap(body, 110, subsequent_indent="    ", break_long_words=False)
    return "\n".join(text)


def signature(keys: dict[str, Key], *, named: bool, returns: str) -> inspect.Signature:
    """`(self, name, /, *, key: type = None, ...)`"""
    P = inspect.Parameter
    parameters = [P("self", P.POSITIONAL_ONLY)]
    if named:
        parameters.append(P("name", P.POSITIONAL_ONLY, annotation="str"))
    for name, ty, _, _ in keys.values():
        parameters.append(P(python_name(name), P.KEYWORD_ONLY, default=None, annotation=f"{ty} | None"))
    return inspect.Signature(parameters, return_annotation=returns)


def given(arguments: dict[str, Any], keys: dict[str, Key], title: str) -> dict[str, Any]:
    """The arguments as a table; those that are None are left out."""
    table = {}
    for argument, value in arguments.items():
        key = argument[:-1] if argument.endswith("_") else argument
        if key not in keys:
            known = [python_name(k) for k in keys]
            hint = _sarrus.did_you_mean(argument, known) or f"it takes: {' '.join(known)}"
            raise TypeError(f"{title} has no key `{argument}`\nhint: {hint}")
        if value is not None:
            table[key] = plain(value, f"{title}, `{argument}`")
    return table


class Mapping:
    """Entries of a section by name, such as parameters and points.

    >>> import sarrus
    >>> m = sarrus.Model("bar", space="planar")
    >>> m.parameters["l"] = 0.5
    >>> m.points.update(A=(0, 0), B=("l", 0))
    >>> list(m.points), len(m.parameters), m.points["B"]
    (['A', 'B'], 1, ['l', 0])
    """

    def __init__(self, owner: Families, section: str) -> None:
        self._owner = owner
        self._section = section

    def _entries(self) -> dict[str, Any]:
        entries: dict[str, Any] = self._owner._tree.get(self._section, {})
        return entries

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a name in `{self._section}` must be a string, not {type(name).__name__}")
        value = plain(value, f"`{name}` in `{self._section}`")
        tree = self._owner._edit()
        place = tree.setdefault(self._section, {})
        # a dot leads inside, as in a file
        *heads, last = name.split(".") if self._section in ("initial", "guess") else [name]
        for head in heads:
            place = place.setdefault(head, {})
        place[last] = value

    def update(self, entries: dict[str, Any] | None = None, /, **more: Any) -> None:
        """Sets many."""
        for name, value in {**(entries or {}), **more}.items():
            self[name] = value

    def __getitem__(self, name: str) -> Any:
        entries = self._entries()
        if name not in entries:
            hint = _sarrus.did_you_mean(name, list(entries))
            raise KeyError(f"`{name}` is not in `{self._section}`" + (f"; {hint}" if hint else ""))
        return entries[name]

    def __delitem__(self, name: str) -> None:
        self[name]
        del self._owner._edit()[self._section][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __contains__(self, name: object) -> bool:
        return name in self._entries()

    def __repr__(self) -> str:
        return f"<{self._section}: {', '.join(self) or 'none'}>"


class Family(Mapping):
    """Elements of one section; every kind is a method that adds one and returns its name.

    >>> import sarrus
    >>> m = sarrus.Model("bar", space="planar")
    >>> crank = m.bodies.rigid("crank", from_=(0, 0), to=(0.2, 0), mass=1)
    >>> m.joints.revolute("A", bodies=("ground", crank), at=(0, 0))
    'A'
    >>> "A" in m.joints, m.joints["A"]["kind"]
    (True, 'revolute')
    """

    def _add(self, kind: str | None, name: str, table: dict[str, Any]) -> str:
        if not isinstance(name, str):
            what = SINGULAR.get(self._section, self._section)
            raise TypeError(f"the name of a {what} must be a string, not {type(name).__name__}")
        if name in self:
            what = SINGULAR.get(self._section, self._section)
            raise ValueError(f"there is a {what} `{name}` already\nhint: `del m.{self._section}[{name!r}]` removes it")
        self[name] = {"kind": kind, **table} if kind else table
        return name


def maker(section: str, kind: str | None, lines: list[str], keys: dict[str, Key]) -> Callable[..., str]:
    """The method of a kind."""
    what = SINGULAR.get(section, section)

    def make(self: Any, name: str, /, **arguments: Any) -> str:
        family = self if isinstance(self, Family) else Family(self, section)
        return family._add(kind, name, given(arguments, keys, f"{what} `{name}`"))

    make.__doc__ = document(lines, keys)
    make.__signature__ = signature(keys, named=True, returns="str")  # type: ignore[attr-defined]
    return make


def setter(sections: list[str], keys_of: dict[str, dict[str, Key]], doc: str) -> Callable[..., None]:
    """A method that sets keys of tables without kinds."""
    keys = {name: key for section in sections for name, key in keys_of[section].items()}

    def make(self: Any, /, **arguments: Any) -> None:
        table = given(arguments, keys, f"`{sections[0]}`")
        tree = self._edit()
        for section in sections:
            mine = {key: value for key, value in table.items() if key in keys_of[section]}
            if mine:
                tree.setdefault(section, {}).update(mine)

    make.__doc__ = document([doc], keys)
    make.__signature__ = signature(keys, named=False, returns="None")  # type: ignore[attr-defined]
    return make


def finish(function: Any, name: str, owner: type) -> Any:
    """Gives a made function its names."""
    function.__name__ = name
    function.__qualname__ = f"{owner.__name__}.{name}"
    function.__module__ = owner.__module__
    return function
