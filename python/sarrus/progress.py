"""Bars for runs that take long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Union

__all__ = ["Bar", "Told", "teller"]

Told = Union[bool, Callable[[float, str], object], None]
"""What `progress` takes: True for a bar, or a function of a fraction and a text."""

WIDTH = 40


class Bar:
    """A bar: a widget in a notebook that has ipywidgets, otherwise a line of text on stderr.

    >>> import io
    >>> from sarrus.progress import Bar
    >>> stream = io.StringIO()
    >>> bar = Bar(label="four_bar", stream=stream, notebook=False)
    >>> bar(0.5, "t = 1.0000 s")
    >>> print(stream.getvalue().strip())
    four_bar ####################....................  50%  t = 1.0000 s
    """

    def __init__(self, label: str = "", stream: Any = None, notebook: bool | None = None) -> None:
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._started = time.monotonic()
        self._length = 0
        self._widget = _widget(label) if (in_notebook() if notebook is None else notebook) else None

    def __call__(self, fraction: float, text: str) -> None:
        """Shows how far it is."""
        if self._widget is not None:
            self._widget.children[0].value = fraction
            self._widget.children[1].value = text
            return
        done = round(WIDTH * fraction)
        line = f"{self._label} {'#' * done}{'.' * (WIDTH - done)} {100 * fraction:3.0f}%  {text}".strip()
        self._write("\r" + line.ljust(self._length))
        self._length = len(line)

    def close(self) -> None:
        """Takes the bar away."""
        if self._widget is not None:
            self._widget.close()
            self._widget = None
        elif self._length:
            self._write("\r" + " " * self._length + "\r")
            self._length = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def in_notebook() -> bool:
    """Whether output goes to a notebook."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"


def _widget(label: str) -> Any:
    try:
        import ipywidgets
        from IPython.display import display
    except ImportError:
        return None
    bar = ipywidgets.FloatProgress(value=0.0, min=0.0, max=1.0, description=label)
    box = ipywidgets.HBox([bar, ipywidgets.Label("")])
    display(box)  # type: ignore[no-untyped-call, unused-ignore]
    return box


def teller(progress: Told, label: str) -> tuple[Callable[[float, str], object] | None, Callable[[], None]]:
    """Who is told, and what is done at the end."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        bar = Bar(label)
        return bar, bar.close
    if not callable(progress):
        raise TypeError(f"`progress` must be True, False or a function, not {type(progress).__name__}")
    return progress, lambda: None
