"""What goes wrong, as exceptions with the same words as the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Result

__all__ = ["CertificateWarning", "ColumnError", "Error", "ModelError", "RunError"]


class Error(Exception):
    """Whatever Sarrus raises of its own.

    >>> import sarrus
    >>> issubclass(sarrus.ModelError, sarrus.Error)
    True
    """


class ModelError(Error, ValueError):
    """The model, or what is asked of it, is wrong. The text has place, line and hint.

    >>> import sarrus
    >>> text = 'format = "sarrus/1"\\n[bodies]\\nbar = { mas = 1 }\\n'
    >>> try:
    ...     sarrus.loads(text, name="bar.toml")
    ... except sarrus.ModelError as error:
    ...     print(error)
    ...     print(error.line, error.hint)
    bar.toml:3:9: body `bar` has no key `mas`
    3 | bar = { mas = 1 }
      |         ^^^ did you mean `mass`?
    3 did you mean `mass`?
    """

    diagnostics: list[dict[str, Any]]
    """Each finding: `message`, `hint`, `file`, `line`, `column` and `notes`."""

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics)

    def _first(self, key: str) -> Any:
        return self.diagnostics[0].get(key) if self.diagnostics else None

    @property
    def hint(self) -> str | None:
        """What to do about the first finding."""
        found: str | None = self._first("hint")
        return found

    @property
    def file(self) -> str | None:
        """The file of the first finding."""
        found: str | None = self._first("file")
        return found

    @property
    def line(self) -> int | None:
        """The line of the first finding, from 1."""
        found: int | None = self._first("line")
        return found

    @property
    def column(self) -> int | None:
        """The column of the first finding, from 1."""
        found: int | None = self._first("column")
        return found


class RunError(Error, RuntimeError):
    """A run failed on its way. What it had is in `result`.

    >>> import sarrus
    >>> error = sarrus.RunError("the step size fell below the least allowed")
    >>> print(error.result)
    None
    """

    result: Result | None
    """What was computed until then; none where nothing was."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        # results do not travel between processes
        return type(self), (str(self),)


class ColumnError(Error, KeyError):
    """There is no such column.

    >>> import sarrus
    >>> result = sarrus.example("pendulum").run(t_end=0.1)
    >>> try:
    ...     result["bar.angl"]
    ... except sarrus.ColumnError as error:
    ...     print(error)
    there is no column `bar.angl`
    hint: did you mean `bar.angle`?
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class CertificateWarning(UserWarning):
    """A run is done but not certified. Its text names what failed and says what to change.

    >>> import sarrus, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = sarrus.example("double_pendulum").run(t_end=1, integrator="rk4", step=0.05, record=False)
    >>> print(caught[0].category.__name__)
    CertificateWarning

    To have it as an error: `warnings.simplefilter("error", sarrus.CertificateWarning)`.
    """
