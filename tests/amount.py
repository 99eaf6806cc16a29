"""How many random instances a test draws: ``ORACLE_INSTANCES``, a share of them each.

``make test-all`` runs what imports this a second time, with more (`tests.once`).
"""

from __future__ import annotations

import os

INSTANCES = int(os.environ.get("ORACLE_INSTANCES", "2000"))
