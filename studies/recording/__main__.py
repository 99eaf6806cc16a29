"""Record real groups under churn, or with planned events.

``python -m studies.recording [KIND] --out DIR``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from studies.recording.record import record
from studies.recording.record_events import record_events
from studies.recording.scenarios import SCENARIOS
from studies.recording.what_if_events import PLANNED_RECORDINGS

GROUPS = {
    "churn": list(SCENARIOS),
    **{kind: list(planned.groups) for kind, planned in PLANNED_RECORDINGS.items()},
}


def main() -> None:
    """Record, and print the number of records."""
    parser = argparse.ArgumentParser(prog="python -m studies.recording")
    parser.add_argument(
        "kind",
        nargs="?",
        choices=list(GROUPS),
        default="churn",
        help="groups under churn (default), groups with planned events, or some of"
        " these events under other settings",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--group", action="append", help="default: all")
    parser.add_argument(
        "--seconds", type=float, default=0, help="of random churn after each scenario"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random churn")
    arguments = parser.parse_args()
    known = GROUPS[arguments.kind]
    groups = arguments.group or known
    for name in groups:
        if name not in known:
            parser.error(f"no group {name!r}; there are: {', '.join(known)}")
    if arguments.kind == "churn":
        count = record(
            arguments.out, groups=groups, seconds=arguments.seconds, seed=arguments.seed
        )
    elif arguments.seconds:
        parser.error("planned events have no random churn (--seconds)")
    else:
        count = record_events(arguments.out, kind=arguments.kind, groups=groups)
    print(f"{arguments.out}: {count} records of __consumer_offsets")


if __name__ == "__main__":
    main()
