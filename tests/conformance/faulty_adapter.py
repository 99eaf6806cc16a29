"""An adapter that assigns topic by topic, with the fault that its argument names.

It uses nothing but the standard library, so that it starts fast.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

Members = dict[str, dict[str, list[int]]]


def dealt(document: dict[str, Any]) -> Members:
    """Partition i of all goes to subscriber i of its topic, in turns."""
    members = document["members"]
    held: Members = {name: {} for name in members}
    dealt_so_far = 0
    for topic, about in sorted(document["topics"].items()):
        takers = sorted(m for m in members if topic in members[m]["subscription"])
        for number in range(about["partitions"] if takers else 0):
            taker = takers[dealt_so_far % len(takers)]
            held[taker].setdefault(topic, []).append(number)
            dealt_so_far += 1
    return held


def claims(document: dict[str, Any]) -> int:
    members = document["members"].values()
    return sum(len(ns) for member in members for ns in member.get("owned", {}).values())


def left(document: dict[str, Any]) -> set[tuple[str, int]]:
    """What members claim of topics to which they do not subscribe."""
    return {
        (topic, number)
        for member in document["members"].values()
        for topic, numbers in member.get("owned", {}).items()
        for number in numbers
        if topic not in member["subscription"]
    }


def drop(held: Members, dropped: set[tuple[str, int]]) -> None:
    for mine in held.values():
        for topic in mine:
            mine[topic] = [n for n in mine[topic] if (topic, n) not in dropped]


waiting: set[tuple[str, int]] = set()


def withhold(held: Members, document: dict[str, Any], *, for_ever: bool) -> None:
    """Drop what was left: right for one round, and a fault in the next ones."""
    if not for_ever:
        waiting.clear()
    waiting.update(left(document))
    drop(held, waiting)


def spin(seconds: float) -> None:
    """Use this much CPU time, however busy the machine is."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def answer(fault: str, document: dict[str, Any]) -> dict[str, Any]:
    held = dealt(document)
    if fault == "crash" and len(document["members"]) >= 3 and claims(document) >= 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "trace" and len(held) >= 2:
        sys.stderr.write("panic: out of range\n  at /home/somebody/assignor:1\n")
        sys.exit(2)
    if fault == "spin":
        spin(0.02)
    if fault == "hang" and len(document["topics"]) >= 3:
        time.sleep(600)
    if fault == "raise" and any("rack" in m for m in document["members"].values()):
        return {"error": "LookupError: no rack-aware path"}
    if fault == "lose" and len(held) >= 2:
        drop(held, {(topic, 1) for topic in document["topics"]})
    if fault.startswith("withhold"):
        withhold(held, document, for_ever=fault.endswith("for ever"))
    if fault == "memory":
        _ = b"x" * 2**30
    return {"format": "assignment/1", "members": held}


fault = sys.argv[1]
for line in sys.stdin:
    print(json.dumps(answer(fault, json.loads(line))), flush=True)
