"""Properties that the extension adds to Blender's data-blocks: registration, where they are stored, change detection.

- `AddedProperties`: property group classes, the names under which Blender's types hold them, and handlers.
- `use_own_translations`: where Blender looks up our labels.
- `Event`: what a property says when it was changed, for behaviour that the property group does not know.
- `is_local`, `refuse_linked`: Blender shows and plays linked data-blocks, but what is stored in them is lost on
  reload. A library override keeps poses, animation and single values, but takes no new entries in collection
  properties, which hold files, motions, marks and points.
- `stamp`, `pointers_stamp`: whether values that panels cache between two redraws are still valid. Blender draws a list
  many times per second, and reading a few properties of 3,000 actions takes longer than a redraw may. `stamp` changes
  with every property declared with ``update=changed``, whoever sets it, and with undo, redo and loading a file, which
  set properties without calling ``update``. `pointers_stamp` also changes when objects are evaluated again: nothing
  else reveals that the users of a data-block were remapped to another (measured in 4.2 and 5.0). Adding, removing and
  renaming data-blocks changes neither, so compare names.
- `key_digests`: digests of keys that were read before, as long as Blender reports no change of their actions.
- `keep`, `kept`: the file's own bytes, stored with the data-block that was built from them, so that unedited data is
  exported byte for byte. They are in a hidden ``BYTE_STRING`` property, which survives zeros, copying, saving,
  reloading and newer Blenders. A second property beside it holds a data version and a digest, which detects bytes that
  something else has truncated or changed.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from hashlib import blake2b
from struct import pack
from typing import Any, NamedTuple
from zlib import crc32

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from ..core.errors import ReadError, WriteError
from ..core.report import say
from .typed import Scene

TRANSLATIONS = "Motionbridge"
"""Translation context of our labels. In Blender's own contexts its own words come first: Track, Head, Power, Pivot."""


_DECLARED: Any = type(BoolProperty())


def use_own_translations(kind: Any) -> None:
    """Let Blender look up the labels of a class, and of the properties that it and its mixins declare, in our context.

    Called before the class is registered. Tooltips have no context.
    """
    if issubclass(kind, (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu)):
        kind.bl_translation_context = TRANSLATIONS
    for base in kind.__mro__:
        _translate_declared_by(base)


@cache
def _translate_declared_by(base: type) -> None:
    if not base.__module__.startswith(("bpy", "_bpy")):  # Blender's own file paths stay in its words
        for declared in getattr(base, "__annotations__", {}).values():
            _translate(declared)


def _translate(declared: Any) -> None:
    if isinstance(declared, _DECLARED):  # else an annotation for type checkers
        keywords: Any = declared.keywords
        keywords.setdefault("translation_context", TRANSLATIONS)


class AddedProperties(NamedTuple):
    """Property group classes, the properties added to Blender's types, and handlers.

    ``classes`` are in registration order. ``held`` maps (Blender type, property name) to a property made with
    `bpy.props`, which may refer to any of the classes. ``handlers``: (name in `bpy.app.handlers`, function).
    """

    classes: tuple[Any, ...]
    held: Mapping[tuple[Any, str], Any]
    handlers: tuple[tuple[str, Callable[..., None]], ...] = ()

    def register(self) -> None:
        """Register the classes, add the properties and the handlers, which stay when another file is loaded."""
        for kind in self.classes:
            use_own_translations(kind)
            bpy.utils.register_class(kind)
        for (owner, name), value in self.held.items():
            _translate(value)
            setattr(owner, name, value)
        for name, called in self.handlers:
            getattr(bpy.app.handlers, name).append(persistent(called))

    def unregister(self) -> None:
        """Remove handlers and properties and unregister the classes, in reverse order."""
        for name, called in self.handlers:
            listed = getattr(bpy.app.handlers, name)
            if called in listed:
                listed.remove(called)
        for owner, name in reversed(list(self.held)):
            delattr(owner, name)
        for kind in reversed(self.classes):
            bpy.utils.unregister_class(kind)


