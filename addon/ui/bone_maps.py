"""Bone maps of Retarget Motion: which bone of the source each bone of the target follows, as rows of its dialog, and as
files.

A map is named by a naming scheme of the source, by a file that was saved under a name, or by a path.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntProperty, StringProperty

from ..blender.typed import Context
from ..core import bone_map, files, rig_names
from ..core.errors import ReadError
from ..core.report import Message, listed, say
from .bases import BlenderList, MixedIn, classes_of, path_search, tell
from .layouts import DrawnRows, fields, paragraph

if TYPE_CHECKING:
    from ..core.bone_map import Link, Rig

SUFFIX = ".json"
LINE = 70
"""Characters that fit into one line of the dialog."""
MOST_NAMED = 6
"""Bones that a line of the dialog names."""


def _roles(_row: Any, _context: Context, typed: str) -> list[str]:
    return [role for role in bone_map.all_roles() if typed.lower() in role]


class SourceBone(bpy.types.PropertyGroup):
    """A bone of the source; ``name`` is its name."""


class LinkedBone(bpy.types.PropertyGroup):
    """A bone of the target, whose ``name`` it has, and the bone of the source that it follows, if any.

    ``matched``: the ``source`` for which the rotation is between that of the source and of ``other``, by ``share``.
    """

    source: StringProperty(name="Source", description="Bone of the source that this bone follows; empty for none")
    role: StringProperty(
        name="Role",
        description="Part of the body that the bone is, such as forearm.L; limbs are recognised by it",
        search=_roles,
        search_options={"SUGGESTION"},
    )
    matched: StringProperty(name="")
    other: StringProperty(name="")
    share: FloatProperty(name="")


class MOTIONBRIDGE_UL_linked_bones(DrawnRows, BlenderList):
    """Bones of the target, each with the bone of the source that it follows."""

    def draw_row(self, layout: Any, item: Any, owner: Any, _index: int) -> None:
        row = layout.split(factor=0.34)
        row.alert = bool(item.role and not item.source)
        row.label(text=item.name, translate=False)
        row = row.split(factor=0.62)
        row.prop_search(item, "source", owner, "source_bones", text="", icon="BONE_DATA")
        row.prop(item, "role", text="")

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw nothing: the names are those of the skeleton, in its order."""


def _maps(operator: Any, context: Context, typed: str) -> list[str]:
    """Suggest the naming schemes, the saved maps, and files."""
    if "/" in typed or "\\" in typed:
        return list(path_search(SUFFIX)(operator, context, typed))
    known = [*rig_names.SCHEMES, *(path.stem for path in saved_maps())]
    return [name for name in known if typed.lower() in name.lower()]


class BoneMapChoice(MixedIn):
    """Mixin for an operator that needs the links of two skeletons: the rows of its dialog, else a named map, else what
    names say.
    """

    bone_map: StringProperty(
        name="Bone Map",
        description=(
            "Naming scheme of the source, or a saved map (its name, or a .json file); if empty, pairs of bones are "
            "found by names"
        ),
        options={"SKIP_SAVE"},
        search=_maps,
        search_options={"SUGGESTION"},
    )
    saved_map: StringProperty(
        name="Save Map As",
        description="Name, or .json file, under which the pairs of bones are saved, to be chosen as Bone Map later",
        options={"SKIP_SAVE"},
        search=path_search(SUFFIX),
        search_options={"SUGGESTION"},
    )
    source_bones: CollectionProperty(type=SourceBone, options={"SKIP_SAVE", "HIDDEN"})
    linked_bones: CollectionProperty(type=LinkedBone, options={"SKIP_SAVE", "HIDDEN"})
    active_bone: IntProperty(options={"SKIP_SAVE", "HIDDEN"})

    def list_bones(self, source: "Rig", target: "Rig") -> None:
        """Fill the rows with the links of the chosen map. Raises `ReadError`; then there are no rows."""
        self.source_bones.clear()
        self.linked_bones.clear()
        links = {link.target: link for link in links_by(self.bone_map, source, target)}
        roles = {bone: role for role, bones in bone_map.roles_of(target).parts.items() for bone in bones}
        for name in source.names:
            self.source_bones.add().name = name
        for bone, name in enumerate(target.names):
            row, link = self.linked_bones.add(), links.get(bone)
            row.name, row.role = name, link.role if link is not None else roles.get(bone, "")
            if link is not None:
                row.source = row.matched = source.names[link.source]
                row.other = source.names[link.other] if link.other >= 0 else ""
                row.share = link.share

    def links(self, source: "Rig", target: "Rig") -> "list[Link]":
        """Return the links of the rows if these are of ``source``, else of the chosen map. Raises `ReadError`."""
        if [row.name for row in self.source_bones] != source.names:
            return links_by(self.bone_map, source, target)
        table: list[dict[str, Any]] = []
        for row in self.linked_bones:
            if row.source:
                link = {"target": row.name, "source": row.source, "role": row.role or bone_map.SAME_NAME}
                between = {"other": row.other, "share": row.share} if row.other and row.source == row.matched else {}
                table.append(link | between)
        return bone_map.links_from(table, source, target)

    def draw_bones(self, layout: Any, source: "Rig", target: "Rig") -> None:
        """Draw the rows, and which bones of both skeletons are left over."""
        column = fields(layout.column())
        column.prop(self, "bone_map")
        layout.template_list(
            "MOTIONBRIDGE_UL_linked_bones", "", self, "linked_bones", self, "active_bone", rows=8, maxrows=8
        )
        missing, unused = left_over(self.links(source, target), source, target)
        for line in missing, unused:
            if line is not None:
                paragraph(layout, tell(line), LINE, icon="INFO")
        fields(layout.column()).prop(self, "saved_map")


