"""Third-party clients: how they are run, and what they answer."""
