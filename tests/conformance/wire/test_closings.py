"""Reports of closed connections: one line each, each reason once, a bounded number.

Reaches into the module to compare with its bounds.
"""

from __future__ import annotations

from conformance.wire.closings import LONGEST, MOST_REPORTED, Closings


def test_a_reason_is_reported_once() -> None:
    lines: list[str] = []
    closings = Closings(lines.append)
    assert closings.since(0) == ""
    for reason in ("a", "b", "a"):
        assert closings.note(reason) == reason
    assert lines == ["wire: closed a connection: a", "wire: closed a connection: b"]
    assert (closings.since(0), closings.since(2), closings.since(3)) == ("a", "a", "")


def test_reports_are_bounded() -> None:
    lines: list[str] = []
    closings = Closings(lines.append)
    for number in range(1000):
        closings.note(f"reason {number}")
    assert len(lines) == MOST_REPORTED + 1
    assert lines[-1] == "wire: further reasons are not reported"
    assert closings.count == 1000
    assert closings.since(0) == "reason 999"


def test_a_peer_cannot_write_to_the_terminal() -> None:
    lines: list[str] = []
    closings = Closings(lines.append)
    assert closings.note("topic '\x1b[2J'\r\n\u2028 ok") == "topic ' [2J' ok"
    assert len(closings.note("x" * 9999)) == LONGEST
    assert all(line.isprintable() for line in lines)
