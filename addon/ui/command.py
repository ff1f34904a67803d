"""`blender --command motionbridge …`: the command line of `cli`, and `scene`, `hud` and `retarget`, which use
Blender.
"""

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
    if arguments[:1] == [scene_command.RETARGET]:
        return scene_command.retarget_main(arguments[1:])
    status = cli.main(arguments)
    if arguments[:1] in ([], ["-h"], ["--help"]):
        print("\nIn Blender there are also: scene (open, import, export, save), hud (first person),")
        print("retarget (motions of other skeletons); see scene --help")
    return status


def register() -> None:
    """Register the command."""
    command: Any = bpy.utils.register_cli_command  # the type stubs lack the handle that it returns
    _handles.append(command("motionbridge", _execute))


def unregister() -> None:
    """Unregister the command."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
