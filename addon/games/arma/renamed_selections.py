"""Selections of all LODs of a model renamed by a table: vertex groups, points, and what only the imported file has.

The vertex group of a bone keeps the bone's name; the file gets the new name of the selection (`selection_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...blender import attributes
from ...blender.properties import kept
from ...core import files, names
from ...core.errors import ReadError
from ...core.model import VertexWeights
from ...core.report import Report
from ...formats.arma import p3d, renaming
from . import model_export, skeletons
from .selections import selection_of

if TYPE_CHECKING:
    from ...blender.typed import Object
    from ...core.game import InstalledGame
    from ...formats.arma.renaming import Table
    from .model_export import Chosen

TEMPORARY = "motionbridge {}"
"""Name of a vertex group while groups exchange their names."""
GROUP_OF = "vertex_group"
"""Part of the name of properties of modifiers and shape keys that name a vertex group."""


def rename(chosen: Chosen, table: Table) -> None:
    """Rename selections of a model as a table says. Called in object mode. Raises `WriteError` for new names that
    cannot be.
    """
    renaming.refuse_names(table)
    for mesh in dict.fromkeys(obj.data for obj in chosen.levels):
        _Groups([obj for obj in chosen.levels if obj.data == mesh]).rename(table)
    if chosen.model is None:
        _rename_points(chosen, table, None, None)
        return
    properties = chosen.model.motionbridge_arma_model
    document = p3d.read(kept(properties, "document"), "", Report())
    before = model_export.renamed_selections(chosen.model)
    after = renaming.composed(document, before, table)
    _rename_points(chosen, table, renaming.renamed(document, before), renaming.renamed(document, after))
    properties.renamed.clear()
    for old, new in after.items():
        row = properties.renamed.add()
        row.name, row.value = old, new


def quoted_by_config(chosen: Chosen, games: Sequence[InstalledGame]) -> tuple[str, set[str]]:
    """Return the path of the model.cfg of a model, "" if it is unknown, and all texts in quotation marks in it, in
    lower case: the names of selections are among them.
    """
    paths = (obj.motionbridge_arma_level.path for obj in chosen.levels)
    path = next((bpy.path.abspath(path) for path in paths if path), "")
    config = skeletons.config_of(path, Report(), games) if path else ""
    try:
        return config, renaming.quoted_texts(files.read_file(config)) if config else set()
    except ReadError:
        return "", set()


class _Groups:
    """The vertex groups of a mesh, and the selections that they are in each of the LODs ``objects`` with that mesh."""

    def __init__(self, objects: Sequence[Object]) -> None:
        self.objects = objects
        self.first: Any = objects[0]
        self.names = [group.name for group in self.first.vertex_groups]

    def rename(self, table: Table) -> None:
        """Rename the groups, join those that become one selection, and store what differs from the groups' names."""
        old = {obj: [selection_of(obj, name) for name in self.names] for obj in self.objects}
        new = {obj: [table.get(name.lower(), name) for name in own] for obj, own in old.items()}
        if new == old:
            return
        changed = [any(old[obj][index] != new[obj][index] for obj in old) for index in range(len(self.names))]
        into = _joined([name.lower() for name in new[self.first]], changed)
        wanted = self._group_names(new[self.first], changed)
        self._join(into)
        kept = [index for index in range(len(self.names)) if into[index] == index]
        groups = dict(zip(kept, self.first.vertex_groups, strict=True))
        for index, group in groups.items():
            if changed[index]:
                group.name = TEMPORARY.format(index)
        for index, group in groups.items():
            if changed[index]:
                group.name = names.shortened(wanted[index])
        renamed = {self.names[index]: groups[into[index]].name for index in range(len(self.names))}
        for obj in self.objects:
            rows = obj.motionbridge_arma_level.selections
            for index, name in enumerate(self.names):
                if (changed[index] or into[index] != index) and (row := rows.find(name)) >= 0:
                    rows.remove(row)
            for index, group in groups.items():
                if changed[index] and selection_of(obj, group.name) != new[obj][index]:
                    row = rows.add()
                    row.name, row.value = group.name, new[obj][index]
            _follow(obj, renamed)

    def _group_names(self, selections: Sequence[str], changed: Sequence[bool]) -> list[str]:
        """Return the name of each group: of the bone that moves the selection, else the bone's that it had, if no
        other group gets that, else the selection's.
        """
        rig = self.first.find_armature()
        bones = [bone.name for bone in rig.data.bones] if rig is not None else []
        entries = {row.bone: row.name for row in rig.data.motionbridge_skeleton.bones} if rig is not None else {}
        of_selection = {entries.get(bone, bone).lower(): bone for bone in reversed(bones)}
        moved = [of_selection.get(name.lower(), "") for name in selections]
        taken = {bone for bone, is_changed in zip(moved, changed, strict=True) if bone and is_changed}
        return [
            bone or (name if name in bones and name not in taken else selection)
            for bone, name, selection in zip(moved, self.names, selections, strict=True)
        ]

    def _join(self, into: Sequence[int]) -> None:
        """Add the weights of each group to those of the group ``into`` which it goes, at most 1, and remove it."""
        joined = [index for index in range(len(into)) if into[index] != index]
        if not joined:
            return
        groups: Any = list(self.first.vertex_groups)
        stored = attributes.weights_of(self.first.data)
        target = np.array(into, np.int32)[stored.groups]
        several = np.isin(target, [into[index] for index in joined])
        keys = stored.vertices[several].astype(np.int64) * len(into) + target[several]
        key, row = np.unique(keys, return_inverse=True)
        sums = np.minimum(np.bincount(row.ravel(), stored.weights[several]), 1).astype(np.float32)
        vertex, group = (part.astype(np.int32) for part in np.divmod(key, len(into)))
        attributes.assign(groups, VertexWeights(vertex, group, sums))
        for index in reversed(joined):
            self.first.vertex_groups.remove(groups[index])


