"""Outcomes of consumers that are scripts: errors, closed connections, giving up.

Inner names: the time limits of the coordinator and of the leader.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace

import orjson
import pytest

from conformance.clients import Verdict, suspecting
from conformance.wire import Wire, leader_coordinator, tested_leader
from conformance.wire.broker_messages import HEARTBEAT, METADATA
from rebalance import OutsideError
from tests.conformance.wire.client import request, syncing
from tests.conformance.wire.scripts import HELLO, JOINS, TINY, held, script
from tests.support.shapes import rebalance

NOTHING = f"send({syncing({})!r}); receive()"
ANSWERS = f"send({syncing({'a': {'?': [-1]}})!r}); receive()"


@pytest.mark.parametrize(
    ("end", "verdict", "reason"),
    [
        ("time.sleep(60)", Verdict.HANG, "no answer, and no CPU time used for 0.5 s"),
        ("while True: pass", Verdict.HANG, "no answer after 0.5 s of CPU time"),
        ("time.sleep(0.3); " + NOTHING, Verdict.ANSWERED, "later than 0.1 s"),
        ("os.kill(os.getpid(), signal.SIGABRT)", Verdict.CRASH, "SIGABRT"),
        ("sys.exit('out of luck')", Verdict.CRASH, "exit code 1: out of luck"),
        ("print('Bad: luck'); sys.exit(70)", Verdict.ERROR, "Bad: luck"),
        ("peer.close(); time.sleep(60)", Verdict.ERROR, "left without an assignment: "),
        (ANSWERS, Verdict.INVALID, "a"),
    ],
)
def test_outcomes(
    end: str, verdict: Verdict, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_coordinator, "HOLD_SECONDS", 0.1)
    with Wire(script(JOINS + end), seconds=0.1) as wire:
        wire.patience = suspecting(0.5)
        for _ in range(2):  # the next instance works after each
            answer = wire.answer(TINY)
            assert answer.verdict is verdict, answer
            assert reason in (answer.reason or "")


METADATA_OF_ALL = request(METADATA, 8, topics=None)
ALIVE = request(HEARTBEAT, 3, group_id="wire", generation_id=1, member_id="a")
LEADS = f"""
def error():
    return struct.unpack_from(">iih", receive())[2]
def give_up():
    {{end}}
while True:
    send({METADATA_OF_ALL!r}); receive()
    send({syncing({})!r})
    if error():
        give_up()
    while not (send({ALIVE!r}) or error()):
        time.sleep(0.01)
    {{rebalanced}}
    {HELLO}; receive()
"""
"""A consumer that never joins again after an error of SyncGroup."""
NOT_AGAIN = "did not join again after SyncGroup returned REBALANCE_IN_PROGRESS, "
HINTED = "(--settles lets each generation settle first)"


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("sys.exit('no: 27')", f"{NOT_AGAIN}exit code 1 {HINTED}: no: 27"),
        ("peer.close(); sys.exit(70)", f"{NOT_AGAIN}exit code 70 {HINTED}"),
        ("peer.close(); time.sleep(60)", f"{NOT_AGAIN}not in 1 s {HINTED}"),
        ("time.sleep(60)", f"{NOT_AGAIN}not in 1 s {HINTED}"),
    ],
)
def test_a_consumer_that_gives_up_on_a_rebalance(end: str, reason: str) -> None:
    """Its assignor is not at fault: the outcome says so, or the generation settles."""
    consumer = script(JOINS + LEADS.format(end=end, rebalanced="pass"))
    with Wire(consumer, seconds=1 if "not in" in reason else 60) as wire:
        answer = wire.answer(TINY)
        assert (answer.verdict, answer.reason) == (Verdict.ERROR, reason)


def test_a_generation_that_settles_keeps_a_consumer() -> None:
    consumer = script(JOINS + LEADS.format(end="sys.exit(1)", rebalanced="pass"))
    with Wire(replace(consumer, settles=True)) as wire:
        for _ in range(3):
            assert held(wire.answer(TINY)) == {"a": {}, "b": {}}


def test_a_consumer_that_gives_up_on_any_rebalance() -> None:
    text = JOINS + LEADS.format(end="pass", rebalanced="sys.exit('every time')")
    with Wire(script(text, settles=True)) as wire:
        answer = wire.answer(TINY)
    assert answer.verdict is Verdict.ERROR
    assert answer.reason == (
        "did not join again after a heartbeat returned REBALANCE_IN_PROGRESS, "
        "exit code 1: every time"
    )
    # after the answer that counts, it is started again without an outcome of its own
    with Wire(script(text, settles=True, rehearses=False)) as wire:
        for _ in range(3):
            assert held(wire.answer(TINY)) == {"a": {}, "b": {}}


def test_a_crash_during_a_rehearsal_is_one() -> None:
    kill = "os.kill(os.getpid(), signal.SIGSEGV)"
    text = JOINS + LEADS.format(end=kill, rebalanced="pass")
    with Wire(script(text)) as wire:
        answer = wire.answer(TINY)
    assert (answer.verdict, answer.reason) == (Verdict.CRASH, "SIGSEGV")


def test_an_outside_consumer_that_gives_up(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_coordinator, "HOLD_SECONDS", 0.1)
    with Wire(start_seconds=20) as wire:
        argv = script(f"{JOINS}\nsend({syncing({})!r}); receive()").command(
            wire.address, wire.group, wire.topic
        )
        with subprocess.Popen(argv):
            assert held(wire.answer(TINY)) == {"a": {}, "b": {}}
        wire.start_seconds = 0.5
        left = "the last consumer left on REBALANCE_IN_PROGRESS"
        with pytest.raises(OutsideError, match=f"no consumer joined.*; {left}"):
            wire.answer(TINY)
    assert capfd.readouterr().err == f"wire: {left} {HINTED}: waiting for another one\n"


REFUSED = "send(struct.pack('>hhih', 68, 0, 1, -1))"
UNOFFERED = "ConsumerGroupHeartbeat (API 68) version 0: not offered here"


@pytest.mark.parametrize("end", ["receive()", "time.sleep(60)", "sys.exit(70)"])
def test_a_connection_that_the_coordinator_closes(
    end: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is that of the outcome, and a line on standard error, once."""
    monkeypatch.setattr(tested_leader, "DEATH_SECONDS", 0.2)
    with Wire(script(f"{JOINS}\n{REFUSED}; {end}")) as wire:
        for _ in range(2):
            answer = wire.answer(TINY)
            assert answer.verdict is Verdict.ERROR
            closed = f"the coordinator closed the connection: {UNOFFERED}"
            assert answer.reason == closed
    assert capfd.readouterr().err == f"wire: closed a connection: {UNOFFERED}\n"


