"""Runs: the same numbers as the command line, views without copies, failures, interruptions."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest

import sarrus


def test_numbers_are_those_of_the_command_line_bit_for_bit(tmp_path: Path, commands: list[list[str]]) -> None:
    for name in ("four_bar", "mcpherson_overconstrained", "bouncing_ball"):
        result = sarrus.example(name).run(t_end=0.2)
        for i, command in enumerate(commands):
            out = tmp_path / f"{name}{i}"
            subprocess.run([*command, "run", f"example:{name}", "--t-end", "0.2", "--out", str(out)], check=True, capture_output=True)
            lines = (out / "trajectory.csv").read_text().splitlines()
            assert lines[0].split(",") == result.names
            rows = np.array([[float(x) for x in line.split(",")] for line in lines[1:]])
            assert rows.T.tobytes() == np.ascontiguousarray(result.block).tobytes(), (name, command)


def test_saved_files_are_those_of_the_command_line(tmp_path: Path, call) -> None:
    flags = ["--rtol", "1e-9", "--integrator", "dop853", "--every", "0.05"]
    call("run", "example:slider_crank", "--t-end", "0.5", *flags, "--out", tmp_path / "cli")
    result = sarrus.example("slider_crank").run(t_end=0.5, rtol=1e-9, integrator="dop853", every=0.05)
    names = result.save(tmp_path / "python")
    # the command listens to every run that it writes, for the viewer
    assert sorted([*names, "steps.csv"]) == sorted(p.name for p in (tmp_path / "cli").iterdir())
    for name in ("trajectory.csv", "model.toml"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "cli" / name).read_bytes(), name
    # the times that a run took differ, nothing else
    import json

    ours, theirs = (json.loads((tmp_path / d / "report.json").read_text()) for d in ("python", "cli"))
    for report in (ours, theirs):
        report.pop("wall_s"), report.pop("cpu_s"), report["certificate"]["accuracy"].pop("cost")
    assert ours == theirs
    with pytest.raises(OSError, match="is a file, not a folder"):
        result.save(tmp_path / "python" / "model.toml")


def test_peaks_are_beyond_the_samples_and_instants_have_their_columns() -> None:
    result = sarrus.example("bouncing_ball").run(t_end=2, every=0.5)
    assert list(result.peaks) == sorted(result.names[1:])
    for name in result.names[1:]:
        peak = result.peaks[name]
        assert peak["min"] <= np.nanmin(result[name]) and peak["max"] >= np.nanmax(result[name]), name
        assert 0 <= peak["t_min"] <= 2 and 0 <= peak["t_max"] <= 2, name
    rows = result.instants
    assert rows.names == result.names and len(rows) == len(rows.sides) == len(rows.what) > 1
    assert rows.sides[:2] == ["before", "after"] and rows.t[0] == rows.t[1]
    assert (np.diff(rows.t) >= 0).all()
    assert not sarrus.example("bouncing_ball").run(t_end=0.1, record=False, certify="basic").peaks


def test_columns_are_views_of_one_block_that_they_keep_alive() -> None:
    result = sarrus.example("four_bar").run(t_end=0.1)
    a, b = result["A.angle"], result["A.angle"]
    assert a.__array_interface__["data"] == b.__array_interface__["data"]
    assert np.shares_memory(a, result.block) and a.flags.c_contiguous and a.dtype == np.float64
    assert not a.flags.writeable and not result.block.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    gone = weakref.ref(result)
    before = a.copy()
    del result
    gc.collect()
    assert gone() is None and (a == before).all()


def test_frames_share_the_memory_of_the_block() -> None:
    result = sarrus.example("four_bar").run(t_end=0.1)
    column = result["crank.angle"]
    address = column.__array_interface__["data"][0]

    table = result.to_arrow()
    assert table.column("crank.angle").chunk(0).buffers()[1].address == address
    assert table.schema.field("crank.angle").metadata == {b"unit": b"rad"}

    frame = result.to_polars()
    assert frame["crank.angle"].to_numpy(allow_copy=False).__array_interface__["data"][0] == address

    pandas_frame = result.to_pandas()
    assert np.shares_memory(pandas_frame["crank.angle"].to_numpy(), result.block)
    assert (pandas_frame.index == result.t).all()


def test_unknown_columns_are_told_with_what_is_near() -> None:
    result = sarrus.example("four_bar").run(t_end=0.1)
    with pytest.raises(KeyError, match="did you mean `crank.angle`"):
        result["crank.angel"]
    with pytest.raises(TypeError):
        result[0]  # type: ignore[index]
    assert dict(result)["t"].shape == (len(result),)


def test_a_run_that_is_not_recorded_says_so() -> None:
    result = sarrus.example("four_bar").run(t_end=0.1, record=False)
    assert len(result) == 0 and result.certificate.passed
    with pytest.raises(KeyError, match="nothing was recorded"):
        result["A.angle"]
    with pytest.raises(ValueError, match="no samples to draw"):
        result.report_html()
    assert "<iframe" not in result._repr_html_()


def test_a_run_that_is_not_certified_warns_with_what_failed_and_what_to_change() -> None:
    model = sarrus.example("double_pendulum")
    with pytest.warns(sarrus.CertificateWarning, match="(?s)`double_pendulum` is not certified: .*energy .*hint: .*--step") as caught:
        result = model.run(t_end=1, integrator="rk4", step=0.05)
    # it points at the caller
    assert caught[0].filename == __file__
    assert not result.certificate.passed and str(caught[0].message) == result.uncertified()
    with warnings.catch_warnings():
        warnings.simplefilter("error", sarrus.CertificateWarning)
        assert model.run(t_end=0.5).uncertified() == ""


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"integrator": "rk9"}, sarrus.ModelError, "rk9"),
        ({"rtol": float("nan")}, sarrus.ModelError, "rtol"),
        ({"rtol": -1.0}, sarrus.ModelError, "rtol"),
        ({"t_end": -1.0}, sarrus.ModelError, "t_end"),
        ({"t_end": "soon"}, TypeError, "`t_end` must be a number, not str"),
        ({"columns": "nothing.*"}, sarrus.ModelError, "nothing"),
        ({"columns": [1]}, TypeError, "str"),
        ({"coordinates": "joints"}, ValueError, "did you mean `joint`"),
        ({"regularize": "jet"}, ValueError, "did you mean `jets`"),
        ({"stabilization": "baumgarte:alpha"}, ValueError, "is not a method"),
        ({"stabilization": {"alpha": 5}}, ValueError, "has no `kind`"),
        ({"on_failure": "ignore"}, ValueError, "on_failure"),
        ({"progress": 3}, TypeError, "progress"),
    ],
)
def test_wrong_options_are_refused(options: dict, kind: type, says: str) -> None:
    with pytest.raises(kind, match=says):
        sarrus.example("pendulum").run(**options)


def test_methods_may_be_tables() -> None:
    model = sarrus.example("four_bar")
    table = model.run(t_end=0.1, stabilization={"kind": "baumgarte", "alpha": 5.0, "beta": 5.0}, integrator="rk4", step=1e-3)
    text = model.run(t_end=0.1, stabilization="baumgarte:alpha=5,beta=5", integrator="rk4", step=1e-3)
    assert table.block.tobytes() == text.block.tobytes()


FAILS = """
format = "sarrus/1"
space = "planar"
[bodies]
bar = { from = [0, 0], to = [1, 0], mass = 1 }
[joints]
A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
[forces]
burst = { kind = "torque", body = "bar", torque = "sqrt(0.5 - t)" }
"""


def test_a_failed_run_raises_and_keeps_what_it_had() -> None:
    model = sarrus.loads(FAILS)
    with pytest.raises(sarrus.RunError) as caught:
        model.run(t_end=1)
    result = caught.value.result
    assert result is not None and result is model.last_result
    assert result.status == "failed" and 0 < result.t[-1] < 0.6 and len(result) > 100
    kept = model.run(t_end=1, on_failure="keep")
    assert kept.status == "failed" and kept.report["reason"] == str(caught.value)


def test_limits_stop_a_run_without_failing_it() -> None:
    m = sarrus.Model("bar", space="planar")
    m.body("bar", from_=(0, 0), to=(1, 0), mass=1)
    m.joints.revolute("A", bodies=("ground", "bar"), at=(0, 0))
    m.settings(max_steps=5)
    assert m.run().status == "stopped"


class Enough(Exception):
    pass


LONG = {"t_end": 1e5, "every": 1.0}


def test_what_progress_raises_ends_the_run_and_keeps_what_it_had() -> None:
    seen: list[tuple[float, str]] = []

    def told(fraction: float, text: str) -> None:
        seen.append((fraction, text))
        if len(seen) == 2:
            raise Enough("seen enough")

    model = sarrus.example("four_bar")
    with pytest.raises(Enough, match="seen enough") as caught:
        model.run(**LONG, progress=told)
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.status == "stopped" and len(result) >= 1 and result is model.last_result
    assert 0 <= seen[0][0] <= seen[1][0] < 1 and "steps" in seen[0][1]


INTERRUPTED = """
import sarrus, sys
model = sarrus.example("four_bar")
print("ready", flush=True)
try:
    model.run(t_end=1e6, every=1.0)
