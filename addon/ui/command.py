"""`blender --command motionbridge …`: the command line of `cli`; `scene` and `hud`, which work in Blender itself."""

from typing import Any

import bpy

from .. import cli
from . import scene_command

_handles: list[object] = []


def _execute(arguments: list[str]) -> int:
    if arguments[:1] == [scene_command.NAME]:
        return scene_command.main(arguments[1:])
    if arguments[:1] == [scene_command.HUD]:
        return scene_command.hud_main(arguments[1:])
    status = cli.main(arguments)
    if arguments[:1] in ([], ["-h"], ["--help"]):
        print("\nIn Blender there are also: scene (open, import, export, save), hud (first person); see scene --help")
    return status


def register() -> None:
    """Makes the command known to Blender."""
    command: Any = bpy.utils.register_cli_command  # the type stubs do not know that it returns a handle
    _handles.append(command("motionbridge", _execute))


def unregister() -> None:
    """Makes Blender forget the command."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
