"""Text of ``kafka-consumer-groups --describe`` as cases."""
