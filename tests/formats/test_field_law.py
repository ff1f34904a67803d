"""The field law: another value in one field of a document gives other bytes, which are read as the changed document;
`diff` names the difference, and `dump` shows it; and what the document is decoded to changes.

Fields for which another part of the law does not hold are listed with the reason, and the lists are checked both ways.
"""

from collections import Counter, defaultdict
from functools import cache
from itertools import chain, starmap, zip_longest
from operator import ne

import numpy as np
import pytest

from addon.core.errors import ReadError, WriteError
from addon.formats import FORMATS
from tests.formats.fields import by_name, facts, leaves, other_values
from tests.formats.models import MODELS
from tests.formats.small_documents import SMALL

NOT_WRITTEN = {
    "the bytes of a chunk or section with a value are written from the value": "Chunk.body Page.body Section.body",
    "derived when the file is read": (
        "Lists.starts PositionTracks.shared_count RotationTracks.shared_count Visuals.entries.depth"
    ),
    "some layouts do not store it": (
        "Faces.rows.colour Faces.rows.sizes Faces.rows.texture Plain.properties_version "
        "StoredEnvelope.keys.parameters StoredEnvelope.keys.tcb StoredEvent.kind SubObject.normals VertexMap.type"
    ),
    "several layouts, versions or encodings store these values alike": (
        "Description.time_size IkData.layout Ltx.encoding Placed.version Surfaces.layout VertexMaps.layout"
    ),
    "only some values leave bytes in their chunk": "Section.tail",
    "the compressed block of a frame is written as long as it is kept": (
        "Binarised.transforms.rotation Binarised.transforms.translation"
    ),
}
# The rest of the file contradicts another value: it is refused, or the bytes are read as something else.
FRAMING = {
    "a version or type decides which other fields there are": (
        "AiMap.version Animation.version AnimationHead.version Faces.rows.textured Header.version IkBone.version "
        "Image.colour_map Image.packed Image.type Lod.signature Ltx.bom Oof.version Page.type Parameters.version "
        "SkeletalMotion.version Surfaces.layout VertexMap.polygon VertexMaps.layout Vertices.format "
        "Visuals.entries.kind"
    ),
    "sizes, counts and offsets of other fields": (
        "AnimationHead.frames AnimationHead.numbers Authorship.time_size Binarised.blocks Binarised.phases_block "
        "Faces.counts Header.size Hog2.start Hog2.table.length Image.height Image.level_count Image.levels.count "
        "Image.width Lists.starts ObjectFlags.size ObjectHeader.sub_objects Parameters.named Parameters.numbered "
        "PositionTracks.shared_count RotationTracks.shared_count RowGroups.counts StoredEnvelope.keys.shape "
        "VertexBuffer.declaration.index VertexBuffer.declaration.offset VertexBuffer.declaration.type "
        "VertexBuffer.declaration.usage Visuals.entries.depth"
    ),
    "an id decides how a chunk or section is read": "Chunk.id Motion.identifier Section.id Visuals.entries.id",
    "bytes where other bytes of the file are expected": (
        "Chunk.body Line.comment Lod.face_texts Section.tail SkeletalMotion.tail Tag.left_out"
    ),
}
NOT_MODELLED = {
    "bytes of unknown meaning": (
        "AiMap.guid AiMap.tail Animation.tail Anm.tail Binarised.tail Bone.tail Bones.tail Build.faces.unknown "
        "Build.faces.unknown_2 Cform.faces.unknown Cform.tail Children.tail ChunkRun.tail Details.header_rest "
        "Details.slots.unknown Details.slots_rest Dm.tail Err.lists.padding Err.rests Lod.header_rest Mesh.tail "
        "Meshes.tail Model.tail MotionLibrary.tail Object.tail Occluders.rest Ogf.tail OgfImage.tail Omf.tail "
        "Oof.tail Options.first Options.second P3d.tail Paa.tail Parameters.tail Plain.tail Section.body "
        "Section.tail SkeletalMotion.tail Skl.tail Stamp.numbers SubObject.unused Visuals.tail Windows.reserved"
    ),
    "layout of the file": (
        "Animation.version Binarised.version Cform.version Chunk.body Chunk.id Geometry.quality Geometry.version "
        "Header.models Image.descriptor Image.origin Level.quality Level.version Lod.version Mark.line_end "
        "Motion.identifier ObjectMotion.version Oof.version P3d.version Plain.magic Plain.properties_version "
        "Section.id SkeletalMotion.version Surface.coordinates Surface.format Tag.name Version.number "
        "VertexBuffer.declaration.index VertexBuffer.declaration.method VertexBuffer.declaration.offset "
        "VertexBuffer.declaration.stream VertexBuffer.declaration.type VertexBuffer.declaration.usage "
        "Visuals.entries.id Visuals.fixed.version"
    ),
    "an export computes it from the model": (
        "Binarised.first_frame_bones Binarised.preload BoneName.centre BoneName.half_size BoneName.rotation "
        "Box.corners Cform.box Cform.faces.adjacent Header.box Header.sphere ObjectHeader.box ObjectHeader.radius "
        "SubObject.center SubObject.radius Track.rotation_crc Track.translation_crc Vertices.rows.binormal "
        "Vertices.rows.tangent Visuals.fixed.sphere"
    ),
    "the game ignores it": (
        "AttachUps.rows.parent AttachUps.rows.position Definition.motion Motion.name Plain.frame_fields "
        "StoredEvent.kind"
    ),
    "an import takes it from the document as it is": (
        "Authorship.creator Authorship.modifier BoneTrack.flags Definition.bone_or_part Definition.flags "
        "Definition.timing Dm.flags Dm.scale ExportScale.scale Header.shader Header.type IkBone.centre_of_mass "
        "IkBone.mass IkBone.material Joint.breaking Joint.damping Joint.flags Joint.friction Joint.limits "
        "Joint.spring Joint.type Level.glows.position Level.glows.radius Level.glows.shader Level.lights.diffuse "
        "Level.lights.direction Level.lights.position Level.lights.range Level.lights.type LodName.name "
        "MotionReferences.names MotionReferences2.names Naming.texts NumberedPart.bones NumberedPart.name "
        "ObjectFlags.flags Part.bones Part.name Partition.name Shape.box Shape.cylinder Shape.flags Shape.sphere "
        "Shape.type SkeletalMotion.bone_or_part SkeletalMotion.flags SkeletalMotion.timing Surface.compiler_shader "
        "Surface.flags Surface.material UserData.text"
    ),
    "decoded together with another file of the level": (
        "Geometry.indices Lists.rows.offset Lists.rows.triangles Lists.rows.vertices Visuals.fixed.index "
        "Visuals.fixed.index_base Visuals.fixed.index_buffer Visuals.fixed.index_count Visuals.fixed.vertex_base "
        "Visuals.fixed.vertex_buffer Visuals.fixed.vertex_count"
    ),
    "Blender does not show it, and an export keeps it": (
        "ActorTransform.adjust_mass ActorTransform.scale ActorTransform.values AiMap.nodes.plane "
        "AnimationHead.frame_time Authorship.created Authorship.modified Build.faces.build_material Build.faces.uv "
        "CompilerShaders.names Description.created Description.creator Description.exported Description.modified "
        "Description.modifier Description.source Description.tool Err.lists.flags ExportScale.adjust_mass "
        "Image.depth Image.identifier Image.name Level.lights.ambient Level.lights.attenuation "
        "Level.lights.controller Level.lights.falloff Level.lights.phi Level.lights.specular Level.lights.theta "
        "Level.portals.back Level.portals.front Locked.value Lod.flags Mark.sphere "
        "Mark.vertices.colour MeshFlags.flags ObjectHeader.details ObjectMotion.first ObjectMotion.fps "
        "ObjectMotion.last ObjectMotion.name OldBone.name OldBone.parent OldBone.placement OldBone.weight_map "
        "Placement.length Placement.offset Placement.rotation Remark.text Sector.portals SubObject.free_space "
        "SubObject.movement SubObject.plane Surface.uv_map Tag.active Tag.data VertexMap.faces VertexMap.points "
        "Visuals.fixed.bias Visuals.fixed.scale"
    ),
    "in the small files nothing depends on it": (
        "Motion.frames StoredEnvelope.keys.parameters StoredEnvelope.keys.shape StoredEnvelope.keys.tcb"
    ),
    "bits that no game knows": "Track.flags",
}
LISTS = {"not written": NOT_WRITTEN, "framing": FRAMING, "not modelled": NOT_MODELLED}
OF_READING = frozenset({"Chunk.offset", "Motion.offset"})
"""Fields that say where in the file something was read."""
NOT_STORED = OF_READING | {"Chunk.body"}
SAMPLE, MANY = (3, 4), (20, 20)
"""How many leaves of a field are judged in each file, and in how many of the smallest files that have it."""
RARE = {
    "Binarised.transforms.rotation",
    "Binarised.transforms.translation",
    "Line.comment",
    "Section.body",
    "Section.id",
    "Section.tail",
    "Visuals.entries.depth",
}
"""Fields that break a part of the law in few leaves, which `SAMPLE` does not contain."""


