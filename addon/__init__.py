"""Motionbridge: animations and levels of three old games, in Blender and back without losing a bit.

Nothing here imports Blender until it is registered, so `addon.formats` and `addon.cli` work in any Python.
"""

from . import lazy

lazy.attach(__name__)


def register() -> None:
    """Adds the extension to Blender."""
    from . import ui  # noqa: PLC0415 - Blender's modules are only there when Blender calls this

    ui.register()


def unregister() -> None:
    """Takes the extension out of Blender."""
    from . import ui  # noqa: PLC0415 - as above

    ui.unregister()
