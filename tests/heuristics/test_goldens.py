"""Published examples, and faults that are kept: answers, exactly.

``tests/data/goldens`` has the examples of each assignor: those of the Javadoc, and of
Kafka 4.0's unit tests, named as there (``AbstractStickyAssignorTest`` for the
constrained path, ``RangeAssignorTest``, and those of group-coordinator, whose member
ids are in order there too). KIP-54's, KIP-169's and KIP-615's are in the corpus
(``tests/conformance/corpus``).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.heuristics.routes import assigned
from tests.heuristics.test_agreement import CHECKS
from tests.support.shapes import rebalance
from tests.support.snapshots import TESTS

EXAMPLES = {
    (path.stem, name): example
    for path in sorted((TESTS / "data" / "goldens").glob("*.json"))
    for name, example in json.loads(path.read_bytes()).items()
}


@pytest.mark.parametrize(("assignor", "name"), EXAMPLES)
def test_published_example(assignor: str, name: str) -> None:
    example: dict[str, Any] = EXAMPLES[assignor, name]
    document = rebalance(example["topics"], example["members"])
    assert assigned(assignor, document) == example["expected"]
    CHECKS.get(assignor, CHECKS["published steps"])(document)