def test_a_crash_after_a_closed_connection_is_one() -> None:
    end = "os.kill(os.getpid(), signal.SIGSEGV)"
    with Wire(script(f"{JOINS}\n{REFUSED}; {end}")) as wire:
        assert wire.answer(TINY).verdict is Verdict.CRASH


def test_a_closed_connection_keeps_a_consumer_from_joining() -> None:
    begins = JOINS.partition(HELLO)[0]
    early = f"{begins}{REFUSED}; time.sleep(60)"
    with (
        Wire(script(early), start_seconds=1) as wire,
        pytest.raises(OutsideError, match="no consumer joined in 1 s; the coord") as it,
    ):
        wire.answer(TINY)
    assert str(it.value).endswith(f"closed a connection: {UNOFFERED}")
    ends = script(early.replace("time.sleep(60)", "sys.exit('gone')"))
    with Wire(ends) as wire, pytest.raises(OutsideError, match=r"gone; .*68") as it:
        wire.answer(TINY)


def test_a_closed_connection_of_a_leader_that_hangs() -> None:
    more = "other = socket.create_connection((host, int(port)))"
    frame = "struct.pack('>ihhih', 10, 68, 0, 1, -1)"
    end = f"{more}; other.sendall({frame}); other.recv(1); time.sleep(60)"
    with Wire(script(f"{JOINS}\n{end}"), seconds=1) as wire:
        wire.patience = suspecting(1)
        answer = wire.answer(TINY)
    assert answer.verdict is Verdict.HANG
    assert answer.reason is not None
    idle = "no answer, and no CPU time used for 1 s; 2 members, 3 partitions"
    assert answer.reason.startswith(f"{idle}; the coordinator closed a connection: ")
    assert answer.reason.endswith(UNOFFERED)


SEVERAL = rebalance(
    {"t": {"partitions": 1}, "u": {"partitions": 2}, "none": {"partitions": 0}},
    {
        "a": {"subscription": ["none", "u", "missing", "t"]},
        "b": {"subscription": ["v"]},
        "c": {"subscription": []},
    },
)


def test_all_topics_of_the_leader() -> None:
    """A consumer with {topics} is started anew, with names that exist in metadata."""
    consumer = script(f"{JOINS}\nprint('topics:', *sys.argv[2:]); sys.exit(70)")
    consumer = replace(consumer, argv=(*consumer.argv, "{topic}", "<{topics}>"))
    with Wire(consumer) as wire:
        first, second = wire.answer(TINY), wire.answer(orjson.dumps(SEVERAL))
        assert first.reason == "topics: wire <w1-000000>"
        # names of "none", "t" and "u", "v" on the wire are ranks among all topics
        assert second.reason == "topics: wire <w2-000003,w2-000002>"
        alone = rebalance({"t": {"partitions": 1}}, {"c": {"subscription": []}})
        assert wire.answer(orjson.dumps(alone)).reason == "topics: wire <>"