def _joined(selections: Sequence[str], changed: Sequence[bool]) -> list[int]:
    """Return the index of the group into which each one goes: of its selection the first one whose name stays, else the
    first one; its own where nothing is joined.
    """
    first: dict[str, int] = {}
    for index in sorted(range(len(selections)), key=lambda index: changed[index]):
        first.setdefault(selections[index], index)
    joined = {name for name, is_changed in zip(selections, changed, strict=True) if is_changed}
    return [first[name] if name in joined else index for index, name in enumerate(selections)]


def _follow(obj: Object, renamed: dict[str, str]) -> None:
    """Let modifiers and shape keys that name a vertex group name the renamed one."""
    keys = obj.data.shape_keys
    users: Iterable[Any] = (*obj.modifiers, *(keys.key_blocks if keys is not None else ()))
    for user in users:
        for kind in user.bl_rna.properties:
            if kind.type == "STRING" and GROUP_OF in kind.identifier and not kind.is_readonly:
                name = getattr(user, kind.identifier)
                if renamed.get(name, name) != name:
                    setattr(user, kind.identifier, renamed[name])


def _rename_points(chosen: Chosen, table: Table, before: p3d.P3d | None, after: p3d.P3d | None) -> None:
    """Rename points. One whose name is that of the file follows the file, ``before`` and ``after``: where selections
    are joined, another of its selections may become the first.
    """
    named: dict[tuple[int, int], tuple[str, str]] = {}
    levels = {mark.motionbridge_arma_mark.level for mark in chosen.marks if mark.motionbridge_arma_mark.kind == "POINT"}
    for level in levels:
        if before is not None and after is not None and 0 <= level < len(before.lods):
            pairs = zip(p3d.named_points(before.lods[level]), p3d.named_points(after.lods[level]), strict=True)
            named |= {(level, old.point): (old.name, new.name) for old, new in pairs}
    for mark in chosen.marks:
        properties = mark.motionbridge_arma_mark
        if properties.kind != "POINT":
            continue
        name = properties.game_name
        old, new = named.get((properties.level, properties.source), ("", ""))
        if old != name or not name:
            new = table.get(name.lower(), name)
        if new == name:
            continue
        stem, _, number = mark.name.rpartition(".")
        if names.shortened(name) in {mark.name, stem if number.isdecimal() else mark.name}:
            mark.name = names.shortened(new)
        properties.game_name = new
