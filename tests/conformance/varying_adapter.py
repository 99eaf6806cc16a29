"""An adapter whose valid answers depend on what its argument names."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from typing import Any

DEPENDENCE = sys.argv[1]
RECEIVED = []


def in_order(document: dict[str, Any], topic: str) -> list[str]:
    """Return the subscribers of a topic, in the order in which they get partitions."""
    members = document["members"]
    names = [name for name in members if topic in members[name]["subscription"]]
    if DEPENDENCE == "order":
        return names
    if DEPENDENCE == "hash-seed":
        return list(set(names))
    names.sort()
    if DEPENDENCE == "process":
        random.shuffle(names)
    if DEPENDENCE == "history" and names:
        first = len(RECEIVED) % len(names)
        return names[first:] + names[:first]
    return names


for line in sys.stdin:
    document = json.loads(line)
    is_first = next(iter(document["members"]), "") == min(
        document["members"], default=""
    )
    if DEPENDENCE == "raises-by-order" and not is_first:
        print('{"error": "KeyError: order"}', flush=True)
        continue
    if DEPENDENCE == "sleeps-by-seed" and os.environ.get("PYTHONHASHSEED") == "1":
        time.sleep(600)
    given: dict[str, dict[str, list[int]]] = {m: {} for m in document["members"]}
    for topic in sorted(document["topics"]):
        names = in_order(document, topic)
        for number in range(document["topics"][topic]["partitions"] if names else 0):
            given[names[number % len(names)]].setdefault(topic, []).append(number)
    RECEIVED.append(line)
    print(json.dumps({"format": "assignment/1", "members": given}), flush=True)
