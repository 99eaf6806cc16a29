"""Survey all installed clients and store the records: ``python -m studies.survey``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from conformance.clients import all_client_assignors, matching_client_assignors
from conformance.runs import FAMILIES
from studies.survey import SurveyPlan, survey

RECORDS = Path("docs/findings/records")
PARTS = Path("build/survey")


def main(arguments: Sequence[str] | None = None) -> int:
    """Survey clients; return 3 if one is missing or does not answer."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends programs, too
    parser = _parser()
    options = parser.parse_args(arguments)
    if any("/" in spec for spec in options.client):
        parser.error("--client names a whole version: a file has all of its assignors")
    clients = [
        assignor
        for spec in options.client
        for assignor in matching_client_assignors(spec)
    ] or all_client_assignors()
    plan = SurveyPlan(
        families=tuple(options.family) or tuple(FAMILIES),
        seed=options.seed,
        count=options.count,
        seconds=options.seconds,
        draw_seconds=options.draw_seconds,
        shrink_seconds=options.shrink_seconds,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        oracle=version("assignor-oracle"),
    )
    problems, total = 0, 0
    for surveyed in survey(
        clients, plan, folder=options.out, parts=options.parts, workers=options.workers
    ):
        problems += surveyed.problem is not None
        total += surveyed.rebalances
        said = surveyed.problem or f"{surveyed.rebalances:,} rebalances"
        sys.stdout.write(f"{surveyed.spec}: {said}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total:,} rebalances; {problems} assignors not surveyed\n")
    return 3 if problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m studies.survey", description=__doc__
    )
    add = parser.add_argument
    add("--client", action="append", default=[], metavar="NAME[@VERSION]")
    add("--family", action="append", default=[], choices=tuple(FAMILIES))
    add("--seed", type=int, default=1)
    add("--count", type=int, default=300, help="draws per family")
    add("--seconds", type=float, default=5.0, help="limit per answer")
    add("--draw-seconds", type=float, help="limit of all draws of an assignor")
    add("--shrink-seconds", type=float, default=2.0, help="limit per finding")
    add("--workers", type=int, default=1)
    add("--out", type=Path, default=RECORDS, help="folder of the records")
    add("--parts", type=Path, default=PARTS, help="folder for unfinished work")
    return parser


if __name__ == "__main__":
    sys.exit(main())
