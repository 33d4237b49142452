"""Pictures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Samples

__all__ = ["compared", "drawn"]


def _label(name: str, unit: str) -> str:
    return name if unit in ("", "1") else f"{name} [{unit}]"


def drawn(samples: Samples, columns: list[str], x: str, ax: Any) -> list[Any]:
    """Columns over another; a panel per unit unless axes are given."""
    if not columns:
        raise TypeError("name at least one column to plot")
    units = samples.units
    across = samples[x]
    panels: dict[str, list[str]] = {}
    for name in columns:
        panels.setdefault(units[name], []).append(name)
    if ax is not None:
        groups = [(ax, columns)]
    else:
        from matplotlib import pyplot

        height = 1.2 + 2.0 * len(panels)
        figure, axes = pyplot.subplots(len(panels), 1, sharex=True, squeeze=False, figsize=(7.0, height), layout="constrained")
        del figure
        groups = list(zip(axes[:, 0], panels.values()))
    for axis, names in groups:
        for name in names:
            axis.plot(across, samples[name], label=name)
        if len(names) == 1:
            axis.set_ylabel(_label(names[0], units[names[0]]))
        else:
            shared = {units[name] for name in names}
            axis.set_ylabel(_label("", shared.pop()).strip() if len(shared) == 1 else "")
            axis.legend()
        axis.grid(True, alpha=0.3)
    groups[-1][0].set_xlabel(_label(x, units[x]))
    return [axis for axis, _ in groups]


def compared(table: list[dict[str, Any]], x: str, y: str, ax: Any) -> Any:
    """One number of each method over another."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(layout="constrained")
    for row in table:
        for key in (x, y):
            if key not in row:
                raise ValueError(f"a comparison has no column `{key}`\nhint: there are: {' '.join(row)}")
        if isinstance(row[x], float) and isinstance(row[y], float):
            label = " + ".join(str(row[key]) for key in ("formulation", "stabilization", "integrator"))
            ax.loglog([row[x]], [row[y]], "o", label=label)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if ax.has_data():
        ax.legend(fontsize="small")
    return ax
