"""Policies of moves, rack mismatches and loads, solved as flows with general costs.

Why there are two flows: the kernel of `solver.exact` is fast because its costs are -1,
0 and 1, so that distances fit into buckets, and because its nodes are topics and
classes. A rack mismatch is a property of a single partition and its member, and
lexicographic objectives need weights of up to 2^62. So this package builds a larger
network, with one node per class of interchangeable partitions and per (topic, rack),
and leaves the flow to OR-Tools' ``SimpleMinCostFlow`` (cost scaling). The load bounds
come from the exact core in both cases.
"""

from solver.flow_policies.ortools_flow import min_cost_flow
from solver.flow_policies.solve_by_flow import solve

__all__ = ["min_cost_flow", "solve"]
