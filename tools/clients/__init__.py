"""Install third-party clients at pinned versions into ``build/clients``."""
