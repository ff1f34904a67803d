"""`Material` to Blender material and back: the game's names are stored, the image is a preview.

The nodes are a simple surface with the texture, because nodes cannot reproduce the shading of the games. Images made
from arrays are saved in the .blend.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import files, inner_files, names, png, srgb
from ..core import model as core_model
from ..core.errors import ReadError, WriteError
from ..core.report import Report, say

if TYPE_CHECKING:
    from .typed import Material, Mesh, Object


NEUTRAL = (0.5, 0.5, 0.5, 1.0)
ROUGHNESS = 0.8
TITLE = "motionbridge_title"
"""Custom property of a colored material: the name it was created with."""
SHOWS = "motionbridge_shows"
"""Custom property of a colored material: name of an attribute -> the value that the color shows."""
PICTURE = "motionbridge_picture"
"""Custom property of a material: the image that shows its texture."""
_NUMBERED = re.compile(r"\.\d{3,}$")


def build(
    material: core_model.Material,
    image: Any = None,
    *,
    see_through: bool = False,
    colour: tuple[float, ...] = NEUTRAL,
    pictures: int = 1,
    like: Material | None = None,
) -> Any:
    """Return a Blender material, an existing one if texture, shader and image are the same.

    ``image`` is shown as its color, with ``see_through`` also as its transparency; without an image it has ``colour``.
    ``pictures``: number of images of an image sequence, which are played in a loop. ``like``: a material with the same
    nodes except for the images, which is copied, because building nodes takes ten times as long.
    """
    existing = _find_same(material, image)
    if existing is not None:
        return existing
    datablock: Any = bpy.data.materials.new(material.name) if like is None else like.copy()
    datablock.motionbridge_material.texture = material.texture
    datablock.motionbridge_material.shader = material.shader
    if like is not None:
        datablock.name = material.name
        show_image(datablock, image)
        return datablock
    if datablock.node_tree is None:
        # Since 5.0 every material has nodes, and use_nodes is deprecated.
        datablock.use_nodes = True
    _build_nodes(datablock.node_tree, image, colour, see_through=see_through, pictures=pictures)
    if image is not None:
        datablock[PICTURE] = image
    datablock.diffuse_color = colour
    return datablock


def build_coloured(
    name: str,
    colour: tuple[float, ...],
    *,
    number: int = -1,
    back: tuple[float, ...] | None = None,
    shows: Mapping[str, Any] | None = None,
) -> Any:
    """Return a plain material of one color, an existing one if name and ``number`` are the same.

    ``back``: a different color for the back of faces. ``shows``: the values of attributes that the color shows.
    """
    materials: Any = bpy.data.materials
    for existing in materials:
        # Blender adds a number to a name that is in use, so compare the title, which keeps the name.
        if existing.motionbridge_material.number == number and existing.get(TITLE) == name and existing.library is None:
            return existing
    material: Any = materials.new(name)
    material[TITLE] = name
    if shows is not None:
        material[SHOWS] = shows
    material.motionbridge_material.number = number
    material.diffuse_color = colour
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    surface = _build_nodes(tree, None, colour)
    if back is not None:
        side = tree.nodes.new("ShaderNodeNewGeometry")
        mix = tree.nodes.new("ShaderNodeMixRGB")
        across, up = surface.location
        side.location, mix.location = (across - 500, up), (across - 250, up)
        mix.inputs["Color1"].default_value, mix.inputs["Color2"].default_value = colour, back
        tree.links.new(side.outputs["Backfacing"], mix.inputs["Fac"])
        tree.links.new(mix.outputs["Color"], surface.inputs["Base Color"])
    return material


def _find_same(material: core_model.Material, image: bpy.types.Image | None) -> Any:
    """Return a material of the same texture and shader that shows the same image, if any; the user's changes to it
    stay.
    """
    materials: Any = bpy.data.materials
    for existing in materials:
        names = existing.motionbridge_material
        same = (names.texture, names.shader) == (material.texture, material.shader)
        if same and existing.library is None and existing.get(TITLE) is None:
            nodes = existing.node_tree.nodes if existing.node_tree is not None else ()
            if image is None or any(node.type == "TEX_IMAGE" and node.image == image for node in nodes):
                return existing
    return None


def _build_nodes(
    tree: Any, image: Any, colour: tuple[float, ...], *, see_through: bool = False, pictures: int = 1
) -> Any:
    """Set up the surface node of a new material, and its texture if any; return that surface node."""
    surface = _surface(tree)
    surface.inputs["Base Color"].default_value = colour
    surface.inputs["Roughness"].default_value = ROUGHNESS
    if image is None:
        return surface
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.location = (surface.location[0] - 300, surface.location[1])
    texture.image = image
    if pictures > 1:
        played = texture.image_user
        played.frame_duration, played.use_cyclic, played.use_auto_refresh = pictures, True, True
    tree.nodes.active = texture
    tree.links.new(texture.outputs["Color"], surface.inputs["Base Color"])
    if see_through:
        tree.links.new(texture.outputs["Alpha"], surface.inputs["Alpha"])
    return surface


def _surface(tree: Any) -> Any:
    return next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")


def load_image(path: Path) -> bpy.types.Image | None:
    """Load an image file, once; None if Blender cannot show it. One inside of an archive is packed into the .blend."""
    inner = inner_files.find(str(path))
    if inner is not None:
        return _packed_image(path.name, inner)
    known = len(bpy.data.images)
    try:
        image: Any = bpy.data.images.load(str(path), check_existing=True)
    except RuntimeError:
        return None
    if image.size[0] and image.size[1]:
        return image
    if len(bpy.data.images) > known:
        bpy.data.images.remove(image)
    return None


def shown_image(path: Path) -> bpy.types.Image:
    """Load an image as `load_image` does. Raises `ReadError` if Blender cannot show it."""
    image = load_image(path)
    if image is None:
        remedy = "Choose another one, or convert it: Blender opens .dds (DXT1, DXT3, DXT5), .tga and .png"
        raise ReadError("Blender cannot show this texture", file=str(path), remedy=remedy)
    return image


def _packed_image(name: str, inner: inner_files.InnerFile) -> bpy.types.Image | None:
    """Return the image of a file inside of an archive, an existing one if there is one of this path."""
    images: Any = bpy.data.images
    packed = (image for image in images if image.packed_file and image.library is None)
    image = next((image for image in packed if bpy.path.abspath(image.filepath) == inner.path), None)
    if image is not None:
        return image
    image = images.new(names.shortened(name), 1, 1)
    pack_texture(image, inner.read())
    image.filepath_raw, image.source = inner.path, "FILE"
    if not inner_files.are_saved():
        image[LINKED] = image[LOADED] = inner.path
    if image.size[0] and image.size[1]:
        return image
    images.remove(image)
    return None


def pack_texture(image: Any, data: bytes) -> None:
    """Let an image show the bytes of an image file, which Blender packs."""
    image.pack(data=data, data_len=len(data))
    image[PACKED] = _packed_of(image)
    image.buffers_free()  # else one that was opened without its file stays empty


def materials_of(obj: Object, data: Mesh) -> list[Any]:
    """Return the material of each slot: of the object where the slot is linked to that, else of the mesh.

    ``data``: the object's mesh, or the result of modifiers, which may have more.
    """
    own = [slot.material if slot.link == "OBJECT" else None for slot in obj.material_slots]
    own += [None] * (len(data.materials) - len(own))
    return [mine or used for mine, used in zip(own, data.materials, strict=False)]


def gather(material: Material | None) -> core_model.Material:
    """Return the game's names of a material; for an empty slot or other materials only the name is set."""
    if material is None:
        return core_model.Material("")
    names = material.motionbridge_material
    return core_model.Material(material.name, names.texture, names.shader)


