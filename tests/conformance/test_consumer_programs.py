"""Programs of consumers follow orders, and report (`conformance.consumer_programs`)."""

from __future__ import annotations

import pytest

from conformance.consumer_programs import RequestedConsumer, java_consumer


def test_a_protocol_that_java_has_not() -> None:
    requested = RequestedConsumer(assignors=["best"], topics=["t"])
    with pytest.raises(ValueError, match="no protocol 'best' in Java; there are"):
        java_consumer(requested)
