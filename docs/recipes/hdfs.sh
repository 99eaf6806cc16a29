#!/bin/sh
# Audit records in HDFS, with the tables and the page there, too. The variables are examples.
set -eu
: "${ORACLE:=/opt/assignor-oracle/.venv/bin/assignor-oracle}"
: "${RECORDS:=hdfs:///kafka/consumer-offsets}"
: "${OUT:=hdfs:///audits/kafka}"
# core-site.xml and hdfs-site.xml of the cluster: name nodes, and how to log in.
export HADOOP_CONF_DIR="${HADOOP_CONF_DIR:-/etc/hadoop/conf}"

exec "$ORACLE" audit "$RECORDS" --out "$OUT" "$@"
