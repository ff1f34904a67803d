"""Rename Selections: in the scene, and in the file, read by a reader of its own."""

import shutil
import struct

import bpy
import pytest

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma import selections
from tests.blender.test_p3d_export import exported, load, man  # noqa: F401 (a fixture)
from tests.blender.test_ui import refusal
from tests.real_files import SAMPLES, corpus_files

rename = bpy.ops.motionbridge.arma_rename_selections


def tags_of(data):
    """Yield LOD, begin and end of the name, and content of each tag of a file with LODs of Arma (P3DM)."""
    (lods,) = struct.unpack_from("<I", data, 8)
    at = 12
    for lod in range(lods):
        assert data[at : at + 4] == b"P3DM"
        size, _, points, normals, faces = struct.unpack_from("<5I", data, at + 4)
        at += size + 16 * points + 12 * normals
        for _ in range(faces):
            at = data.index(b"\0", data.index(b"\0", at + 4 + 4 * 16 + 4) + 1) + 1
        assert data[at : at + 4] == b"TAGG"
        at += 4
        name = b""
        while name != b"#EndOfFile#":
            begin, end = at + 1, data.index(b"\0", at + 1)
            name = data[begin:end]
            (length,) = struct.unpack_from("<I", data, end + 1)
            at = end + 5 + length
            yield lod, begin, end, data[end + 5 : at]
        at += 4


def names_of(data):
    """Return (LOD, name) -> content of the selections that can be renamed."""
    rows = [(lod, data[begin:end].decode("cp1252"), content) for lod, begin, end, content in tags_of(data)]
    return {(lod, name): own for lod, name, own in rows if name[:1] not in "#-." and not name.startswith("proxy:")}


def spliced(data, table):
    """Return the file with other names of selections, and nothing else changed."""
    result, done = b"", 0
    for _, begin, end, _ in tags_of(data):
        name = data[begin:end].decode("cp1252")
        result += data[done:begin] + table.get(name.lower(), name).encode("cp1252")
        done = end
    return result + data[done:]


def text(table):
    """A text of the file with a table."""
    lines = [f"{old}\t{new}\n" for old, new in table.items()]
    result = bpy.data.texts.new("names")
    result.write("".join(["// old, new\n", *lines]))
    return result.name


@pytest.mark.parametrize("levels", [{"FIRST"}, {"VISUAL", "VIEWS", "SHADOW", "GEOMETRY", "MEMORY", "OTHER"}])
@pytest.mark.parametrize(
    "file", [SAMPLES / "arma/man.p3d", *corpus_files("p3d/a3ob_crate.p3d", "p3d_vendor/sample_building.p3d")]
)
def test_only_the_names_differ_in_the_file(file, levels, tmp_path):
    data = file.read_bytes()
    names = list(dict.fromkeys(name.lower() for _, name in names_of(data)))
    first, second, third = (names * 3)[:3]
    swapped = {first: second, second: first} if second != first else {}
    load(file, levels=levels)
    assert rename(table=text(swapped | {third: "Ä new name"})) == {"FINISHED"}
    assert exported(tmp_path) == spliced(data, swapped | {third: "Ä new name"})
    back = {"Ä new name": third} | swapped
    assert rename(table=text(back)) == {"FINISHED"}
    assert exported(tmp_path) == spliced(data, {name: name for name in (first, second, third)})


def test_a_table_that_renames_nothing_changes_nothing(man, tmp_path):  # noqa: F811
    load(man)
    assert rename(table=text({"pelvis": "Pelvis", "nobody": "somebody"})) == {"CANCELLED"}
    assert rename() == {"CANCELLED"}
    assert rename(selections=[{"name": "Pelvis", "new_name": " ", "lods": 0}]) == {"CANCELLED"}
    assert exported(tmp_path) == man.read_bytes()


def test_names_that_were_typed_stay_where_the_table_is_read_already(man, tmp_path):  # noqa: F811
    load(man)
    typed = [{"name": "Pelvis", "new_name": "hips", "lods": 0}, {"name": "spine", "new_name": "typed ", "lods": 0}]
    table = text({"Spine": "torso"})
    assert rename(table=table, table_read=table, selections=typed) == {"FINISHED"}
    assert exported(tmp_path) == spliced(man.read_bytes(), {"pelvis": "hips", "spine": "typed"})


def test_bones_keep_their_groups_and_a_selection_moves_with_the_bone_of_its_new_name(man, samples, tmp_path):  # noqa: F811
    shutil.copy(samples / "arma/model.cfg", man.parent)
    load(man, rig="NEW")
    obj = bpy.context.view_layer.objects.active
    groups = [group.name for group in obj.vertex_groups]
    left, right = "LeftFoot", "RightFoot"
    assert rename(table=text({left: right, right: left, "Spine": "torso"})) == {"FINISHED"}
    assert bpy.context.window_manager.motionbridge_report.count("model.cfg is not changed and names") == 1
    renamed = [group.name for group in obj.vertex_groups]
    assert renamed == [{left: right, right: left}.get(name, name) for name in groups]
    assert selections.selection_of(obj, "Spine") == "torso"
    expected = spliced(man.read_bytes(), {left.lower(): right, right.lower(): left, "spine": "torso"})
    assert exported(tmp_path) == expected


