"""Models: from a file, from a text, or built here; and what can be asked of them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from . import _sarrus, _text
from ._families import SHAPES, Families, Shapes
from .errors import CertificateWarning, ModelError, RunError
from .functions import Function, given, handed
from .progress import Told, teller
from .reports import Check, Comparison, Equilibrium, Inverse, Modes, Reproduction
from .result import Result, Samples
from .simulation import Simulation
from .types import Method, Vector

__all__ = [
    "Model",
    "compare",
    "example",
    "examples",
    "kinds",
    "load",
    "loads",
    "papers",
    "reproduce",
    "schema",
]

Set = Mapping[str, Any]


class Model(Families):
    """A model: a flat list of bodies and what is between them.

    Every kind that a model file knows is a method of its section, with the keys of the file as arguments: what Python reserves has a
    low line behind it (`from_`), numbers may be expressions, and names may be used before what they name exists. Each method
    returns the name. `m.to_toml()` is the same model as a file.

    >>> import sarrus
    >>> m = sarrus.Model("pendulum", space="planar")
    >>> bar = m.body("bar", from_=(0, 0), to=(1.5, 0), mass=1)
    >>> hinge = m.joints.revolute("A", bodies=("ground", bar), at=(0, 0))
    >>> m.settings(t_end=1, rtol=1e-9, atol=1e-11)
    >>> result = m.run()
    >>> print(f"{result['A.angle'][-1]:.4f}")
    -2.9758

    Models that are loaded (:func:`sarrus.load`) are of this class too, but stay as their file says.
    """

    shapes: Shapes = SHAPES
    """Shapes of bodies, as :data:`sarrus.shapes`."""

    last_result: Result | None
    """What the last run left behind, however it ended."""

    def __init__(
        self,
        name: str = "model",
        *,
        space: Literal["spatial", "planar"] = "spatial",
        gravity: Vector | None = None,
        note: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        """Begins an empty model; files that it names are looked for in `folder`."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a model must be a string, not {type(name).__name__}")
        self._tree: dict[str, Any] = {"format": "sarrus/1", "name": name, "space": _text.plain(space, "`space`")}
        if gravity is not None:
            self._tree["gravity"] = _text.plain(gravity, "`gravity`")
        if note is not None:
            self._tree["note"] = _text.plain(note, "`note`")
        self._folder = None if folder is None else os.fspath(folder)
        self._functions: dict[str, Function] = {}
        self._source: _Source | None = None
        self._loaded: _sarrus.Loaded | None = None
        self.last_result = None
        self._begin()

    @classmethod
    def _from(cls, source: _Source) -> Model:
        model = cls.__new__(cls)
        model._tree = {}
        model._folder = None
        model._functions = {}
        model._source = source
        model._loaded = source.load()
        model.last_result = None
        model._begin()
        return model

    def __getstate__(self) -> dict[str, Any]:
        # what is compiled is made again where it is needed
        state = {k: v for k, v in self.__dict__.items() if k in ("_tree", "_folder", "_functions", "_source")}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loaded = None
        self.last_result = None
        self._begin()

    def _edit(self) -> dict[str, Any]:
        if self._source is not None:
            raise TypeError(
                f"`{self.name}` comes from a file and is not changed here\n"
                "hint: `sarrus.load(path, set={...})` sets parameters; `sarrus.Model()` begins a model of your own"
            )
        self._loaded = None
        return self._tree

    def _ready(self) -> _sarrus.Loaded:
        if self._loaded is None:
            source = self._source or _Source(text=self.to_toml(), name=self._file(), functions=self._functions)
            self._loaded = source.load()
        return self._loaded

    def _file(self) -> str:
        name = f"{self._tree['name']}.toml"
        return os.path.join(self._folder, name) if self._folder else name

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._tree["name"]) if self._source is None else self._ready().name

    def __repr__(self) -> str:
        if self._source is not None:
            return f"<sarrus.Model {self.name!r} from {self._source.shown()}>"
        counts = [f"{len(section)} {name}" for name, section in self._tree.items() if isinstance(section, dict)]
        return f"<sarrus.Model {self.name!r}: {', '.join(counts) or 'empty'}>"

    # functions

    def function(
        self,
        name: str,
        value: Callable[..., float] | Function,
        *,
        gradient: Callable[..., Any] | None = None,
        second: Callable[..., Any] | None = None,
    ) -> str:
        """Gives a function of Python to the model: expressions call it by `name`, with numbers. See :class:`sarrus.Function`.

        >>> import sarrus
        >>> m = sarrus.Model("spring", space="planar", gravity=(0, 0))
        >>> m.body("bar", from_=(0, 0), to=(1, 0), mass=1)
        'bar'
        >>> m.joints.revolute("A", bodies=("ground", "bar"), at=(0, 0))
        'A'
        >>> m.function("law", lambda angle, rate: 2 - 3 * angle - 0.1 * rate)
        'law'
        >>> m.forces.actuator("motor", joint="A", torque="law(A.angle, A.rate)")
        'motor'
        >>> m.run(t_end=1).certificate.passed
        True
        """
        self._edit()
        made = value if isinstance(value, Function) else Function(value, gradient=gradient, second=second)
        self._functions[name] = made
        return name

    # text

    def to_toml(self) -> str:
        """The model as a file; of a loaded one with every expression of the loading replaced by its value.

        >>> import sarrus
        >>> m = sarrus.Model("bar", space="planar", gravity=(0, -1))
        >>> m.body("bar", from_=(0, 0), to=("2*0.5", 0), mass=1)
        'bar'
        >>> print(m.to_toml())
        format = "sarrus/1"
        name = "bar"
        space = "planar"
        gravity = [0, -1]
        <BLANKLINE>
        [bodies]
        bar = { from = [0, 0], to = ["2*0.5", 0], mass = 1 }
        <BLANKLINE>
        """
        if self._source is not None:
            return self._ready().resolved()
        return _text.toml(self._tree)

    def to_json(self) -> str:
        """The model as a file in JSON; only of models that are built here."""
        if self._source is not None:
            raise TypeError("a loaded model is written as TOML\nhint: `to_toml()`")
        return json.dumps(self._tree, indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, in JSON where its name ends in `.json`."""
        text = self.to_json() if str(path).lower().endswith(".json") else self.to_toml()
        Path(path).write_text(text, encoding="utf-8")

    # analyses

    def check(self, *, along: bool = False, distribute: bool = False, all: bool = False) -> Check:
        """Counts mobility, finds redundant constraints and tells which reactions are unique.

        `along` runs the model and looks on the way; `distribute` shares reactions that are not unique by the compliance of the
        joints; `all` lists every element in the text.

        >>> import sarrus
        >>> check = sarrus.example("door").check(distribute=True)
        >>> check.dof, check.constraints.rank, check.constraints.rows
        (1, 5, 10)
        """
        found, text = self._ready().check(along, distribute, all)
        return Check(json.loads(found), text)

    def run(
        self,
        *,
        t_end: float | None = None,
        every: float | None = None,
        columns: str | Sequence[str] | None = None,
        formulation: Method | None = None,
        stabilization: Method | None = None,
        integrator: Method | None = None,
        coordinates: Literal["absolute", "joint"] | None = None,
        regularize: Literal["auto", "jets", "amirouche", False] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        step: float | None = None,
        certify: Literal["basic", "standard", "full"] | None = None,
        record: bool = True,
        progress: Told = False,
        on_failure: Literal["raise", "keep"] = "raise",
    ) -> Result:
        """Simulates the model and certifies the result. What is left out is as the model says.

        Times are in seconds. Methods are names, `"baumgarte:alpha=5"`, or `{"kind": "baumgarte", "alpha": 5}`; `columns` are patterns
        such as `"crank.*"`. `record=False` keeps no samples. `certify` says how much is certified: `"standard"` bounds the error of
        every column from a coarser run, `"full"` estimates it from a more accurate one, `"basic"` does neither. `progress=True` shows a bar; a function is called with a fraction
        and a text, every 50 ms at most.

        A run that fails raises :class:`sarrus.RunError`, whose `result` has what was computed until then; `on_failure="keep"` returns it
        instead. One that is not certified warns with :class:`sarrus.CertificateWarning`. Limits of steps and time stop a run without
        failing it. Ctrl-C, or an exception in `progress`, ends the run and is
        raised with the attribute `result`; `model.last_result` has it too. Other threads run on meanwhile.

        >>> import sarrus
        >>> model = sarrus.example("four_bar")
        >>> result = model.run(t_end=0.5, integrator="dop853", rtol=1e-10, atol=1e-12)
        >>> result.report["method"]["integrator"]
        'dop853'
        """
        if on_failure not in ("raise", "keep"):
            raise ValueError(f"`on_failure` cannot be {on_failure!r}\nhint: it is 'raise' or 'keep'")
        loaded = self._ready()
        options = _options(columns, formulation, stabilization, integrator, coordinates, regularize, rtol, atol, step)
        options |= {"t_end": t_end, "every": every, "certify": certify}
        told, close = teller(progress, self.name)
        try:
            run, raised = loaded.run(options, bool(record), told)
        finally:
            close()
        result = Result(run)
        self.last_result = result
        if raised is not None:
            _attach(raised, result)
            raise raised
        if result.status == "failed" and on_failure == "raise":
            raise RunError(run.reason, result)
        if result.status != "failed" and not result.certificate.passed:
            warnings.warn(result.uncertified(), CertificateWarning, stacklevel=2)
        return result

    def simulation(
        self,
        *,
        dt: float | None = None,
        columns: str | Sequence[str] | None = None,
        formulation: Method | None = None,
        stabilization: Method | None = None,
        integrator: Method | None = None,
        coordinates: Literal["absolute", "joint"] | None = None,
        regularize: Literal["auto", "jets", "amirouche", False] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        step: float | None = None,
        record: bool = False,
    ) -> Simulation:
        """Begins a simulation that goes on step by step, `dt` seconds at a time (`output.every` of the model where it is left out).

        `step` is that of the integrator inside, where it has fixed ones. With `record` every step leaves a sample
        (:meth:`sarrus.Simulation.result`).

        >>> import sarrus
        >>> sim = sarrus.example("four_bar").simulation(dt=0.01)
        >>> sim.step()
        >>> sim.t
        0.01
        """
        loaded = self._ready()
        options = _options(columns, formulation, stabilization, integrator, coordinates, regularize, rtol, atol, step)
        sim = Simulation(loaded.simulation(options, bool(record)))
        if dt is not None:
            sim.dt = dt
        return sim

    def modes(self, about: Literal["equilibrium", "start"] | float = "equilibrium", *, all: bool = False) -> Modes:
        """Finds how the model swings about its equilibrium, its start, or a time of a run [s].

        >>> import sarrus
        >>> modes = sarrus.example("pendulum").modes()
        >>> print(f"{modes.frequencies[0]:.4f} Hz")
        0.4985 Hz
        """
        text = about if isinstance(about, str) else repr(float(about))
        found, shown = self._ready().modes(text, all)
        return Modes(json.loads(found), shown)

    def equilibrium(self, *, load_steps: int | None = None) -> Equilibrium:
        """Finds where the model comes to rest, with its reactions there.

        `load_steps` brings gravity, forces and torques on in so many equal parts. Where there is no rest,
        :class:`sarrus.RunError` is raised.

        >>> import sarrus
        >>> rest = sarrus.example("pendulum").equilibrium()
        >>> print(f"{rest.values['bar.y']:.4f}")
        -0.7500
        """
        if load_steps is not None and not 1 <= load_steps <= 1_000_000:
            raise ValueError("`load_steps` must be from 1 to 1 000 000")
        (found, text), steps = self._ready().equilibrium(load_steps)
        return Equilibrium(json.loads(found), text, Samples(steps))

    def inverse(
        self,
        *,
        t_end: float | None = None,
        every: float | None = None,
        columns: str | Sequence[str] | None = None,
        on_failure: Literal["raise", "keep"] = "raise",
    ) -> Inverse:
        """Follows a motion that drivers prescribe, and finds the forces it needs; nothing is integrated.

        >>> import sarrus
        >>> motion = sarrus.example("two_arm_robot").inverse(every=0.01)
        >>> print(f"{motion.report['singular'][0]['t']:.6f}")
        0.420313
        """
        patterns = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
        options = {"t_end": t_end, "every": every, "columns": patterns}
        (found, text), samples = self._ready().inverse(options)
        motion = Inverse(json.loads(found), text, samples)
        if motion.status == "failed" and on_failure == "raise":
            raise RunError(str(motion.report["reason"]))
        return motion


class _Source:
    """Where a model comes from."""

    def __init__(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        name: str = "model.toml",
        set: Sequence[tuple[str, str]] = (),
        case: str | None = None,
        functions: Mapping[str, Function] | None = None,
    ) -> None:
        self.path, self.text, self.name, self.set, self.case = path, text, name, list(set), case
        self.functions = dict(functions or {})

    def load(self) -> _sarrus.Loaded:
        if self.path is not None:
            return _sarrus.load(self.path, self.set, self.case, handed(self.functions))
        return _sarrus.loads(self.name, self.text or "", self.set, self.case, handed(self.functions))

    def shown(self) -> str:
        return self.path if self.path is not None else self.name


def _options(
    columns: str | Sequence[str] | None,
    formulation: Method | None,
    stabilization: Method | None,
    integrator: Method | None,
    coordinates: str | None,
    regularize: str | bool | None,
    rtol: float | None,
    atol: float | None,
    step: float | None,
) -> dict[str, Any]:
    """What is said over the model, as the compiled part takes it."""
    return {
        "columns": [columns] if isinstance(columns, str) else None if columns is None else list(columns),
        "formulation": _text.method(formulation, "`formulation`"),
        "stabilization": _text.method(stabilization, "`stabilization`"),
        "integrator": _text.method(integrator, "`integrator`"),
        "coordinates": coordinates,
        "regularize": "false" if regularize is False else regularize,
        "rtol": rtol,
        "atol": atol,
        "step": step,
    }


def _attach(raised: BaseException, result: Result) -> None:
    try:
        raised.result = result  # type: ignore[attr-defined]
    except AttributeError:
        # an exception without attributes; `last_result` has it
        pass


def _assignments(set: Set | None) -> list[tuple[str, str]]:
    return [(str(name), _text.assignment(value, f"parameter `{name}`")) for name, value in (set or {}).items()]


def load(
    path: str | os.PathLike[str],
    *,
    set: Set | None = None,
    case: str | None = None,
    functions: Mapping[str, Callable[..., float] | Function] | None = None,
) -> Model:
    """Loads a model file, TOML or JSON; `example:NAME` stands for one that comes with the package.

    `set` sets parameters (`{"n": 4}`, `{"left.l1": "20 cm"}`), `case` takes a case of the file, `functions` are what its expressions may
    call beside those that every file knows (:class:`sarrus.Function`).

    >>> import sarrus
    >>> sarrus.load("example:n_four_bar", set={"n": 2}).check().size.bodies
    5
    """
    shown = os.fspath(path)
    if shown.startswith("example:"):
        return example(shown.removeprefix("example:"), set=set, case=case)
    return Model._from(_Source(path=shown, set=_assignments(set), case=case, functions=given(functions)))


def loads(
    text: str,
    name: str = "model.toml",
    *,
    set: Set | None = None,
    case: str | None = None,
    functions: Mapping[str, Callable[..., float] | Function] | None = None,
) -> Model:
    """Loads a model from a text. `name` is shown in errors, its ending tells TOML from JSON, and files that the text includes are
    looked for beside it.

    >>> import sarrus
    >>> model = sarrus.loads('format = "sarrus/1"\\nbodies.ball = { kind = "point", mass = 1 }')
    >>> print(f"{model.run(t_end=1)['ball.z'][-1]:.3f}")
    -4.905
    """
    return Model._from(_Source(text=text, name=name, set=_assignments(set), case=case, functions=given(functions)))


def examples() -> dict[str, str]:
    """The models that come with the package: the first sentence of each by name.

    >>> import sarrus
    >>> sarrus.examples()["pendulum"].startswith("A ")
    True
    """
    return {name: _first_sentence(text) for name, text in _sarrus.examples()}


def _first_sentence(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("#") or line.strip("# ") == "":
            break
        lines.append(line.lstrip("# "))
    head, dot, _ = " ".join(lines).partition(". ")
    return head + dot.strip()


def example(name: str, *, set: Set | None = None, case: str | None = None) -> Model:
    """Loads one of the models that come with the package.

    >>> import sarrus
    >>> sarrus.example("four_bar").check().dof
    1
    """
    texts = dict(_sarrus.examples())
    if name not in texts:
        hint = _sarrus.did_you_mean(name, list(texts)) or "`sarrus.examples()` lists them"
        raise ModelError(f"there is no example `{name}`\nhint: {hint}")
    return loads(texts[name], name=f"{name}.toml", set=set, case=case)


def kinds(family: str | None = None) -> Any:
    """What exists, as `sarrus list` shows it: kinds by family, with their keys or options.

    >>> import sarrus
    >>> [kind["name"] for kind in sarrus.kinds("stabilizations")][:2]
    ['none', 'baumgarte']
    """
    found = {}
    for name, entries in _sarrus.kinds():
        found[name] = [
            {
                "name": kind,
                "doc": doc,
                "remark": remark,
                "keys": [{"name": k, "takes": takes, "default": default, "doc": line} for k, takes, default, line in keys],
            }
            for kind, doc, remark, keys in entries
        ]
    if family is None:
        return found
    if family not in found:
        hint = _sarrus.did_you_mean(family, list(found)) or f"one of: {' '.join(found)}"
        raise ValueError(f"there is no family `{family}`\nhint: {hint}")
    return found[family]


def schema() -> dict[str, Any]:
    """The JSON Schema of the model file.

    >>> import sarrus
    >>> sarrus.schema()["title"]
    'sarrus/1'
    """
    found: dict[str, Any] = json.loads(_sarrus.schema())
    return found


def _model(model: Model | str | os.PathLike[str]) -> Model:
    return model if isinstance(model, Model) else load(model)


def _list(methods: str | Sequence[str]) -> list[str]:
    return [methods] if isinstance(methods, str) else list(methods)


def compare(
    model: Model | str | os.PathLike[str],
    *,
    formulations: str | Sequence[str] = "all",
    stabilizations: str | Sequence[str] = "all",
    integrators: str | Sequence[str] = "auto",
    rtols: Sequence[float] = (),
    steps: Sequence[float] = (),
    t_end: float | None = None,
    reference_rtol: float = 1e-12,
    wall_limit: float = 60.0,
    dense_limit: int = 2000,
    repeat: int = 3,
    jobs: int | None = None,
    progress: Told = False,
) -> Comparison:
    """Runs many methods side by side: time, work, drift, error; as `sarrus compare`.

    Methods are lists of names, `"all"`, or for integrators `"auto"`. `repeat=0` takes no times. Ctrl-C ends it; the
    exception has what was found in its attribute `result`.

    >>> import sarrus
    >>> found = sarrus.compare("example:four_bar", formulations=["direct", "proximal"], stabilizations="projection", t_end=0.1, repeat=0)
    >>> [(row.formulation, row.status) for row in found.rows]
    [('direct', 'completed'), ('proximal', 'completed')]
    """
    options = {
        "formulations": _list(formulations),
        "stabilizations": _list(stabilizations),
        "integrators": _list(integrators),
        "rtols": [float(x) for x in rtols],
        "steps": [float(x) for x in steps],
        "t_end": t_end,
        "reference_rtol": reference_rtol,
        "wall_limit": wall_limit,
        "dense_limit": dense_limit,
        "repeat": repeat,
        "jobs": jobs,
    }
    opened = _model(model)
    told, close = teller(progress, opened.name)
    try:
        found, raised = opened._ready().compare(options, told)
    finally:
        close()
    comparison = Comparison(*found)
    if raised is not None:
        try:
            raised.result = comparison  # type: ignore[attr-defined]
        except AttributeError:
            pass
        raise raised
    return comparison


def papers() -> dict[str, str]:
    """The papers that can be reproduced: titles by name.

    >>> import sarrus
    >>> "park1987" in sarrus.papers()
    True
    """
    return {name: title for name, title, _ in _sarrus.papers()}


def reproduce(paper: str, *, quick: bool = False, progress: Told = False) -> Reproduction:
    """Runs the examples of a published paper again and holds its claims against what comes out.

    >>> import sarrus
    >>> found = sarrus.reproduce("amirouche1991", quick=True)
    >>> found.passed, sorted({claim.verdict for claim in found.claims} - {"differs"})
    (True, ['reproduced'])
    """
    told, close = teller(progress, paper)
    try:
        return Reproduction(*_sarrus.reproduce(paper, quick, told))
    finally:
        close()
