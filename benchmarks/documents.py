"""Time and memory of reading 1,000,000 partitions: ``python -m benchmarks.documents``.

The document is written to a temporary file; a separate process reads it, so that its
peak memory is that of the reader.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.core_instances import equal
from rebalance import Claims, Instance, instance_of, parse_rebalance

MEMBERS, PARTITIONS = 2000, 1_000_000
REPEATS = 5


def main() -> None:
    """Print one line per number of topics, then the time of columns from arrays."""
    if len(sys.argv) > 1:
        print(json.dumps(read(Path(sys.argv[1]))))
        return
    print(f"{MEMBERS:,} members x {PARTITIONS:,} partitions")
    for topics in (20, 200, 1000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rebalance.json")
            path.write_text(json.dumps(document(topics)))
            command = [sys.executable, "-m", "benchmarks.documents", str(path)]
            said = subprocess.run(command, check=True, capture_output=True).stdout
            row = json.loads(said)
            print(
                f"{topics:5,} topics, {path.stat().st_size / 1e6:4.0f} MB: "
                f"read in {row['read_s']:.2f} s, columns in {row['columns_s']:.2f} s, "
                f"peak {row['peak_bytes'] / 2**30:.2f} GiB"
            )
    print(f"columns from arrays: {columns_from_arrays() * 1e3:.1f} ms")


def document(topics: int) -> dict[str, object]:
    """Return a rebalance with equal subscriptions, in which members own shares."""
    each = PARTITIONS // topics
    names = [f"topic-{t:04}" for t in range(topics)]
    owned: list[dict[str, list[int]]] = [{} for _ in range(MEMBERS)]
    for p in range(PARTITIONS):
        owned[p % MEMBERS].setdefault(names[p // each], []).append(p % each)
    return {
        "format": "rebalance/1",
        "group": "benchmark",
        "topics": {
            n: {"partitions": each, "lag": [i * 7919 % 10**6 for i in range(each)]}
            for n in names
        },
        "members": {
            f"member-{m:04}": {"subscription": names, "owned": mine, "generation": 5}
            for m, mine in enumerate(owned)
        },
    }


def read(path: Path) -> dict[str, float]:
    """Read and encode a document; return seconds and peak memory."""
    start = time.perf_counter()
    read_one = parse_rebalance(path.read_bytes(), source=str(path))
    middle = time.perf_counter()
    instance_of(read_one)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"read_s": middle - start, "columns_s": end - middle, "peak_bytes": peak}


def columns_from_arrays() -> float:
    """Return the median seconds of building an instance from its arrays."""
    given = equal(members=MEMBERS, partitions=PARTITIONS, topics=1000, joined=0)
    claims = given.claims
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        Instance(
            group=given.group,
            topics=given.topics,
            topic_offsets=given.topic_offsets,
            members=given.members,
            member_class=given.member_class,
            class_offsets=given.class_offsets,
            class_topics=given.class_topics,
            claims=Claims(
                offsets=claims.offsets,
                partitions=claims.partitions,
                generation=claims.generation,
            ),
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