def test_selections_that_become_one_need_merge_and_get_the_sum_of_weights(man, tmp_path):  # noqa: F811
    chosen = load(man)
    obj = chosen.levels[0]
    names = [group.name for group in obj.vertex_groups]
    table = text({"LeftFoot": "foot", "RightFoot": "FOOT", "LeftUpLeg": "Spine"})
    message = refusal(rename, table=table)
    assert "selections would become one in 2 LODs: Spine + LeftUpLeg → Spine, LeftFoot + RightFoot → foot" in message
    assert "tick Merge" in message
    assert exported(tmp_path) == man.read_bytes()
    before = weights(man.read_bytes())
    assert rename(table=table, merge=True) == {"FINISHED"}
    assert [group.name for group in obj.vertex_groups] == [
        "foot" if name == "LeftFoot" else name for name in names if name not in {"RightFoot", "LeftUpLeg"}
    ]
    after = weights(exported(tmp_path))
    for level, own in before.items():
        for name, joined in (("foot", ("LeftFoot", "RightFoot")), ("Spine", ("LeftUpLeg", "Spine"))):
            if all(source in own for source in joined):
                expected = (own[joined[0]] + own[joined[1]]).clip(0, 1)
                assert abs(after[level][name] - expected).max() < 1 / 200
        same = set(own) - {"LeftFoot", "RightFoot", "LeftUpLeg", "Spine"}
        assert all((own[name] == after[level][name]).all() for name in same)
        assert len(after[level]) == len(own) - 2


def test_selections_that_differ_in_case_only_become_one_by_merge_alone(man, tmp_path):  # noqa: F811
    obj = load(man).levels[0]
    for name, vertex in (("Camo", 0), ("camo", 1)):
        obj.vertex_groups.new(name=name).add([vertex], 1.0, "REPLACE")
    before = exported(tmp_path)
    assert "selections would become one in 1 LOD: Camo + camo → net" in refusal(rename, table=text({"camo": "net"}))
    assert exported(tmp_path) == before
    assert rename(table=text({"LeftFoot": "foot"})) == {"FINISHED"}
    assert {"Camo", "camo"} <= {name for lod, name in names_of(exported(tmp_path)) if lod == 0}
    assert rename(table=text({"camo": "net"}), merge=True) == {"FINISHED"}
    names = [name.lower() for lod, name in names_of(exported(tmp_path)) if lod == 0]
    assert (names.count("net"), names.count("camo")) == (1, 0)


def weights(data):
    return {lod.name: p3d.selection_weights(lod) for lod in p3d.read(data, "", Report()).lods}


def test_lods_that_share_a_mesh_are_edited_once_and_each_keeps_its_own_names(man, tmp_path):  # noqa: F811
    chosen = load(man)
    obj = chosen.levels[0]
    other = obj.copy()
    bpy.context.scene.collection.objects.link(other)
    other.motionbridge_arma_level.resolution = 2
    other.motionbridge_arma_level.index = -1
    row = other.motionbridge_arma_level.selections.add()
    row.name, row.value = "Spine", "back"
    obj.modifiers.new("Mask", "MASK").vertex_group = "Pelvis"
    assert rename(table=text({"Pelvis": "hips", "back": "rear"})) == {"FINISHED"}
    assert "hips" in obj.vertex_groups
    assert obj.modifiers["Mask"].vertex_group == "hips"
    obj.modifiers.clear()
    assert selections.selection_of(other, "Spine") == selections.selection_of(obj, "Spine").replace("Spine", "rear")
    lods = p3d.read(exported(tmp_path), "", Report()).lods
    first, second = ([name for name, _, _ in lod.selections() if "proxy" not in name] for lod in lods[:2])
    assert {"hips", "Spine"} < set(first)
    assert {"hips", "rear"} < set(second)


def test_it_is_refused_in_edit_mode_and_for_what_is_no_table(man, tmp_path):  # noqa: F811
    load(man)
    for content, words in (
        (b"\xff\xfe\0a\0", "is not a text in UTF-8"),
        (b"Pelvis\n", "line 1 of the table is not two names: 'Pelvis'"),
        (b"# a\nPelvis,a\npelvis;b", "lines 2 and 3 of the table both rename 'pelvis'"),
        (b"Pelvis,#a", "'#a' cannot be the name of a selection"),
        ("Pelvis,таз".encode(), "is not in the game's code page"),
    ):
        path = tmp_path / "names.txt"
        path.write_bytes(content)
        assert words in refusal(rename, table=str(path))
    assert "no such file" in refusal(rename, table=str(tmp_path / "missing.csv")).lower()
    assert exported(tmp_path) == man.read_bytes()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not rename.poll()
