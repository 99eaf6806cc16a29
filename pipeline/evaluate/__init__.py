"""One rebalance judged: the real answer, the heuristics and the optimum."""