def image_of(material: Material | None) -> Any:
    """Return the image that defines a material's color, or None."""
    node = _image_node(material)
    return node.image if node is not None else None


def show_image(material: Material, image: Any) -> None:
    """Let a material show the image of its new texture; a material that shows none stays as it is."""
    node = _image_node(material)
    if node is not None:
        node.image = image
        material[PICTURE] = image


def _image_node(material: Material | None) -> Any:
    nodes: Any = material.node_tree.nodes if material is not None and material.node_tree is not None else ()
    images = [node for node in nodes if node.type == "TEX_IMAGE" and node.image is not None]
    coloured = [node for node in images if any(link.to_socket.name == "Base Color" for link in _links(node))]
    return next(iter(coloured or images), None)


def _links(node: Any) -> list[Any]:
    return [link for output in node.outputs for link in output.links]


def path_of(image: Any) -> PurePosixPath:
    """Return the absolute path of an image's file without suffix; the name of an image without a file."""
    file: str = bpy.path.abspath(image.filepath, library=image.library)
    path = PurePosixPath((file or _NUMBERED.sub("", image.name)).replace("\\", "/"))
    return path.with_suffix("") if path.name else path


def other_picture(material: Material) -> str:
    """Return the name of the image with which the user replaced the imported one; "" if it was not replaced.

    An image with the name of the material's texture counts as not replaced. If commas separate several textures, the
    first is compared.
    """
    image = image_of(material)
    texture = material.motionbridge_material.texture.partition(",")[0]
    if image is None or not texture or image == material.get(PICTURE):
        return ""
    wanted = PurePosixPath(texture.replace("\\", "/")).name.lower()
    used_name = path_of(image).name.lower()
    return "" if wanted == used_name or wanted.rpartition(".")[0] == used_name else str(image.name)


def warn_of_paint(material: Material | None, report: Report) -> None:
    """Warn that a model does not store what was painted on the image of a material, unless it is saved in its file."""
    image = image_of(material)
    if material is not None and image is not None and image.source == "FILE" and image.is_dirty:
        words = "the painted image {!r} is not part of the model; export it as a texture"
        report.warn(say(words, image.name), material.name)


