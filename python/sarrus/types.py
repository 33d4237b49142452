"""Types of what a model takes; see docs/model-file.md for what each means.

>>> from sarrus.types import Vector
>>> at: Vector = (0.5, "2*l")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

__all__ = ["Flag", "Local", "Matrix", "Method", "Number", "Numbers", "Orientation", "Table", "Vector"]

Number: TypeAlias = Union[float, str]
"""A number in SI units, or an expression: `0.2`, `"12 mm"`, `"2*l*cos(phi)"`."""

Numbers: TypeAlias = Union[str, Sequence[Number], "npt.NDArray[np.floating[Any]]", "npt.NDArray[np.integer[Any]]"]
"""A list of numbers, an array, or a vector expression."""

Vector: TypeAlias = Numbers
"""Two numbers in the plane, three in space, the name of a point, or a vector expression."""

Matrix: TypeAlias = Union[Sequence[Sequence[Number]], "npt.NDArray[np.floating[Any]]"]
"""Rows of numbers."""

Flag: TypeAlias = Union[bool, str]
"""True, False, or a condition of parameters."""

Local: TypeAlias = Union[str, Sequence[Any], "npt.NDArray[np.floating[Any]]"]
"""A point or vector on a body, a marker's name, or a pair of these for two bodies."""

Orientation: TypeAlias = Union[Numbers, Mapping[str, Any]]
"""A quaternion `(w, x, y, z)` or a table."""

Method: TypeAlias = Union[str, Mapping[str, Any]]
"""A method by name, `"name:option=value"`, or a table with `kind` and options."""

Table: TypeAlias = Mapping[str, Any]
"""A table of keys."""
