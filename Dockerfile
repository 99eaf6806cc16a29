# The command assignor-oracle with everything it needs; docs/install.md has the commands.
# `make setup` installs what a checkout has: locked packages, checked against their
# hashes, compiled kernels, and a Java runtime.
FROM python:3.11-slim-bookworm

RUN apt-get update \
 && apt-get install --yes --no-install-recommends make \
 && rm -rf /var/lib/apt/lists/*

# Kernels for every processor of the architecture: the image runs on other machines than
# the one that builds it, and kernels for another processor would be compiled again.
ENV NUMBA_CPU_NAME=generic
# docker build --build-arg PIP_INDEX_URL=... uses another index.
ARG PIP_INDEX_URL

WORKDIR /opt/assignor-oracle
COPY LICENSE Makefile README.md pyproject.toml ./
COPY requirements requirements
COPY tools tools
COPY docs/examples docs/examples
COPY rebalance rebalance
COPY solver solver
COPY heuristics heuristics
COPY verify verify
COPY conformance conformance
COPY pipeline pipeline
COPY oracle oracle
RUN make setup

# By number, so that Kubernetes can check that it is not root. Any other number will do:
# nothing below /opt is written to, and a user needs neither a name nor a home.
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["/opt/assignor-oracle/.venv/bin/assignor-oracle"]
CMD ["--help"]
