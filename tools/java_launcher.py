"""Print the Java runtime of the audit, and write its launcher into the environment.

Who runs the audit later may be another user, who cannot write there.
"""

from __future__ import annotations

import sys

from conformance.java import java_home
from pipeline.launcher import launch_home
from rebalance import OracleError


def main() -> int:
    """Print the runtime, or why there is none."""
    try:
        runtime = java_home()
        launch_home(runtime)
        print(runtime)
    except OracleError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
