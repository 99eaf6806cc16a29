"""``python -m studies.confirmation [WORD...]``: play cases, and record them.

Only cases whose names contain one of the words are played; by default, all are.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from conformance.broker import VERSION, running_broker
from conformance.clients import MissingClientError
from rebalance import OracleError
from studies.confirmation import (
    BrokerGroups,
    all_cases,
    confirm,
    write_confirmations,
)

OUT: Final = Path("docs/findings/confirmations.jsonl")


def main() -> int:
    """Play and record; the exit code is 3 if a client is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="part of a name")
    parser.add_argument("--out", type=Path, default=OUT, help=f"default: {OUT}")
    parser.add_argument("--list", action="store_true", help="print the names")
    arguments = parser.parse_args()
    cases = [
        case
        for case in all_cases()
        if not arguments.words or any(word in case.name for word in arguments.words)
    ]
    if not cases:
        parser.error("no case has such a name")
    if arguments.list:
        print(*(case.name for case in cases), sep="\n")
        return 0
    is_missing = False
    with running_broker() as broker:
        cluster = BrokerGroups(broker.address)
        for case in cases:
            try:
                found = confirm(case, cluster, broker=f"Apache Kafka {VERSION} broker")
            except MissingClientError as error:
                print(f"{case.name}: {error}", file=sys.stderr)
                is_missing = True
                continue
            write_confirmations(arguments.out, [found])
            word = "confirmed" if found.confirmed else "not confirmed"
            print(f"{case.name}: {word}: {found.outcome}", flush=True)
    return 3 if is_missing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OracleError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
