"""What a run leaves behind: columns as NumPy arrays, the report, pictures and files."""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _sarrus
from .errors import ColumnError

if TYPE_CHECKING:
    from .reports import Report

__all__ = ["Instants", "Result", "Samples", "Viewer"]


class Samples:
    """Samples of named columns.

    All columns are rows of one block of memory. A column is a view of it: nothing is copied, it cannot be written to, and it keeps
    the block alive. The block is made when the first column is asked for.
    """

    def __init__(self, columns: _sarrus.Columns) -> None:
        self._columns = columns
        self._names = columns.names
        self._index: dict[str, int] | None = None
        self._block: npt.NDArray[np.float64] | None = None

    @property
    def block(self) -> npt.NDArray[np.float64]:
        """All samples: a row per column, in the order of `names`."""
        if self._block is None:
            self._block = self._columns.block()
        return self._block

    @property
    def names(self) -> list[str]:
        """Names of the columns, `t` first."""
        return list(self._names)

    @property
    def units(self) -> dict[str, str]:
        """Units by column; `1` where a number has none."""
        return dict(zip(self._names, self._columns.units))

    @property
    def t(self) -> npt.NDArray[np.float64]:
        """Times of the samples [s]."""
        return self["t"]

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        if self._index is None:
            self._index = {name: i for i, name in enumerate(self._names)}
        if not isinstance(name, str):
            raise TypeError(f"a column is named by a string, not {type(name).__name__}")
        place = self._index.get(name)
        if place is None:
            raise self._unknown(name)
        column: npt.NDArray[np.float64] = self.block[place]
        return column

    def _unknown(self, name: str) -> ColumnError:
        if len(self) == 0:
            return ColumnError(f"there is no column `{name}`: nothing was recorded\nhint: leave out `record=False`")
        hint = _sarrus.did_you_mean(name, self._names) or "`names` lists them"
        return ColumnError(f"there is no column `{name}`\nhint: {hint}")

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self._columns)

    def keys(self) -> list[str]:
        """Names of the columns, so that `dict(result)` works."""
        return self.names

    def match(self, *patterns: str) -> list[str]:
        """Names of the columns that patterns such as `crank.*` fit, in their order; `!*.vx` takes away again.

        >>> import sarrus
        >>> sarrus.example("pendulum").run(t_end=0.1).match("bar.*", "!*.?", "!*.v?", "!*.a?", "!*.alpha")
        ['bar.angle', 'bar.rate']
        """
        chosen: list[str] = []
        for pattern in patterns:
            if pattern.startswith("!"):
                chosen = [name for name in chosen if not fnmatch.fnmatchcase(name, pattern[1:])]
                continue
            found = [name for name in self._names if fnmatch.fnmatchcase(name, pattern)]
            if not found:
                raise self._unknown(pattern)
            chosen += [name for name in found if name not in chosen]
        return chosen

    def to_pandas(self) -> Any:
        """A pandas frame over the time; its numbers are this block, not a copy.

        >>> import sarrus
        >>> frame = sarrus.example("pendulum").run(t_end=0.1).to_pandas()
        >>> frame.index.name, "bar.angle" in frame.columns
        ('t', True)
        """
        import pandas

        index = pandas.Index(self.block[0], name=self._names[0], copy=False) if self._names else None
        return pandas.DataFrame(self.block[1:].T, columns=self._names[1:], index=index, copy=False)

    def to_arrow(self) -> Any:
        """An Arrow table with the units in the fields' metadata; its numbers are this block, not a copy.

        >>> import sarrus
        >>> table = sarrus.example("pendulum").run(t_end=0.1).to_arrow()
        >>> table.schema.field("bar.angle").metadata
        {b'unit': b'rad'}
        """
        import pyarrow

        units = self.units
        fields = [pyarrow.field(name, pyarrow.float64(), metadata={"unit": units[name]}) for name in self._names]
        arrays = [pyarrow.array(row) for row in self.block]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def to_polars(self) -> Any:
        """A polars frame, through Arrow: its numbers are this block, not a copy.

        >>> import sarrus
        >>> sarrus.example("pendulum").run(t_end=0.1).to_polars().columns[:2]
        ['t', 'bar.x']
        """
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_csv(self) -> str:
        """The text of `trajectory.csv`."""
        return self._columns.csv()

    def plot(self, *columns: str, x: str = "t", ax: Any = None) -> list[Any]:
        """Draws columns, or patterns of them, over the time or another column; returns the axes.

        Columns of different units have panels of their own; on axes that are given all are drawn together.

        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> import sarrus
        >>> result = sarrus.example("four_bar").run(t_end=0.2)
        >>> axes = result.plot("A.angle", "crank.x")
        >>> [a.get_ylabel() for a in axes]
        ['A.angle [rad]', 'crank.x [m]']
        """
        from .plotting import drawn

        return drawn(self, self.match(*columns), x, ax)


def _number(x: float | None) -> str:
    # JSON has no word for what is not finite
    return "not finite" if x is None else f"{x:.3g}"


