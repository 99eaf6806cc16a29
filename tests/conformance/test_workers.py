"""Workers end when they are told to, whatever their subject does.

Reaches into `conformance.runs.worker_processes` for what runs in a worker.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.clients import Answer
from conformance.runs import Subject, worker_processes
from tests.support.waiting import wait_until

IN_DESTRUCTOR = b"in a destructor"


class Destroyed:
    """An object whose destructor takes long; Python ignores what is raised in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __del__(self) -> None:
        (self.folder / "ready").touch()
        time.sleep(600)


class Locked:
    """A subject with a lock that is held while it answers, and taken to close it."""

    name = "locked"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()

    def answer(self, rebalance: bytes) -> Answer:
        with self.lock:
            if rebalance == IN_DESTRUCTOR:
                Destroyed(self.folder)
            (self.folder / "ready").touch()
            time.sleep(600)
        raise AssertionError

    def cut(self) -> None:
        raise AssertionError

    def close(self) -> None:
        with self.lock:
            (self.folder / "closed").touch()


@dataclass(frozen=True)
class Source:
    folder: Path

    def start(self) -> Subject:
        return Locked(self.folder)


def answering(subject: Subject, rebalance: bytes) -> Answer:
    return subject.answer(rebalance)


def run_worker(folder: Path, rebalance: bytes | None) -> None:
    worker_processes._begin(Source(folder))
    if rebalance is not None:
        worker_processes._work(answering, rebalance)
    (folder / "ready").touch()
    time.sleep(600)


@pytest.mark.parametrize("rebalance", [None, b"", IN_DESTRUCTOR])
def test_bug_a_worker_waited_for_a_lock_that_it_held(
    tmp_path: Path, rebalance: bytes | None, capfd: pytest.CaptureFixture[str]
) -> None:
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=run_worker, args=(tmp_path, rebalance))
    worker.start()
    try:
        wait_until((tmp_path / "ready").exists, seconds=120)
        worker.terminate()
        worker.terminate()
        worker.join(60)
        assert worker.exitcode == 1
        assert (tmp_path / "closed").exists()
        assert capfd.readouterr().err == ""
    finally:
        worker.kill()
