"""Lets `python -m slopewash` do what `slopewash` does."""

import sys

from slopewash.cli import main

sys.exit(main())
