"""Wait for the executors of a cluster, whose cores decide how the work is divided."""

from __future__ import annotations

import time
from typing import Final

from pyspark import SparkContext

CHECK_SECONDS: Final = 0.5
CHECKS: Final = 30
STEADY: Final = 3
"""So many checks in a row without another core end the wait."""


def wait_for_executors(spark: SparkContext) -> None:
    """Return when the number of cores has not changed for a while, or after `CHECKS`.

    A cluster starts executors one after the other, and Spark states only the cores of
    those that have registered. If ``spark.default.parallelism`` states their number,
    nothing is waited for.
    """
    if spark.getConf().contains("spark.default.parallelism"):
        return
    spark.parallelize([0], 1).count()  # a job waits for the first executor
    cores, steady = spark.defaultParallelism, 0
    for _ in range(CHECKS):
        time.sleep(CHECK_SECONDS)
        before, cores = cores, spark.defaultParallelism
        steady = steady + 1 if cores == before else 0
        if steady == STEADY:
            return
