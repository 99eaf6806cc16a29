#!/bin/sh
# Audit records in S3, with the tables and the page there, too. The variables are examples.
# Credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), or the
# role of the machine.
set -eu
: "${ORACLE:=/opt/assignor-oracle/.venv/bin/assignor-oracle}"
: "${JARS:=/opt/assignor-oracle/build/s3}"
: "${RECORDS:=s3a://kafka/consumer-offsets}"
: "${OUT:=s3a://audits/kafka}"
# Endpoint, region, and form of addresses: spark-defaults.conf in this folder.
export SPARK_CONF_DIR="${SPARK_CONF_DIR:-$(dirname "$0")/s3}"
# Without a copy of the jars at each start, and after Spark's own.
export SPARK_DIST_CLASSPATH="$JARS/*"

exec "$ORACLE" audit "$RECORDS" --out "$OUT" "$@"