def listed(part: str) -> list[str]:
    return [name for names in LISTS[part].values() for name in names.split()]


def verdict(document, leaf, model, lines) -> set[str]:
    """Return which parts of the law are broken by the first other value that can be written and read; ``lines``: the
    dump of the document.
    """
    module = document.format.module
    for value in other_values(leaf):
        try:
            changed = leaf.put(value)
            written, recomposed = module.write(changed), module.recompose(changed)
            again = document.read(written)
        except (ReadError, WriteError):
            continue
        except (IndexError, KeyError, OverflowError, ValueError):
            return {"framing"}  # other fields contradict it
        if written == document.data:
            return {"not written"}
        if written != recomposed or facts(changed, NOT_STORED) != facts(again, NOT_STORED):
            return {"framing"}
        walk = document.format.walk
        assert next(walk.differences(document.value, changed), ""), (document.name, leaf.name)
        assert any(starmap(ne, zip_longest(walk.dump(changed), lines))), (document.name, leaf.name)
        return {"modelled" if decoded(document, changed) != model else "not modelled"}
    return {"refused"}


def decoded(document, value):
    decode = MODELS.get(document.format.name)
    try:
        return facts(decode(value)) if decode is not None else []
    except ReadError as refusal:
        return str(refusal)


@cache
def broken(name: str, most: tuple[int, int]) -> dict[str, set[str]]:
    """Return the fields of a format of which a leaf breaks each part of the law ("not modelled": all leaves)."""
    result, files = defaultdict(set), Counter()
    for document in sorted((entry for entry in SMALL if entry.format.name == name), key=lambda entry: len(entry.data)):
        model, lines = decoded(document, document.value), list(document.format.walk.dump(document.value))
        for field, sampled in by_name(leaves(document.value, most[0]), most[0]).items():
            files[field] += 1
            if field not in OF_READING and files[field] <= most[1]:
                for part in set().union(*(verdict(document, leaf, model, lines) for leaf in sampled)):
                    result[part].add(field)
    result["framing"] |= result["refused"] - result["modelled"] - result["not modelled"]
    result["not modelled"] = result["not modelled"] - result["modelled"] if name in MODELS else set()
    return result


