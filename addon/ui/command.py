"""`blender --command motionbridge …`: the command line of `cli`, for those who have Blender and no Python."""

from typing import Any

import bpy

_handles: list[object] = []


def _execute(arguments: list[str]) -> int:
    from .. import cli  # noqa: PLC0415 - Blender's start does not wait for what few will call

    return cli.main(arguments)


def register() -> None:
    """Makes the command known to Blender."""
    command: Any = bpy.utils.register_cli_command  # the type stubs do not know that it returns a handle
    _handles.append(command("motionbridge", _execute))


def unregister() -> None:
    """Makes Blender forget the command."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