except KeyboardInterrupt as stop:
    assert stop.result is model.last_result and stop.result.status == "stopped"
    print("stopped", len(stop.result) > 0, flush=True)
assert sarrus.example("pendulum").run(t_end=0.1).status == "completed"
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
@pytest.mark.parametrize("how", ["library", "command"])
def test_ctrl_c_ends_a_run_and_keeps_what_it_had(how: str, command: list[str], tmp_path: Path) -> None:
    long = [*command, "run", "example:four_bar", "--t-end", "1e6", "--every", "1", "--out", str(tmp_path)]
    args = [sys.executable, "-c", INTERRUPTED] if how == "library" else long
    process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if how == "library":
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    else:
        # the method is said when the run begins
        assert process.stderr is not None and process.stderr.readline().startswith("method")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out == "stopped True\n" if how == "library" else (tmp_path / "trajectory.csv").exists()


def test_other_threads_go_on_while_a_run_goes_on() -> None:
    model = sarrus.example("four_bar")
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    ticks, begun = 0, time.monotonic()
    model.run(t_end=20)
    counted, took = ticks, time.monotonic() - begun
    done.set()
    thread.join()
    # a run that held the interpreter would leave room for none
    assert counted > 3 or took < 0.05


def test_two_runs_of_one_model_at_once_are_the_same_as_one() -> None:
    model = sarrus.example("four_bar")
    results: dict[int, sarrus.Result] = {}

    def work(i: int) -> None:
        results[i] = model.run(t_end=1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    alone = model.run(t_end=1).block.tobytes()
    assert all(results[i].block.tobytes() == alone for i in range(4))


def test_failures_leak_nothing() -> None:
    script = textwrap.dedent(
        """
        import gc, resource, sarrus
        FAILS = %r
        good = sarrus.example("four_bar")
        def told(fraction, text):
            raise ValueError("no")
        def round():
            for call in (
                lambda: sarrus.loads("format = 'sarrus/1'\\nbodies.b = { mas = 1 }"),
                lambda: sarrus.loads(FAILS).run(t_end=1),
                lambda: good.run(rtol=float("nan")),
                lambda: good.run(t_end=0.2)["no.such"],
                lambda: sarrus.Model().body("b", at=float("nan")),
            ):
                try:
                    call()
                except Exception:
                    pass
                else:
                    raise SystemExit("nothing was raised")
            gc.collect()
        for _ in range(20):
            round()
        def size():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * 4096
        before = size()
        for _ in range(40):
            round()
        print(size() - before)
        """
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("no way to see the memory of a process")
    done = subprocess.run([sys.executable, "-c", script % FAILS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # 200 failures; a run's samples alone are half a megabyte
    assert int(done.stdout) < 8_000_000


def test_the_page_and_the_notebook_show_the_run() -> None:
    result = sarrus.example("pendulum").run(t_end=0.1)
    page = result.report_html()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    shown = result._repr_html_()
    assert "<iframe srcdoc=" in shown and 'sandbox="' in shown
    # columns that do not tell where bodies are do not take the animation away
    assert len(sarrus.example("pendulum").run(t_end=0.1, columns="A.angle").gltf()) > 1000


def test_the_viewer_serves_the_run() -> None:
    import urllib.error
    import urllib.request

    viewer = sarrus.example("pendulum").run(t_end=0.1).view(open_browser=False)
    with urllib.request.urlopen(viewer.url) as answer:
        assert b"Sarrus" in answer.read()
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(viewer.url.split("/", 3)[0] + "//" + viewer.url.split("/")[2] + "/")


def test_curves_are_drawn_by_unit_or_on_axes_that_are_given() -> None:
    from matplotlib import pyplot

    result = sarrus.example("four_bar").run(t_end=0.1)
    axes = result.plot("A.angle", "crank.x", "crank.y")
    assert [a.get_ylabel() for a in axes] == ["A.angle [rad]", "[m]"]
    own = pyplot.figure().add_subplot()
    assert result.plot("coupler.y", x="coupler.x", ax=own) == [own] and own.get_xlabel() == "coupler.x [m]"
    with pytest.raises(KeyError):
        result.plot("no.such")
