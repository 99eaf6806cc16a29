"""``fuzz --wire``: consumers as leaders."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from conformance.wire import librdkafka
from tests.oracle.cli.commands import COMMAND, Cli, write_lines
from tests.support.shapes import rebalance

FEW = ("--family", "fresh", "--count", "3", "--no-shrink", "--require", "valid")


@pytest.mark.heavy
def test_a_registered_client(cli: Cli) -> None:
    """librdkafka has no adapter, so that --wire can be left out."""
    for more in ((), ("--wire",)):
        ended = cli("fuzz", "--client", "librdkafka/roundrobin", *more, *FEW)
        assert ended.code == 0, ended
        counts = ended.documents[-1]
        assert counts["subject"]["client"] == "librdkafka"
        assert counts["subject"]["assignor"] == "roundrobin"
        assert sum(counts["outcomes"].values()) == counts["rebalances"] == 3


@pytest.mark.heavy
def test_a_crash_is_found_and_shrunk(cli: Cli, tmp_path: Path) -> None:
    nobody = rebalance(
        {"t": {"partitions": 2}}, {"a": {"subscription": []}, "b": {"subscription": []}}
    )
    file = write_lines(tmp_path / "instances", nobody)
    arguments = ("--instances", file, "--shrink-seconds", "5")
    ended = cli("fuzz", "--client", "librdkafka/cooperative-sticky", *arguments)
    assert ended.code == 1
    (found, _) = ended.documents
    assert found["category"] == "crash"
    assert found["detail"].startswith("SIG")
    assert found["command"].startswith("assignor-oracle fuzz --wire --client librdk")


@pytest.mark.heavy
def test_the_program_of_a_consumer(cli: Cli) -> None:
    consumer = librdkafka("range")
    command = shlex.join(consumer.argv)
    ended = cli("fuzz", "--wire", "--command", command, *FEW)
    assert ended.code == 0, ended
    settled = cli("fuzz", "--wire", "--settles", "--command", command, *FEW)
    assert settled.code == 0, settled
    nothing = cli("fuzz", "--wire", "--command", "no-such-program {address}", *FEW)
    assert (nothing.code, "no such program" in nothing.err) == (3, True)


@contextmanager
def connected(place: str) -> Iterator[None]:
    consumer = librdkafka("range")
    command = consumer.command(place, "wire", "wire")
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.heavy
def test_a_consumer_that_the_user_starts() -> None:
    with subprocess.Popen(
        [*COMMAND, "fuzz", "--wire", *FEW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        place = re.search(r"127\.0\.0\.1:\d+", line)
        assert place is not None, line
        assert "group 'wire', topic 'wire'" in line
        with connected(place[0]):
            out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert b"wire: leader of 'range'" in error
    assert orjson.loads(out.splitlines()[-1])["rebalances"] == 3


def test_python_of_the_tests_is_that_of_the_consumers() -> None:
    assert librdkafka("range").argv[0] == sys.executable
