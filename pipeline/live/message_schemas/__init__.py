"""Messages of the protocol that kafka-python lacks, in its schema format."""
