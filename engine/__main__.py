"""`python -m engine` and the `keisei` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line."""
    from engine.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
