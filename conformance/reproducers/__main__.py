"""``python -m conformance.reproducers``: write ``docs/findings/reproducers`` anew."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from conformance.reproducers.write_all import write_definitions
from rebalance import OracleError


def main() -> int:
    """Render and run the reproducers of all findings, or of those that are named.

    The exit code is 3 if a client is missing.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("findings", nargs="*", help="ids of findings; default: all")
    parser.add_argument("--client", action="append", help="clients; default: all")
    default = Path(__file__).parents[2] / "docs" / "findings" / "reproducers"
    parser.add_argument("--out", type=Path, default=default)
    options = parser.parse_args()
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    missing = False
    try:
        for written in write_definitions(
            options.out,
            names=options.findings,
            clients=options.client or (),
            date=date,
        ):
            print(written.line, flush=True)
            missing |= written.is_missing
    except OracleError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 3 if missing else 0


sys.exit(main())
