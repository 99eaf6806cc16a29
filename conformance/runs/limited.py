"""Run a program under a memory limit: ``python limited.py BYTES PROGRAM ARGUMENTS``.

The limit is RLIMIT_DATA: private memory that the process can write to, per process. The
runtimes of Go, Java, and Node reserve far more address space than they use, so that
RLIMIT_AS would stop them at once; memory that is only reserved is not writable and does
not count as data. Linux enforces it for all such memory, other systems for the heap
alone.

This file runs as a script of its own, before the program, and imports no package.
"""

import os
import resource
import sys

NOT_FOUND = 127  # as shells have it


def main() -> None:
    """Limit this process, and become the program."""
    most, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_DATA, (int(most), int(most)))
    try:
        os.execvp(command[0], command)  # noqa: S606  # the program to test
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(NOT_FOUND)


if __name__ == "__main__":
    main()
