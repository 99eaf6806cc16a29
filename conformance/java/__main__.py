"""``python -m conformance.java``: print which Java runtime is used."""

from __future__ import annotations

import sys

from conformance.java import java_home
from rebalance import OracleError


def main() -> int:
    """Print the runtime, or why there is none."""
    try:
        print(java_home())
    except OracleError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


sys.exit(main())
