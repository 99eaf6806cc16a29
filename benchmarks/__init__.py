"""What things cost: each module prints its times; nothing is asserted."""
