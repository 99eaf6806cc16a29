"""Run the judge from a shell: ``python -m verify INSTANCE ASSIGNMENT``."""

import sys

from verify.command import main

if __name__ == "__main__":
    sys.exit(main())
