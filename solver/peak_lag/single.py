"""An instance reduced to one of its topics."""

from __future__ import annotations

import numpy as np

from rebalance import Claims, Instance


def topic_alone(instance: Instance, topic: int) -> Instance:
    """Return the instance as if there were no other topic; nobody owns anything."""
    start, end = instance.topic_offsets[topic : topic + 2]
    wants = instance.class_topics == topic
    found = np.r_[0, np.cumsum(wants)][instance.class_offsets]
    members = len(instance.members)
    return Instance(
        group=instance.group,
        topics=(instance.topics[topic],),
        topic_offsets=np.array([0, end - start]),
        members=instance.members,
        member_class=instance.member_class.copy(),
        class_offsets=found,
        class_topics=np.zeros(found[-1], np.int32),
        claims=Claims(
            offsets=np.zeros(members + 1, np.int64),
            partitions=np.zeros(0, np.int32),
            generation=np.full(members, -1),
        ),
        lag=None if instance.lag is None else instance.lag[start:end].copy(),
        capacity=None if instance.capacity is None else instance.capacity.copy(),
    )
