"""Run the judge from a shell: ``python -m verify INSTANCE ASSIGNMENT``."""

import os
import sys

from verify.command import main

if __name__ == "__main__":
    # Freeing millions of lists one by one takes long; the system frees all at once.
    sys.exit(main(leave=os._exit))