class Event:
    """A change of a property by which something else has to happen.

    The property is declared with ``update=event.update`` and knows nothing of what happens; the games set ``follow``,
    which is called with the property group and the context.
    """

    def __init__(self) -> None:
        """Create an event that nothing follows yet."""
        self.follow: Callable[[Any, Any], object] = _nothing

        def update(owner: Any, context: Any) -> None:  # Blender accepts only functions
            self.follow(owner, context)

        self.update = update


def _nothing(_owner: Any, _context: Any) -> None:
    pass


def is_local(block: Any) -> bool:
    """Whether data stored in a data-block is saved with the file: it is neither linked nor a library override."""
    return block.library is None and block.override_library is None


def refuse_linked(blocks: Iterable[Any]) -> None:
    """Raise `WriteError` if one of the data-blocks in which data is to be stored is linked or a library override.

    None entries are skipped.
    """
    for block in blocks:
        if block is None or is_local(block):
            continue
        kind = str(block.bl_rna.name).lower()
        if block.library is not None:
            raise WriteError(
                say("the {} {!r} is linked from another file, so nothing can be stored in it", kind, block.name),
                remedy="Make it local first (Object > Relations > Make Local, for an action the link icon beside its "
                "name), or work in its own file",
            )
        raise WriteError(
            say("the {} {!r} is a library override, which cannot store this", kind, block.name),
            remedy="Make it local first (Object > Relations > Make Local), or work in its own file",
        )


_stamp = 0
_evaluations = 0
key_digests: dict[int, dict[Any, Any]] = {}
"""Action's ``session_uid`` -> what `bone_curves.keys_known` has read of it."""


def nearest_ancestor(
    obj: Any, fits: Callable[[Any], bool], above: Callable[[Any], Any] = lambda obj: obj.parent
) -> Any:
    """Return ``obj`` or its nearest ancestor for which ``fits`` is true, else None; ``above`` returns the parent."""
    while obj is not None and not fits(obj):
        obj = above(obj)
    return obj


def stamp() -> int:
    """Return a number; property values that were read while it was the same are still valid."""
    return _stamp


def pointers_stamp() -> tuple[int, int]:
    """Return the same as `stamp`, for the targets of pointer properties of objects."""
    return _stamp, _evaluations


def changed(_owner: Any = None, _context: bpy.types.Context | None = None) -> None:
    """Invalidate cached property values. The ``update`` callback of properties that lists show."""
    global _stamp  # noqa: PLW0603 (one number for the whole of Blender)
    _stamp += 1


def _on_replaced(*_: Any) -> None:
    changed()
    key_digests.clear()


def _on_evaluated(_scene: Scene, depsgraph: bpy.types.Depsgraph) -> None:
    global _evaluations  # noqa: PLW0603 (as above)
    if depsgraph.id_type_updated("OBJECT"):
        _evaluations += 1
    if key_digests and depsgraph.id_type_updated("ACTION"):
        blocks: list[Any] = [update.id for update in depsgraph.updates]
        updated = [block.original.session_uid for block in blocks if block.id_type == "ACTION"]
        for uid in updated:
            key_digests.pop(uid, None)
        if not updated:  # Blender lists only actions that something in the scene plays: it was any of the others
            key_digests.clear()


DATA_VERSION = 1
"""Version of the meaning of stored bytes."""
_SEAL = "{}_seal"
_DIGEST_SIZE = 16
MOST_DIGESTED = 1 << 20
"""Number of bytes above which a seal has the digest of their number and CRC-32, which takes a fifth of the time."""

STATUS_ITEMS = (
    ("UNKNOWN", "Not Compared", "Not compared with its file since import", "NONE", 0),
    ("UNTOUCHED", "Unchanged", "Same as in its file", "CHECKMARK", 1),
    ("EDITED", "Edited", "Differs from its file", "GREASEPENCIL", 2),
    ("NEW", "New", "Not in the file yet", "ADD", 3),
)


def bytes_property(description: str) -> Any:
    """Return a property that holds bytes. Read and write it with `kept` and `keep`; it needs a `seal_property`."""
    return StringProperty(description=description, subtype="BYTE_STRING", options={"HIDDEN"})


def seal_property() -> Any:
    """Return the property for version and digest of a `bytes_property`; its name is that one's with ``_seal`` added."""
    return StringProperty(subtype="BYTE_STRING", options={"HIDDEN"})


