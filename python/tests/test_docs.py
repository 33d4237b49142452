"""Examples in docstrings, in the guide and in notebooks run; the stubs are up to date."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import runpy
import sys
from pathlib import Path

import pytest

import sarrus

OPTIONS = doctest.ELLIPSIS
MODULES = ["sarrus", *(f"sarrus.{m.name}" for m in pkgutil.iter_modules(sarrus.__path__) if m.name not in ("__main__", "_sarrus"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert found.failed == 0


def test_public_things_have_examples() -> None:
    without = []
    for name in sarrus.__all__:
        thing = getattr(sarrus, name)
        if callable(thing) and not any(e.examples for e in doctest.DocTestFinder(recurse=True).find(thing, name)):
            without.append(name)
    # a viewer is made by a result, a reproduction by `reproduce`, samples by whatever has columns
    assert set(without) <= {"Instants", "Viewer", "Reproduction", "Samples"}


def test_examples_in_the_guide_run(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(root / "docs" / "python.md"), module_relative=False, optionflags=OPTIONS)
    assert found.attempted > 10 and found.failed == 0


def test_the_stub_of_the_kinds_is_up_to_date(root: Path) -> None:
    script = runpy.run_path(str(root / "scripts" / "python_stubs.py"))
    written = (root / "python" / "sarrus" / "_families.pyi").read_text(encoding="utf-8")
    assert script["stub"]() == written, "run `python scripts/python_stubs.py`"


NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    # this interpreter, whatever kernels are installed
    os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    manager = client.create_kernel_manager()
    manager.kernel_spec.argv[0] = sys.executable
    client.execute()
    assert all(not cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells), "store it without outputs"


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4