NAMES = [known.name for known in FORMATS]
parts = pytest.mark.parametrize("part", LISTS)
names = pytest.mark.parametrize("name", NAMES)


def unlisted(name: str, most: tuple[int, int]) -> list[tuple[str, str]]:
    return [(part, field) for part in LISTS for field in sorted(broken(name, most)[part] - set(listed(part)))]


@names
def test_another_value_in_a_field_is_written_read_named_and_modelled(name):
    assert not unlisted(name, SAMPLE)


@pytest.mark.deep
@names
def test_another_value_in_any_field_is_written_read_named_and_modelled(name):
    assert not unlisted(name, MANY)


@names
def test_nan_in_any_field_is_reported(name):
    for document in (document for document in SMALL if document.format.name == name):
        usual = set(document.lines(document.data))
        for leaf in chain.from_iterable(by_name(leaves(document.value, SAMPLE[0]), SAMPLE[0]).values()):
            if isinstance(leaf.value, np.floating) and np.isfinite(leaf.value):
                try:
                    written = document.format.module.write(leaf.put(type(leaf.value)(np.nan)))
                except WriteError:
                    continue
                if written != document.data:
                    lines = " ".join(set(document.lines(written)) - usual)
                    assert "nan" in lines.lower(), (document.name, leaf.name)


@parts
def test_a_field_is_listed_only_while_it_breaks_the_law(part):
    assert len(listed(part)) == len(set(listed(part)))
    assert set(listed(part)) - RARE == set().union(*(broken(name, SAMPLE)[part] for name in NAMES)) - RARE


@pytest.mark.deep
@parts
def test_a_rare_field_is_listed_only_while_it_breaks_the_law(part):
    assert set(listed(part)) == set().union(*(broken(name, MANY)[part] for name in NAMES))


def test_every_format_has_a_small_file_and_every_model_a_format():
    assert {document.format.name for document in SMALL} == set(NAMES) >= MODELS.keys()
