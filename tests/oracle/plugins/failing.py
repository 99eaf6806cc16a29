"""An assignor of kafka-python whose engine fails, for a consumer's program."""

from __future__ import annotations

from dataclasses import replace

from oracle.plugins import Choice, settings_of
from oracle.plugins.kafka_python import KafkaPythonAssignor
from rebalance import Assignment, Instance
from solver import Limits


def failing_assignor() -> type[KafkaPythonAssignor]:
    def fail(instance: Instance, limits: Limits) -> Assignment:
        raise RuntimeError

    settings = settings_of("oracle", name="sticky")
    leader = replace(settings.leader, choice=Choice(name="bad", assign=fail))

    class Failing(KafkaPythonAssignor):
        pass

    Failing.settings = replace(settings, leader=leader)
    return Failing
