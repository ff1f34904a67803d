"""Properties of the extension on Blender's data-blocks: how they are added, where they stay, and when they changed.

- `AddedProperties`: classes of properties, and the names under which Blender's types hold them.
- `is_local`, `refuse_linked`: Blender shows and plays data-blocks of other files, but what is stored in them is gone
  after reloading. A library override keeps poses, animation and single values, but takes no new entries in collections
  of properties, in which files, motions, marks and points are kept.
- `stamp`, `pointers_stamp`: whether what panels remember between two redraws is still true. Blender draws a list many
  times per second, and reading a few properties of 3,000 actions takes longer than a redraw may. `stamp` is a number
  that changes with every property that was declared with ``update=changed``, whoever sets it, and with undo, redo and
  the opening of a file, which set properties without calling ``update``. `pointers_stamp` changes also when objects are
  evaluated again: nothing else shows that the users of a data-block were remapped to another (measured in 4.2 and 5.0).
  Adding, removing and renaming data-blocks changes neither: compare names.
- `keep`, `kept`: the file's own bytes, stored with the data-block they became, so that unedited data is exported byte
  for byte. Bytes live in a hidden ``BYTE_STRING`` property: it survives zeros, copying, saving, reloading and newer
  Blenders. A second property beside it holds the version of the data and a digest, which reveals bytes that something
  else has cut or changed. It is missing beside data of Motionbridge 0.1.0, which is accepted as it is.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from ..core.errors import ReadError, WriteError
from .typed import Scene


class AddedProperties(NamedTuple):
    """Classes in the order they need each other, and properties by the type of Blender and the name they get there.

    A property is what `bpy.props` makes; it may point at any of the classes.
    """

    classes: tuple[Any, ...]
    held: Mapping[tuple[Any, str], Any]

    def register(self) -> None:
        """Register the classes, then add the properties."""
        for kind in self.classes:
            bpy.utils.register_class(kind)
        for (owner, name), value in self.held.items():
            setattr(owner, name, value)

    def unregister(self) -> None:
        """Take everything away, in reverse order."""
        for owner, name in reversed(list(self.held)):
            delattr(owner, name)
        for kind in reversed(self.classes):
            bpy.utils.unregister_class(kind)


def is_local(block: Any) -> bool:
    """Whether what is stored in a data-block stays: it is neither linked nor a library override."""
    return block.library is None and block.override_library is None


def refuse_linked(blocks: Iterable[Any]) -> None:
    """Raises `WriteError` where one of the data-blocks, in which something is to be stored, is of another file.

    None stands for nothing.
    """
    for block in blocks:
        if block is None or is_local(block):
            continue
        kind = str(block.bl_rna.name).lower()
        if block.library is not None:
            raise WriteError(
                f"the {kind} {block.name!r} is linked from another file, so nothing can be stored in it",
                remedy="Make it local first (Object > Relations > Make Local, for an action the link icon beside its "
                "name), or work in its own file",
            )
        raise WriteError(
            f"the {kind} {block.name!r} is a library override, which cannot store this",
            remedy="Make it local first (Object > Relations > Make Local), or work in its own file",
        )


_stamp = 0
_evaluations = 0


def nearest_above(shown: Any, fits: Callable[[Any], bool], above: Callable[[Any], Any] = lambda one: one.parent) -> Any:
    """``shown`` itself or the first object above it that ``fits``, None without; ``above`` says which is next."""
    while shown is not None and not fits(shown):
        shown = above(shown)
    return shown


def stamp() -> int:
    """What was read of properties under the same stamp is what they say now."""
    return _stamp


def pointers_stamp() -> tuple[int, int]:
    """The same for what properties of objects point at."""
    return _stamp, _evaluations


def changed(_owner: Any = None, _context: bpy.types.Context | None = None) -> None:
    """Forget what was remembered; the ``update`` of properties that lists show."""
    global _stamp  # noqa: PLW0603 (one number for the whole of Blender)
    _stamp += 1


def _replaced(*_: Any) -> None:
    changed()


def _evaluated(_scene: Scene, depsgraph: bpy.types.Depsgraph) -> None:
    global _evaluations  # noqa: PLW0603 (as above)
    if depsgraph.id_type_updated("OBJECT"):
        _evaluations += 1


for _handler in (_replaced, _evaluated):
    persistent(_handler)  # they outlive the file that is open


def _watchers() -> list[tuple[Any, Any]]:
    handlers: Any = bpy.app.handlers
    replacing = [(handler, _replaced) for handler in (handlers.undo_post, handlers.redo_post, handlers.load_post)]
    return [*replacing, (handlers.depsgraph_update_post, _evaluated)]


def watch_changes() -> None:
    """Watch undo, redo, the opening of files and evaluation."""
    for handler, called in _watchers():
        handler.append(called)


def stop_watching() -> None:
    """Watch no more."""
    for handler, called in _watchers():
        if called in handler:
            handler.remove(called)


DATA_VERSION = 1
"""What the stored bytes mean; data of 0.1.0 means the same and has no number."""
_SEAL = "{}_seal"
_DIGEST_SIZE = 16

STATUS_ITEMS = (
    ("UNKNOWN", "Not Compared", "Not compared with its file since import", "NONE", 0),
    ("UNTOUCHED", "Unchanged", "Same as in its file", "CHECKMARK", 1),
    ("EDITED", "Edited", "Differs from its file", "GREASEPENCIL", 2),
    ("NEW", "New", "Not in the file yet", "ADD", 3),
)


def bytes_property(description: str) -> Any:
    """A property that holds bytes. Read and write it through `kept` and `keep`; it needs a `seal_property`."""
    return StringProperty(description=description, subtype="BYTE_STRING", options={"HIDDEN"})


def seal_property() -> Any:
    """The version and digest of a `bytes_property`, beside it under the same name with ``_seal`` added."""
    return StringProperty(subtype="BYTE_STRING", options={"HIDDEN"})


def status_property(description: str) -> Any:
    """A property that says whether something still is what its file says; lists show it."""
    return EnumProperty(name="Status", items=STATUS_ITEMS, description=description, update=changed)


def keep(owner: Any, name: str, data: bytes | bytearray | memoryview) -> None:
    """Store ``data`` in a property made by `bytes_property`, and its version and digest beside it."""
    data = bytes(data)
    setattr(owner, name, data)
    setattr(owner, _SEAL.format(name), _seal(data))


def drop(owner: Any, name: str) -> None:
    """Forget what `keep` stored."""
    owner.property_unset(name)
    owner.property_unset(_SEAL.format(name))


def is_sealed(owner: Any, name: str) -> bool:
    """Whether what `keep` stored has a digest: only data of Motionbridge 0.1.0 has none."""
    return bool(_stored(owner, _SEAL.format(name)))


def kept(owner: Any, name: str) -> bytes:
    """The bytes of a property made by `bytes_property`; empty where nothing was stored.

    Raises `ReadError` where they are not what was stored, or were stored by a newer Motionbridge.
    """
    data, seal = _stored(owner, name), _stored(owner, _SEAL.format(name))
    if not seal or seal == _seal(data):
        return data
    if len(seal) == 1 + _DIGEST_SIZE and seal[0] > DATA_VERSION:
        remedy = "Update Motionbridge, or import the file again"
        raise ReadError("the file data was stored by a newer Motionbridge", file=owner.id_data.name, remedy=remedy)
    raise ReadError(
        f"the stored file data is damaged ({len(data)} bytes with a wrong checksum)",
        file=owner.id_data.name,
        remedy="Import the file again",
    )


def _stored(owner: Any, name: str) -> bytes:
    # Asked as an item it is copied once, as a property three times; which is felt with tens of megabytes.
    data = owner.get(name)
    if data is None:
        data = getattr(owner, name)
    return data if isinstance(data, bytes) else bytes(str(data), "utf-8", "surrogateescape")


def _seal(data: bytes) -> bytes:
    return bytes([DATA_VERSION]) + blake2b(data, digest_size=_DIGEST_SIZE).digest()


class MaterialProperties(bpy.types.PropertyGroup):
    """What the game calls the surface."""

    texture: StringProperty(name="Texture", description="Path of the texture below the textures folder, without suffix")
    shader: StringProperty(name="Shader", description="Name of the shader in the game")
    number: IntProperty(
        name="Game Material Number",
        description="Index of the game material of the faces, -1 for none",
        default=-1,
        min=-1,
    )


ADDED = AddedProperties(
    (MaterialProperties,),
    {
        (bpy.types.Material, "motionbridge_material"): PointerProperty(type=MaterialProperties),
        (bpy.types.Bone, "motionbridge_known_as"): StringProperty(name="Known As", options={"HIDDEN"}),
        (bpy.types.Bone, "motionbridge_is_colored"): BoolProperty(name="Colored by Body Part", options={"HIDDEN"}),
    },
)
"""The game's names of a material; the name under which keys and stored data know a bone, and whether its color was
given by `armature.make_readable`.
"""
