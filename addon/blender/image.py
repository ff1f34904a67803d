"""Pictures as arrays -> images of the Blender file, which keep what they show when it is saved."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import files, png
from ..core.errors import WriteError

CONTENT = "motionbridge_content"
"""Property of an image: the hash of what it was made from."""


def build(name: str, pixels: NDArray[np.uint8]) -> Any:
    """An image of (height, width, 4) red, green, blue, alpha, top row first; the existing one if it is the same.

    Raises `ValueError` for an empty one.
    """
    content = hashlib.sha256(repr(pixels.shape).encode() + np.ascontiguousarray(pixels).tobytes()).hexdigest()
    images: Any = bpy.data.images
    for there in images:
        if there.get(CONTENT) == content and there.library is None:
            return there
    packed = png.encode(pixels)
    height, width, _ = pixels.shape
    made = images.new(name, width, height, alpha=True)
    # A packed file loses nothing, and Blender makes pixels of it when they are wanted.
    made.pack(data=packed, data_len=len(packed))
    made.source = "FILE"
    made[CONTENT] = content
    return made


def build_sequence(folder: Path, name: str, pictures: Sequence[NDArray[np.uint8]]) -> Any:
    """An image that plays ``pictures`` (each as for `build`), one a frame; they are files ``NAME_0001.png`` … there.

    Blender packs no sequences, so it needs the files as long as the image is shown. The folder is made where it is
    missing. Raises `WriteError`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise WriteError(f"cannot make the folder: {wrong.strerror or wrong}", file=str(folder)) from wrong
    # A name out of a game's file is no path.
    stem = re.sub(r"[^\w-]+", "_", name) or "texture"
    paths = [folder / f"{stem}_{number:04d}.png" for number in range(1, len(pictures) + 1)]
    for path, pixels in zip(paths, pictures, strict=True):
        files.write_atomically(path, png.encode(pixels), tidy=path == paths[0])
    images: Any = bpy.data.images
    made = images.load(str(paths[0]), check_existing=True)
    made.source = "SEQUENCE"
    return made
