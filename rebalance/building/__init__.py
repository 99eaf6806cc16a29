"""Instances built in Python: from a dict, a data frame, or objects of Admin clients."""

from rebalance.building.admin import instance_from_confluent, instance_from_kafka_python
from rebalance.building.group_parts import instance_from_dict
from rebalance.building.instance_tables import instance_from_table

__all__ = [
    "instance_from_confluent",
    "instance_from_dict",
    "instance_from_kafka_python",
    "instance_from_table",
]
