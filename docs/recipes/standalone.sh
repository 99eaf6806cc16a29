#!/bin/sh
# Audit on a standalone cluster of Spark. The variables are examples.
set -eu
: "${ORACLE:=/opt/assignor-oracle/.venv/bin/assignor-oracle}"
: "${MASTER:=spark://spark-master:7077}"
: "${RECORDS:=/shared/kafka/consumer-offsets}"
: "${OUT:=/shared/audits/kafka}"
# Cores and memory that the audit may have: spark-defaults.conf in this folder.
export SPARK_CONF_DIR="${SPARK_CONF_DIR:-$(dirname "$0")/standalone}"

exec "$ORACLE" audit "$RECORDS" --out "$OUT" --master "$MASTER" "$@"
