"""Motionbridge: animations and levels of three old games, in Blender and back without losing a bit.

Blender is not imported before `register` is called, so `addon.formats` and `addon.cli` work in any Python.
"""

from . import lazy

lazy.attach(__name__)


def register() -> None:
    """Add the extension to Blender."""
    from . import ui  # noqa: PLC0415 - Blender's modules are only available when Blender calls this

    ui.register()


def unregister() -> None:
    """Remove the extension from Blender."""
    from . import ui  # noqa: PLC0415 - as above

    ui.unregister()
