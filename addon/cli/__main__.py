"""`python3 -m addon.cli`. The guard is needed because verification starts processes that import this module again."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
