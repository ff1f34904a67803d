"""What the user of Blender meets: so far the command `blender --command motionbridge`."""

from .. import games
from . import command


def register() -> None:
    """Registers every part, in order."""
    games.register()
    command.register()


def unregister() -> None:
    """Unregisters every part, in reverse order."""
    command.unregister()
    games.unregister()
