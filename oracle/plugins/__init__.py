"""The oracle or any heuristic as the assignor of a real group (docs/plugins.md).

Users import `oracle.plugins.kafka_python` or `oracle.plugins.aiokafka`; each requires
its client, which is an extra of this package. The other modules are shared by both.
"""

from oracle.plugins.choice import Choice, chosen
from oracle.plugins.joining import Joining, claim_of, rebalance_of
from oracle.plugins.leader import Leader
from oracle.plugins.memory import Memory
from oracle.plugins.plugin_settings import settings_of
from oracle.plugins.protocol_modes import Mode, mode_of

__all__ = [
    "Choice",
    "Joining",
    "Leader",
    "Memory",
    "Mode",
    "chosen",
    "claim_of",
    "mode_of",
    "rebalance_of",
    "settings_of",
]
