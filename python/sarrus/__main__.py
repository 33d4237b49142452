"""`python -m sarrus` is the command `sarrus`."""

import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main())
