"""Large rebalance/1 texts as columns, by a tape of their JSON."""

from rebalance.tape.tape_columns import instance_of_text

__all__ = ["instance_of_text"]
