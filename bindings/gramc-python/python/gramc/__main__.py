"""The command line: `python -m gramc`."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> None:
    """Run the command line with the arguments of the process, and end the process."""
    # Python only notes a signal and waits for its own code to run, which does not happen here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _native.run(["gramc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
