"""`python -m engine.match`: the same as `keisei match`."""

import sys

from .cli import main

sys.exit(main())
