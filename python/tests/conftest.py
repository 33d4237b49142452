"""What tests share: the examples, the command, and no window that opens."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "agg")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def command() -> list[str]:
    """The command that came with the package."""
    name = "sarrus.exe" if sys.platform == "win32" else "sarrus"
    found = Path(sysconfig.get_path("scripts")) / name
    assert found.exists(), f"{found} was not installed"
    return [str(found)]


@pytest.fixture(scope="session")
def commands(command: list[str]) -> list[list[str]]:
    """Every command line tool at hand: that of the package, and the one that cargo built, if it is said where."""
    built = os.environ.get("SARRUS_BIN")
    return [command, [built]] if built and shutil.which(built) else [command]


@pytest.fixture
def call(command: list[str]):
    """Runs the command and returns what it did."""

    def run(*args: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*command, *map(str, args)], capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stderr
        return done

    return run
