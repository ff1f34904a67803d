"""A preview strip: a picture with a row for each action and pictures of it from left to right."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Euler
from numpy.typing import NDArray

from ....blender import scope
from ....core import files
from ....core.errors import WriteError
from . import pairs

MOST_CELLS = 2_000
SUNS = (
    (2.0, (0.0, 0.0)),
    (1.5, (-1.2, 0.0)),
    (0.8, (0.0, 1.2)),
    (0.8, (0.0, -1.2)),
)
"""Cycles' lights: watts per square metre, angles about the camera's x and y axes; from the eye, above, both sides."""
BACKGROUND = 0.18
"""Grey of what is behind hands and weapon, on which they are seen."""
CYCLES_SAMPLES = 8


class Renderer(Enum):
    """What renders the pictures; the values are Blender's names."""

    WORKBENCH = "BLENDER_WORKBENCH"
    CYCLES = "CYCLES"


def chosen(hands: Any, names: str) -> list[int]:
    """The rows of actions by their keys, separated by commas; ``*`` stands for any letters. "" for the active one.

    Rows without a motion of the hands are left out. Raises `WriteError` where nothing is left.
    """
    rows = hands.motionbridge_hud.actions
    masks = [name.strip() for name in names.split(",") if name.strip()]
    wanted = {hands.motionbridge_hud.active_action} if not masks else set()
    found = [
        number
        for number, row in enumerate(rows)
        if row.hands is not None and (number in wanted or any(fnmatchcase(row.name, mask) for mask in masks))
    ]
    if not found:
        raise WriteError(
            f"no action is named {names}" if masks else "the active action has no motion",
            remedy="Choose actions of the list; * stands for all",
        )
    return found


def render(
    context: Any, hands: Any, numbers: Sequence[int], path: str, *, columns: int, height: int, renderer: Renderer
) -> None:
    """Render actions of the list into a PNG; ``columns`` pictures of each, from its first frame to its last.

    Everything that is set in the scene is as before afterwards. Raises `WriteError` for too many pictures, a scene
    without a camera and a file that cannot be written.
    """
    scene = context.scene
    files.refuse_unwritable(path)
    if not Path(path).parent.is_dir():
        raise WriteError("its folder does not exist", file=path, remedy="Create the folder first")
    if len(numbers) * columns > MOST_CELLS:
        raise WriteError(f"more than {MOST_CELLS} pictures are too many", remedy="Choose fewer actions or frames")
    if scene.camera is None:
        raise WriteError("the scene has no camera", remedy="Set the scene's camera in its properties")
    width = round(height * scene.render.resolution_x / scene.render.resolution_y)
    sheet = np.zeros((len(numbers) * height, columns * width, 4), np.float32)
    properties = hands.motionbridge_hud
    active = properties.active_action
    with (
        scope.kept_frame(context),
        _set_up(context, (width, height), renderer) as file,
        scope.progress(context, len(numbers) * columns) as step,
    ):
        try:
            for line, number in enumerate(numbers):
                pairs.play(context, hands, number)
                row = properties.actions[number]
                for column, frame in enumerate(np.linspace(scene.frame_start, scene.frame_end, columns)):
                    scene.frame_set(round(float(frame)))
                    scene.render.stamp_note_text = f"{row.name}  {scene.frame_current}"
                    top = len(numbers) - 1 - line  # pixels begin at the bottom
                    cell = sheet[top * height : (top + 1) * height, column * width : (column + 1) * width]
                    cell[:] = _rendered(scene, file, width, height)
                    step(line * columns + column + 1)
        finally:
            pairs.play(context, hands, active)
    _save(sheet, path)


def _rendered(scene: Any, file: Path, width: int, height: int) -> NDArray[np.float32]:
    """(height, width, 4) of the current frame."""
    bpy.ops.render.render(write_still=True, scene=scene.name)
    image: Any = bpy.data.images.load(str(file))
    try:
        pixels = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(pixels)
    finally:
        bpy.data.images.remove(image)
    result = pixels.reshape(height, width, 4)
    alpha = result[..., 3:]
    result[..., :3] = result[..., :3] * alpha + BACKGROUND * (1 - alpha)
    alpha[:] = 1.0
    return result


def _save(sheet: NDArray[np.float32], path: str) -> None:
    image: Any = bpy.data.images.new("Preview", sheet.shape[1], sheet.shape[0], alpha=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "strip.png")
            image.pixels.foreach_set(sheet.ravel())
            image.filepath_raw, image.file_format = str(file), "PNG"
            image.save()
            files.write_atomically(path, file.read_bytes())  # Blender would make folders that are missing
    finally:
        bpy.data.images.remove(image)


@contextmanager
def _set_up(context: Any, size: tuple[int, int], renderer: Renderer) -> Iterator[Path]:
    """Settings for small pictures with the action's name in them; the file that each goes to."""
    scene = context.scene
    render = scene.render
    with tempfile.TemporaryDirectory() as folder, ExitStack() as after:
        file = Path(folder, "cell.png")
        settings: list[tuple[Any, dict[str, Any]]] = [
            (render, {"engine": renderer.value, "filepath": str(file), "use_file_extension": False}),
            (render, {"resolution_x": size[0], "resolution_y": size[1], "resolution_percentage": 100}),
            (render, {"film_transparent": True}),
            (scene.view_settings, {"view_transform": "Standard", "look": "None", "exposure": 0.0, "gamma": 1.0}),
            (render, {"use_border": False, "use_compositing": False, "use_sequencer": False}),
            (render, dict.fromkeys(_stamps(render), False) | {"use_stamp": True, "use_stamp_note": True}),
            (render, {"stamp_font_size": max(size[1] // 20, 8), "stamp_note_text": ""}),
            (render.image_settings, {"file_format": "PNG", "color_mode": "RGBA", "color_depth": "8"}),
            (scene.display.shading, {"light": "STUDIO", "color_type": "TEXTURE"}),
        ]
        if renderer is Renderer.CYCLES:
            settings.append((scene.cycles, {"samples": CYCLES_SAMPLES, "use_denoising": False}))
            for energy, angles in SUNS:
                sun: Any = bpy.data.lights.new("Preview", "SUN")
                after.callback(bpy.data.lights.remove, sun)  # removes its object too
                sun.energy, sun.use_shadow = energy, False
                shown = bpy.data.objects.new("Preview", sun)
                shown.matrix_world = scene.camera.matrix_world @ Euler((*angles, 0.0)).to_matrix().to_4x4()
                scene.collection.objects.link(shown)
        for owner, values in settings:
            for name, value in values.items():
                after.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
        yield file


def _stamps(render: Any) -> list[str]:
    """What can be written into a picture."""
    return [one.identifier for one in render.bl_rna.properties if one.identifier.startswith("use_stamp")]