CONTENT = "motionbridge_content"
"""Custom property of an image: the hash of the pixels it was made from."""
PACKED = "motionbridge_packed"
"""Custom property of an image: the hash of the packed file it was made with, which packing it again replaces."""
LINKED = "motionbridge_linked"
"""Custom property of an image that the .blend does not store: the path of the texture that it was imported from."""
LOADED = "motionbridge_loaded"
"""Custom property of such an image of a file that Blender reads: the path of the file that it shows now."""


def content_of(pixels: NDArray[np.uint8]) -> str:
    """Return what `CONTENT` is for pixels."""
    return hashlib.sha256(repr(pixels.shape).encode() + np.ascontiguousarray(pixels).tobytes()).hexdigest()


def is_as_built(image: Any, pixels: NDArray[np.uint8]) -> bool:
    """Return whether these pixels of an image are those that `build_image` made it from."""
    return bool(image.get(CONTENT) == content_of(pixels))


def _packed_of(image: Any) -> str:
    return hashlib.sha256(image.packed_file.data).hexdigest() if image.packed_file is not None else ""


def is_unpainted(image: Any) -> bool:
    """Return whether an image of `build_image` was not painted since, also if it was packed after painting."""
    packed = _packed_of(image)
    return bool(packed) and not image.is_dirty and bool(image.get(PACKED, packed) == packed)


def build_image(name: str, pixels: NDArray[np.uint8]) -> Any:
    """Return a new image of (height, width, 4) red, green, blue, alpha, top row first. Raises `ValueError` for an empty
    array.
    """
    packed = png.encode(pixels)
    height, width, _ = pixels.shape
    images: Any = bpy.data.images
    image = images.new(name, width, height, alpha=True)
    _show(image, packed, pixels)
    image.source = "FILE"
    return image


def show_pixels(image: Any, pixels: NDArray[np.uint8]) -> None:
    """Let an image of `build_image` show other pixels. Raises `ValueError` for an empty array."""
    _show(image, png.encode(pixels), pixels)


def _show(image: Any, packed: bytes, pixels: NDArray[np.uint8]) -> None:
    # A packed file is lossless, and Blender decodes it only when the pixels are needed.
    pack_texture(image, packed)
    image[CONTENT] = content_of(pixels)


def gather_pixels(image: Any) -> NDArray[np.uint8]:
    """Return the pixels of an image as (height, width, 4) red, green, blue, alpha, top row first.

    Images of floats are in linear light and are converted to sRGB, unless their color space is Non-Color; Blender keeps
    their colors multiplied by alpha, unless that is no transparency. Raises `WriteError` for an image without pixels,
    such as one whose file is missing.
    """
    width, height = image.size
    if not width or not height or image.source not in ("FILE", "GENERATED"):
        words = "the image {!r} has no pixels of its own"
        raise WriteError(say(words, image.name), remedy="Choose a single image whose file exists, or pack it")
    values = np.empty(width * height * image.channels, np.float32)
    image.pixels.foreach_get(values)
    values = values.reshape(height, width, image.channels)[::-1]
    result = np.ones((height, width, 4), np.float32)
    if image.channels < 3:
        result[..., :3] = values[..., :1]
        result[..., 3] = values[..., -1] if image.channels == 2 else 1
    else:
        result[..., : image.channels] = values
    result = np.nan_to_num(result)
    if image.is_float and image.alpha_mode in ("STRAIGHT", "PREMUL"):
        alpha = result[..., 3:]
        result[..., :3] /= np.where(alpha > 0, alpha, 1)
    result = np.clip(result, 0, 1)
    if image.is_float and image.colorspace_settings.name != "Non-Color":
        result[..., :3] = srgb.from_linear(result[..., :3])
    return np.rint(255 * result).astype(np.uint8)


def build_image_sequence(folder: Path, name: str, pictures: Sequence[NDArray[np.uint8]]) -> bpy.types.Image | None:
    """Write ``pictures`` (each as for `build_image`) to files ``NAME_0001.png`` … and return an image that plays them.

    One picture per frame. Blender cannot pack sequences, so it needs the files as long as the image is used. The folder
    is created if it is missing. Raises `WriteError` if a folder or file cannot be written.
    """
    files.make_folder(folder)
    # A name in a game file must not be used as a path.
    stem = re.sub(r"[^\w-]+", "_", name) or "texture"
    paths = [folder / f"{stem}_{number:04d}.png" for number in range(1, len(pictures) + 1)]
    for path, pixels in zip(paths, pictures, strict=True):
        files.write_atomically(path, png.encode(pixels), tidy=path == paths[0])
    images: Any = bpy.data.images
    result = images.load(str(paths[0]), check_existing=True)
    result.source = "SEQUENCE"
    return result