def status_property(description: str) -> Any:
    """Return the property for whether data was edited compared with its file, which lists show."""
    return EnumProperty(name="Status", items=STATUS_ITEMS, description=description, update=changed)


def keep(owner: Any, name: str, data: bytes | bytearray | memoryview) -> None:
    """Store ``data`` in a property made by `bytes_property`, and version and digest in the property beside it."""
    data = bytes(data)
    setattr(owner, name, data)
    setattr(owner, _SEAL.format(name), seal_of(data))


def stored_seal(owner: Any, name: str) -> bytes:
    """Return the seal of what `keep` stored, which equals `seal_of` its bytes; empty if nothing was stored."""
    return _stored(owner, _SEAL.format(name))


def drop(owner: Any, name: str) -> None:
    """Remove what `keep` stored."""
    owner.property_unset(name)
    owner.property_unset(_SEAL.format(name))


def kept(owner: Any, name: str) -> bytes:
    """Return the bytes of a property made by `bytes_property`, empty if nothing was stored.

    Raises `ReadError` if they do not match their digest, or if a newer Motionbridge stored them.
    """
    data, seal = _stored(owner, name), stored_seal(owner, name)
    if (not seal and not data) or seal == seal_of(data):
        return data
    if len(seal) == 1 + _DIGEST_SIZE and seal[0] > DATA_VERSION:
        remedy = "Update Motionbridge, or import the file again"
        raise ReadError("the file data was stored by a newer Motionbridge", file=owner.id_data.name, remedy=remedy)
    words = "the stored file data is damaged ({} bytes with a wrong checksum)"
    raise ReadError(say(words, len(data)), file=owner.id_data.name, remedy="Import the file again")


def damaged(owner: Any) -> ReadError:
    """Return the error for stored values, which have no digest, that cannot be what an import stored."""
    return ReadError("the stored file data is damaged", file=owner.id_data.name, remedy="Import the file again")


def _stored(owner: Any, name: str) -> bytes:
    # Read as an item the bytes are copied once, as a property three times, which is slow for tens of megabytes.
    data = owner.get(name)
    if data is None:
        data = getattr(owner, name)
    return data if isinstance(data, bytes) else bytes(str(data), "utf-8", "surrogateescape")


def seal_of(data: bytes) -> bytes:
    """Return the data version and the digest of bytes."""
    checked = data if len(data) <= MOST_DIGESTED else pack("<QI", len(data), crc32(data))
    return bytes([DATA_VERSION]) + blake2b(checked, digest_size=_DIGEST_SIZE).digest()


def _set_own_texture(material: Any, path: str) -> None:
    material.texture = ",".join([path, *material.texture.split(",")[1:]])


def _set_lightmaps(material: Any, paths: str) -> None:
    first = material.texture.partition(",")[0]
    material.texture = f"{first},{paths}" if paths else first


class MaterialProperties(bpy.types.PropertyGroup):
    """Texture, shader and index of a material in the game.

    ``texture`` of a level's surface has its lightmaps behind commas; ``own_texture`` and ``lightmaps`` are its parts.
    """

    texture: StringProperty(name="Texture", description="Path of the texture below the textures folder, without suffix")
    own_texture: StringProperty(
        name="Texture",
        description="Path of the texture below the textures folder, without suffix",
        get=lambda self: self.texture.partition(",")[0],
        set=_set_own_texture,
        options={"SKIP_SAVE"},
    )
    lightmaps: StringProperty(
        name="Lightmaps",
        description="Lightmaps of the surface in the level's folder, without suffix, separated by a comma",
        get=lambda self: self.texture.partition(",")[2],
        set=_set_lightmaps,
        options={"SKIP_SAVE"},
    )
    shader: StringProperty(name="Shader", description="Name of the shader in the game")
    number: IntProperty(
        name="Game Material ID",
        description="ID of the game material of the faces, -1 for none",
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
    (
        ("undo_post", _on_replaced),
        ("redo_post", _on_replaced),
        ("load_post", _on_replaced),
        ("depsgraph_update_post", _on_evaluated),
    ),
)
"""Game properties of a material; the bone name that keys and stored data use; whether `armature.make_readable` set the
bone's color.
"""