class Instants(Samples):
    """Rows beside the regular ones: before and after events, impacts and switches, and of the largest contact forces."""

    def __init__(self, columns: _sarrus.Columns, sides: list[str], what: list[str]) -> None:
        super().__init__(columns)
        self.sides = sides
        """Of each row `before`, `after` or `peak`."""
        self.what = what
        """What happens there: names of events, `contact`, `switch`, or the column that is at its peak."""


class Viewer:
    """A viewer that is being served; it ends with the program."""

    def __init__(self, url: str) -> None:
        self.url = url
        """Its address; whoever knows it sees the results."""

    def __repr__(self) -> str:
        return f"viewer at {self.url}"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">{self.url}</a>'


class Result(Samples):
    """What a run leaves behind: columns, report and certificate.

    >>> import sarrus
    >>> result = sarrus.example("four_bar").run(t_end=0.5)
    >>> result.status, result.certificate.passed
    ('completed', True)
    >>> angle = result["A.angle"]
    >>> angle.shape == result.t.shape == (len(result),)
    True
    >>> result.units["A.angle"]
    'rad'
    """

    def __init__(self, run: _sarrus.Run) -> None:
        super().__init__(run.columns())
        self._run = run
        self._report: dict[str, Any] | None = None

    @property
    def status(self) -> str:
        """`completed`, `stopped` (by a limit or Ctrl-C) or `failed`."""
        return self._run.status

    @property
    def report(self) -> dict[str, Any]:
        """All that `report.json` has."""
        if self._report is None:
            self._report = json.loads(self._run.report())
        return self._report

    @property
    def peaks(self) -> dict[str, dict[str, float]]:
        """Least and largest value of every column over the whole run, between the samples too: `min`, `t_min`, `max`, `t_max`.

        >>> import sarrus
        >>> result = sarrus.example("four_bar").run(t_end=0.5)
        >>> bool(result.peaks["A.rate"]["max"] >= result["A.rate"].max())
        True
        """
        peaks: dict[str, dict[str, float]] = self.report.get("peaks", {})
        return peaks

    @property
    def instants(self) -> Instants:
        """Rows of the same columns at events, impacts and switches, before and after, and of the largest contact forces.

        >>> import sarrus
        >>> rows = sarrus.example("deployment").run().instants
        >>> len(rows) == len(rows.sides) == len(rows.what)
        True
        """
        return Instants(*self._run.instants())

    @property
    def certificate(self) -> Report:
        """Whether the run kept its constraints and its energy: `passed`, and each value with its limit."""
        from .reports import Report

        return Report(self.report["certificate"])

    def uncertified(self) -> str:
        """Why the run is not certified, and what to change; empty where it is.

        >>> import sarrus
        >>> sarrus.example("pendulum").run(t_end=0.1).uncertified()
        ''
        """
        report = self.report
        certificate = report["certificate"]
        if certificate["passed"]:
            return ""
        items = {name: item for name, item in certificate.items() if isinstance(item, dict) and not item["passed"]}
        failed = [f"{name} {_number(item['value'])} (limit {_number(item['limit'])})" for name, item in items.items()]
        why = ", ".join(failed) or str(report["reason"])
        advice = "".join(f"\nhint: {sentence}" for sentence in report.get("advice", []))
        return f"`{report['model']}` is not certified: {why}{advice}"

    def save(self, folder: str | os.PathLike[str], *, html: bool = True) -> list[str]:
        """Writes the files of `sarrus run --out` into a folder and returns their names; `steps.csv` only where the run was listened to.

        >>> import sarrus, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sarrus.example("pendulum").run(t_end=0.1).save(folder)
        ['trajectory.csv', 'report.json', 'model.toml', 'report.html']
        """
        return self._run.save(Path(folder), html)

    def report_html(self) -> str:
        """The page `report.html`: animation, plots and certificate in one file."""
        return self._run.html()

    def gltf(self) -> bytes:
        """The animation as a binary glTF file.

        >>> import sarrus
        >>> sarrus.example("pendulum").run(t_end=0.1).gltf()[:4]
        b'glTF'
        """
        return self._run.gltf()

    def view(self, *, host: str = "127.0.0.1", port: int = 0, open_browser: bool = True) -> Viewer:
        """Serves the viewer, as `sarrus view` does, until the program ends; opens it in a browser."""
        return Viewer(self._run.view(host, port, open_browser))

    def __repr__(self) -> str:
        report = self.report
        passed = "passed" if report["certificate"]["passed"] else "not passed"
        method = report["method"]
        lines = [
            f"{report['model']}: {report['status']} at t = {report['t_end']:g} s, certificate {passed}",
            f"  {len(self)} samples of {len(self._names)} columns",
            f"  {method['formulation']} + {method['stabilization']} + {method['integrator']},"
            f" {report['counts']['steps']} steps in {report['wall_s']:.3g} s",
        ]
        if report["status"] != "completed":
            lines.append(f"  {report['reason']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from .notebook import shown

        return shown(self)
