"""Programs of consumers follow orders, and report (`conformance.consumer_programs`)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from conformance.consumer_programs import (
    ConsumerProcess,
    RequestedConsumer,
    java_consumer,
)
from tests.support.waiting import wait_until


def test_a_protocol_that_java_has_not() -> None:
    requested = RequestedConsumer(assignors=["best"], topics=["t"])
    with pytest.raises(ValueError, match="no protocol 'best' in Java; there are"):
        java_consumer(requested)


BUSY = """
import sys, threading, os, json
def read():
    for line in sys.stdin:
        event = {"event": "where", "member": "a", "frames": ["busy"]}
        print(json.dumps(event), flush=True)
    os._exit(0)
threading.Thread(target=read, daemon=True).start()
while True:
    pass
"""


def test_a_busy_process_answers_and_ends() -> None:
    process = ConsumerProcess([sys.executable, "-c", BUSY])
    assert process.frames("a", 30) == ["busy"]
    wait_until(lambda: process.cpu_seconds() > 0)  # it counts in ticks of the clock
    assert process.end() == "exit code 0"
    assert process.has_ended()
    process.order("pause", "a")


REPORTS = """
import json, sys
def say(event, **more):
    print(json.dumps({"event": event, "member": ""} | more), flush=True)
say("assign", partitions={"t": [0, 1]})
say("assign", partitions={"u": [3]})
say("revoke", partitions={"t": [0]})
say("lost", partitions={"u": [3]})
say("error", reason="no broker")
print("panic: out of range", file=sys.stderr)
sys.stderr.write("x" * 3000)
sys.exit(2)
"""


def test_callbacks_add_up_and_a_panic_is_among_the_last_words() -> None:
    heard: list[str] = []
    process = ConsumerProcess(
        [sys.executable, "-c", REPORTS],
        heard=lambda event: heard.append(event["event"]),
    )
    assert process.wait_for(lambda: len(process.events) == 5, 30)
    assert process.wait(30) == 2
    cause = process.end()
    assert heard == ["assign", "assign", "revoke", "lost", "error"]
    assert process.held == {("t", 1)}
    assert cause == f"panic: out of range\nexit code 2: {'x' * 2000}"


PARENT = """
import sys, time
from conformance.consumer_programs import ConsumerProcess
started = ConsumerProcess([sys.executable, "-c", sys.argv[1]])
started.frames("a", 30)
print(started.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.heavy
def test_no_member_outlives_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-c", PARENT, BUSY]
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while psutil.pid_exists(child) and time.monotonic() < deadline:
        if psutil.Process(child).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.1)
    else:
        assert not psutil.pid_exists(child)
