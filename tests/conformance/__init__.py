"""Other people's clients: how they are run, and what they answer."""
