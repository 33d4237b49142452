"""The command `sarrus`."""

from __future__ import annotations

import signal
import sys

from . import _sarrus


def main() -> int:
    """Runs the command with the arguments of this process."""
    # as for any program: the command itself says what Ctrl-C does where it is to do more
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _sarrus.command(["sarrus", *sys.argv[1:]])
