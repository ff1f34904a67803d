"""Russian."""

RUSSIAN: dict[str, str] = {}