def left_over(links: "Sequence[Link]", source: "Rig", target: "Rig") -> tuple[Message | None, Message | None]:
    """Return which bones with a role keep their rest pose in the target, and which of the source move none; None for
    no bones.
    """

    def of_rig(rig: "Rig", used: set[int]) -> str:
        bones = [bone for bones in bone_map.roles_of(rig).parts.values() for bone in bones]
        return listed([rig.names[bone] for bone in bones if bone not in used], MOST_NAMED)

    missing = of_rig(target, {link.target for link in links})
    unused = of_rig(source, {link.source for link in links} | {link.other for link in links})
    return (
        say("bones without a counterpart keep their rest pose: {}", missing) if missing else None,
        say("bones of the source that move nothing: {}", unused) if unused else None,
    )


def links_by(name: str, source: "Rig", target: "Rig") -> "list[Link]":
    """Return the links of a map; ``name``: a naming scheme, a saved map, a path; empty for what names say. Raises
    `ReadError`.
    """
    if name and name not in rig_names.SCHEMES:
        return read_map(path_of(name), source, target)
    of_source, of_target = bone_map.roles_of(source, name), bone_map.roles_of(target)
    return bone_map.links_of(source, target, of_source, of_target)


# Files ----------------------------------------------------------------------------------------------------------------


def folder() -> Path:
    """Return the folder of the maps that are saved by name, below that of Blender's presets."""
    return Path(bpy.utils.user_resource("SCRIPTS", path="presets/motionbridge/bone_maps"))


def saved_maps() -> Iterable[Path]:
    """Return the files of the maps that are saved by name."""
    return sorted(folder().glob(f"*{SUFFIX}"))


def path_of(name: str) -> str:
    """Return the path of a map that is named or has a path."""
    is_path = name.lower().endswith(SUFFIX) or "/" in name or "\\" in name
    return bpy.path.abspath(name) if is_path else str(folder() / f"{name}{SUFFIX}")


def read_map(path: str, source: "Rig", target: "Rig") -> "list[Link]":
    """Return the pairs of a bone map that both skeletons have. Raises `ReadError`."""
    try:
        return bone_map.links_from(json.loads(files.read_file(path))["bones"], source, target)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ReadError("this is not a bone map", file=path, remedy="Save one from Retarget Motion") from None


def write_map(name: str, source: "Rig", target: "Rig", links: "Sequence[Link]") -> None:
    """Write the pairs of bones as a file for `read_map`; ``name`` as in `path_of`."""
    text = json.dumps({"bones": bone_map.table_of(links, source, target)}, indent=1, ensure_ascii=False)
    path = Path(path_of(name))
    files.make_folder(path.parent)
    files.write_atomically(str(path), f"{text}\n".encode())


CLASSES = classes_of(__name__)
