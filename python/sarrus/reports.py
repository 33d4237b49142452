"""What analyses find, as data that can be read by key or by attribute, and as the text of the command line."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sarrus
from .result import Samples

__all__ = ["Check", "Comparison", "Equilibrium", "Inverse", "Modes", "Report", "Reproduction"]


class Report(Mapping[str, Any]):
    """Findings by key or attribute; tables inside are findings as well.

    >>> import sarrus
    >>> check = sarrus.example("door").check()
    >>> check["dof"], check.constraints.redundant
    (1, 5)
    """

    def __init__(self, data: dict[str, Any], text: str = "") -> None:
        self._data = data
        self._text = text

    def __getitem__(self, key: str) -> Any:
        if key not in self._data:
            hint = _sarrus.did_you_mean(str(key), list(self._data)) or f"there are: {' '.join(self._data)}"
            raise KeyError(f"`{key}` is not in this report; {hint}")
        return _wrapped(self._data[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._data:
            raise AttributeError(f"this report has no `{name}`")
        return _wrapped(self._data[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return self._text.rstrip("\n") or json.dumps(self._data, indent=2, ensure_ascii=False)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain dictionaries and lists; its own copy."""
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Report(value)
    if isinstance(value, list):
        return [_wrapped(inner) for inner in value]
    return value


class Check(Report):
    """What can be known of a model without running it; see :meth:`sarrus.Model.check`.

    >>> import sarrus
    >>> check = sarrus.example("four_bar_spatial").check()
    >>> check.constraints.rows, check.constraints.rank
    (20, 17)
    >>> check.not_unique[:3]
    ['J1.fz', 'J1.tx', 'J1.ty']
    """

    @property
    def not_unique(self) -> list[str]:
        """Columns of reactions that are not unique."""
        found = []
        for reaction in self._data["reactions"]:
            found += [f"{reaction['name']}.{component}" for component in reaction["not_unique"]]
        return found


class Modes(Report):
    """How a model moves in the small; see :meth:`sarrus.Model.modes`.

    >>> import sarrus
    >>> modes = sarrus.example("double_pendulum").modes()
    >>> modes.stable
    True
    >>> modes.eigenvalues.dtype, modes.A.shape[0] == modes.A.shape[1]
    (dtype('complex128'), True)
    """

    @property
    def eigenvalues(self) -> npt.NDArray[np.complex128]:
        """One per mode, that with the positive imaginary part [1/s]."""
        return np.array([complex(*mode["eigenvalue"]) for mode in self._data["modes"]], dtype=np.complex128)

    @property
    def frequencies(self) -> npt.NDArray[np.float64]:
        """One per mode [Hz]; not a number where it does not swing."""
        return self._numbers("frequency")

    @property
    def damping_ratios(self) -> npt.NDArray[np.float64]:
        """One per mode; not a number where it does not swing."""
        return self._numbers("damping_ratio")

    def _numbers(self, key: str) -> npt.NDArray[np.float64]:
        values = [mode[key] for mode in self._data["modes"]]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    @property
    def A(self) -> npt.NDArray[np.float64]:
        """The matrix of ẋ = A x: positions first, then speeds."""
        return np.array(self._data["A"], dtype=np.float64)

    def shape(self, mode: int) -> dict[str, complex]:
        """How a mode moves: a complex amplitude by coordinate."""
        return {entry["name"]: complex(*entry["value"]) for entry in self._data["modes"][mode]["shape"]}


class Equilibrium(Report):
    """Where a model comes to rest; see :meth:`sarrus.Model.equilibrium`.

    >>> import sarrus
    >>> rest = sarrus.example("double_pendulum").equilibrium()
    >>> rest.residual < 1e-6
    True
    """

    def __init__(self, data: dict[str, Any], text: str, steps: Samples) -> None:
        super().__init__(data, text)
        self._steps = steps

    @property
    def steps(self) -> Samples:
        """Every column of results, a row per part of the loads; the last is the rest."""
        return self._steps

    @property
    def values(self) -> dict[str, float]:  # type: ignore[override]
        """Every column of results at rest."""
        return dict(self._data["values"])


class Inverse(Samples):
    """A prescribed motion and the forces it needs; see :meth:`sarrus.Model.inverse`.

    >>> import sarrus
    >>> motion = sarrus.example("two_arm_robot").inverse()
    >>> motion.status, float(motion["tip.fx"][0]) != 0
    ('completed', True)
    """

    def __init__(self, data: dict[str, Any], text: str, columns: _sarrus.Columns) -> None:
        super().__init__(columns)
        self._report = data
        self._text = text

    @property
    def report(self) -> dict[str, Any]:
        """What was found, as `report.json` of `sarrus inverse` has it."""
        return self._report

    @property
    def status(self) -> str:
        """`completed` or `failed`."""
        return str(self._report["status"])

    def __repr__(self) -> str:
        return self._text.rstrip("\n")


class Comparison(Report):
    """Methods side by side; see :func:`sarrus.compare`.

    >>> import sarrus
    >>> found = sarrus.compare("example:pendulum", formulations="direct,proximal", stabilizations="projection", t_end=0.1, repeat=0)
    >>> [row["formulation"] for row in found.rows]
    ['direct', 'proximal']
    """

    def __init__(self, json_text: str, csv_text: str, text: str, figures: list[tuple[str, str]]) -> None:
        super().__init__(json.loads(json_text), text)
        self._csv = csv_text
        self._figures = dict(figures)

    @property
    def table(self) -> list[dict[str, Any]]:
        """The rows of `compare.csv`, numbers as numbers."""
        rows = csv.DictReader(io.StringIO(self._csv))
        return [{key: _number(value) for key, value in row.items()} for row in rows]

    @property
    def figures(self) -> dict[str, str]:
        """Figures as SVG, by name."""
        return dict(self._figures)

    def to_csv(self) -> str:
        """The table as comma-separated values."""
        return self._csv

    def to_pandas(self) -> Any:
        """The table as a pandas frame."""
        import pandas

        return pandas.read_csv(io.StringIO(self._csv))

    def plot(self, ax: Any = None, *, x: str = "time_s", y: str = "error") -> Any:
        """Draws one number of each method over another, both logarithmic; returns the axes."""
        from .plotting import compared

        return compared(self.table, x, y, ax)


def _number(text: str) -> Any:
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text


class Reproduction(Report):
    """Claims of a paper against what comes out here; see :func:`sarrus.reproduce`."""

    def __init__(self, json_text: str, text: str, markdown: str, figures: list[tuple[str, str]]) -> None:
        super().__init__(json.loads(json_text), text)
        self._markdown = markdown
        self._figures = dict(figures)

    @property
    def passed(self) -> bool:
        """Whether no claim failed."""
        return all(claim["verdict"] != "failed" for claim in self._data["claims"])

    @property
    def figures(self) -> dict[str, str]:
        """Figures as SVG, by name."""
        return dict(self._figures)

    def to_markdown(self) -> str:
        """Claims, tables and what the paper leaves unsaid."""
        return self._markdown

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes `claims.md`, `claims.json` and the figures as SVG."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / "claims.md").write_text(self._markdown, encoding="utf-8")
        (place / "claims.json").write_text(json.dumps(self._data, indent=2) + "\n", encoding="utf-8")
        for name, svg in self._figures.items():
            (place / f"{name}.svg").write_text(svg, encoding="utf-8")
