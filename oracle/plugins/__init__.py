"""The oracle or any heuristic as the assignor of a real group (docs/plugins.md).

`oracle.plugins.kafka_python` and `oracle.plugins.aiokafka` are for users; each needs
its client, which comes as an extra. The rest is what the two share.
"""

from oracle.plugins.choice import ORACLE, Choice, chosen
from oracle.plugins.joining import Joining, claim_of, rebalance_of
from oracle.plugins.leader import Leader
from oracle.plugins.memory import Memory
from oracle.plugins.protocol import Mode, mode_of
from oracle.plugins.settings import Settings, settings_of

__all__ = [
    "ORACLE",
    "Choice",
    "Joining",
    "Leader",
    "Memory",
    "Mode",
    "Settings",
    "chosen",
    "claim_of",
    "mode_of",
    "rebalance_of",
    "settings_of",
]
