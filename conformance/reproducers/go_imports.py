"""Packages of Go's own library that a rendered test uses: Go rejects unused ones."""

from __future__ import annotations

from conformance.reproducers.asserted_property import AssertedProperty
from conformance.reproducers.case import ReproducerCase


def go_imports(check: AssertedProperty, case: ReproducerCase) -> list[str]:
    """Return the import paths, sorted."""
    client = case.assignor.client
    used = {
        "fmt": check.judged or check.optimum or client == "sarama",
        "sort": check.optimum or client in {"franz-go", "kafka-go"},
        "strings": check.optimum,
        "testing": True,
        "time": check.hang,
    }
    return [name for name, is_used in used.items() if is_used]
