"""Models of Arma in Blender: faces, weights, points as they are in the file; bodies that follow animations."""

import os
import struct
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.core.errors import ReadError
from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats.arma import lod_kinds, p3d
from addon.formats.xray.game_tree import tree_of
from addon.games.arma.animation_import import import_animation
from addon.games.arma.model_import import KINDS, import_model
from addon.games.arma.options import AnimationImportOptions, Levels, ModelImportOptions
from addon.games.arma.textures import Surfaces, colour_of
from tests.blender.rtm_scene import raw_matrices
from tests.blender.scenes import column
from tests.blender.test_ui import installed, last_report
from tests.real_files import CORPUS, corpus_files

SAMPLES = Path(__file__).parents[1] / "samples" / "arma"
MAN = SAMPLES / "man.p3d"
PAIRS = [
    ("agm_fastroping_man", "agm_fastroping", "captive_model.cfg"),
    ("agm_fastroping_man", "captive_crouch_start", "captive_model.cfg"),
    ("dog_skeleton_pivots", "dog_runfront", "dog_model.cfg"),
    ("dog_skeleton_pivots", "dog_swimfront_big", "dog_model.cfg"),
]


def load(file, rig=None, report=None, **options):
    if "levels" in options:
        options["levels"] = frozenset(options["levels"])
    return import_model(
        bpy.context, rig, str(file), ModelImportOptions(**options), Report() if report is None else report
    )


def animate(file, rig=None, **options):
    return import_animation(bpy.context, rig, str(file), options=AnimationImportOptions(**options), report=Report())


def raw_weights(lod) -> dict[str, np.ndarray]:
    """Selection in lower case -> weight of each point, by the bytes: 1 is whole, 2 to 255 fall."""
    result = {}
    for tag in lod.tags:
        if not tag.name.startswith(b"#") and not tag.name.startswith((b"-", b".", b"proxy:")):
            byte = np.frombuffer(tag.data, np.uint8)[: len(lod.points)].astype(int)
            weight = np.where(byte == 0, 0.0, np.where(byte == 1, 1.0, (256 - byte) / 255))
            result[tag.name.decode("latin-1").lower()] = weight
    return result


def skinned(lod, bones, matrices) -> np.ndarray:
    """(points, 3) what the engine makes of the points: the sum over bones of weight x (matrix x point)."""
    points = lod.points["position"].astype(np.float64)[:, [0, 2, 1]]
    rest = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    weights = raw_weights(lod)
    total, moved = np.zeros(len(points)), np.zeros((len(points), 3))
    for bone, matrix in zip(bones, matrices, strict=True):
        weight = weights.get(bone.lower())
        if weight is not None:
            total += weight
            moved += weight[:, None] * (rest @ matrix.T)[:, :3]
    still = total == 0
    return np.where(still[:, None], points, moved / np.where(still, 1, total)[:, None])


def with_followers(rig, bones, matrices) -> tuple[list[str], np.ndarray]:
    """The bones of an armature (named as in the game) and their matrices; those without one follow their parents."""
    row = {bone.lower(): number for number, bone in enumerate(bones)}
    result = []
    for bone in rig.data.bones:
        line = [bone, *bone.parent_recursive]
        number = next((row[above.name.lower()] for above in line if above.name.lower() in row), None)
        result.append(np.eye(4) if number is None else matrices[number])
    return [bone.name for bone in rig.data.bones], np.array(result)


def evaluated(obj) -> np.ndarray:
    """(vertices, 3) in the world, modifiers applied."""
    seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = seen.to_mesh()
    points = column(mesh.vertices, "co", 3)
    seen.to_mesh_clear()
    world = np.array(obj.matrix_world, np.float64)
    return points @ world[:3, :3].T + world[:3, 3]


def first_lod(file):
    return p3d.read(Path(file).read_bytes(), str(file), Report()).lods[0]


def pairs() -> list:
    """Bodies and what moves them; without the real files one parameter that is skipped."""
    ours = pytest.param(MAN, SAMPLES / "walk.rtm", SAMPLES / "model.cfg", id="man")
    if CORPUS is None:
        return [
            ours,
            pytest.param(None, None, None, id="no corpus", marks=pytest.mark.skip("MOTIONBRIDGE_CORPUS is not set")),
        ]
    folders = CORPUS / "p3d", CORPUS / "rtm"
    return [
        ours,
        *(
            pytest.param(folders[0] / f"{model}.p3d", folders[1] / f"{move}.rtm", folders[1] / config, id=move)
            for model, move, config in PAIRS
        ),
    ]


@pytest.mark.parametrize(("model", "move", "config"), pairs())
@pytest.mark.parametrize("created", ["by the animation", "by the model"])
def test_the_body_is_where_the_engine_would_put_it(model, move, config, created):
    if created == "by the animation":
        rig = animate(move).rig
        body = load(model, rig).meshes[0]
        action = rig.animation_data.action
    else:
        built = load(model, new_rig=True, config=str(config))
        rig, body = built.rig, built.meshes[0]
        action = animate(move, rig).action
    assert rig.animation_data.action == action
    names, phases, matrices = raw_matrices(move.read_bytes())
    lod = first_lod(model)
    assert len(body.data.vertices) == len(lod.points)
    worst, furthest = 0.0, 0.0
    rest = lod.points["position"][:, [0, 2, 1]]
    for frame in range(0, len(phases), max(len(phases) // 6, 1)):
        bpy.context.scene.frame_set(frame)
        wanted = skinned(lod, *with_followers(rig, names, matrices[frame]))
        worst = max(worst, np.abs(evaluated(body) - wanted).max())
        furthest = max(furthest, np.abs(wanted - rest).max())
    assert furthest > 0.05, "it moves"
    assert worst < 1e-4


def small_lod(resolution=1.0, *, points=6, faces=((0, 1, 2, 3), (0, 2, 1), (0, 1, 1, 2), (3, 3, 4)), tags=()) -> bytes:
    """A level of so many points in a row, each face as its points; normal 0 everywhere but at the first corner."""
    data = b"P3DM" + struct.pack("<IIIIII", 28, 0x100, points, 2, len(faces), 0)
    data += b"".join(struct.pack("<3fI", point, point % 3, point % 2, 0) for point in range(points))
    data += struct.pack("<6f", 0, 0, -1, 0, -1, 0)
    for face in faces:
        slots = [*face, 0, 0][:4]
        corners = b"".join(
            struct.pack("<II2f", point, 0 if slot else 1, point / 8, slot / 4) for slot, point in enumerate(slots)
        )
        data += struct.pack("<I", len(face)) + corners + struct.pack("<I", 0) + b"tex\\a_co.paa\0tex\\a.rvmat\0"
    data += b"TAGG"
    for name, body in (*tags, (b"#EndOfFile#", b"")):
        data += b"\1" + name + b"\0" + struct.pack("<I", len(body)) + body
    return data + struct.pack("<f", resolution)


def small_model(*lods) -> bytes:
    return b"MLOD" + struct.pack("<II", 0x101, len(lods)) + b"".join(lods)


def selection(points: str, faces: str = "0000") -> bytes:
    """Bytes of a selection: each sign a point or face, 1 whole, 0 outside, h half."""
    return bytes({"0": 0, "1": 1, "h": 128}[sign] for sign in points + faces)


@pytest.fixture
def written(tmp_path):
    def write(*lods, name="thing.p3d"):
        path = tmp_path / name
        path.write_bytes(small_model(*lods))
        return path

    return write


def test_faces_stay_what_they_are(written):
    report = Report()
    sharp = struct.pack("<6I", 1, 0, 2, 3, 4, 5)
    mesh = load(written(small_lod(tags=[(b"#SharpEdges#", sharp)])), report=report).meshes[0]
    data = mesh.data
    assert [tuple(face.vertices) for face in data.polygons] == [(0, 1, 2, 3), (0, 2, 1), (0, 1, 2)]
    assert data.attributes["file_face"].data[2].value == 2
    assert "1 face without area is left out (thing)" in report.lines()
    assert [tuple(uv.vector) for uv in data.uv_layers[0].uv][:4] == [(0, 1), (0.125, 0.75), (0.25, 0.5), (0.375, 0.25)]
    normals = np.array([normal.vector for normal in data.corner_normals])[:4]
    assert np.abs(normals - [[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0]]).max() < 1e-3, "one each corner"
    marked = {tuple(sorted(edge.vertices)) for edge in data.edges if edge.use_edge_sharp}
    if bpy.app.version >= (4, 5, 0):
        assert marked == {(0, 1), (2, 3)}
    else:
        assert marked >= {(0, 1), (2, 3)}, "older Blenders mark the edges where normals part, too"
    assert len(data.vertices) == 6, "points without faces as well"
    assert tuple(data.vertices[5].co) == (5.0, 1.0, 2.0)


def test_selections_are_vertex_groups_and_properties_are_kept(written):
    tags = [
        (b"Arm", selection("1h0000")),
        (b"arm", selection("00h000")),
        (b"-hidden", selection("111111")),
        (b"#Property#", b"class".ljust(64, b"\0") + b"house".ljust(64, b"\0")),
        (b"#Mass#", struct.pack("<6f", *range(6))),
    ]
    mesh = load(written(small_lod(1e13, tags=tags)), levels=[Levels.GEOMETRY]).meshes[0]
    assert [group.name for group in mesh.vertex_groups] == ["Arm", "arm"]
    weights = [[round(entry.weight, 4) for entry in vertex.groups] for vertex in mesh.data.vertices]
    assert weights == [[1.0], [round(128 / 255, 4)], [round(128 / 255, 4)], [], [], []]
    level = mesh.motionbridge_arma_level
    assert (level.is_level, level.resolution, mesh.display_type) == (True, np.float32(1e13), "WIRE")
    assert [(entry.name, entry.value) for entry in level.properties] == [("class", "house")]
    assert [entry.value for entry in mesh.data.attributes["mass"].data] == [0, 1, 2, 3, 4, 5]


def test_levels_are_chosen_by_what_they_are_for(written):
    file = written(
        small_lod(2.0, points=0, faces=()), small_lod(3.0), small_lod(5.0), small_lod(1100.0), small_lod(1e4),
        small_lod(7e15), small_lod(1e15, faces=()), small_lod(1.1e4), small_lod(1.4e16),
    )  # fmt: skip

    def kinds(*levels):
        return [
            (mesh.name, lod_kinds.name_of(mesh.motionbridge_arma_level.resolution))
            for mesh in load(file, levels=levels).meshes
        ]

    assert [kind for _, kind in kinds(Levels.FIRST)] == ["Resolution 3"]
    assert len(kinds(Levels.VISUAL)) == 2
    assert [kind for _, kind in kinds(Levels.VIEWS, Levels.SHADOW)] == [
        "View Pilot",
        "Shadow Volume 0",
        "Shadow Buffer 0",
    ]
    assert [kind for _, kind in kinds(Levels.FIRST, Levels.GEOMETRY)] == [
        "Resolution 3",
        "Fire Geometry",
        "View Pilot Fire Geometry",
    ]
    with pytest.raises(ReadError, match="none of the chosen LODs, or they are empty") as refusal:
        load(file, levels=[Levels.OTHER])
    assert "Shadow Volume 0" in refusal.value.remedy
    grouped = [kind for group in KINDS.values() for kind in group]
    assert sorted(grouped) == sorted([*lod_kinds.BY_WORD, lod_kinds.UNKNOWN])


def test_one_level_is_selected_so_that_edit_mode_and_transforms_leave_the_others_alone(written):
    done = load(written(small_lod(1.0), small_lod(1e13)), levels=[Levels.VISUAL, Levels.GEOMETRY])
    assert [mesh.select_get() for mesh in done.meshes] == [True, False]
    bpy.ops.object.mode_set(mode="EDIT")
    assert [mesh.mode for mesh in done.meshes] == ["EDIT", "OBJECT"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.transform.translate(value=(1, 0, 0))
    assert [mesh.location.x for mesh in done.meshes] == [1, 0]
    file = written(small_lod(1e15, points=2, faces=()))
    points = load(file, levels=[Levels.MEMORY]).points
    assert [point.select_get() for point in points] == [True, True], "points of one level"


def test_without_a_visual_level_the_first_one_is_shown(written):
    report = Report()
    done = load(written(small_lod(1e13)), report=report)
    assert done.meshes[0].motionbridge_arma_level.resolution == np.float32(1e13)
    assert "no Resolution LOD" in report.lines()[0]


def test_memory_points_and_proxies_are_empties_that_follow_their_bones(written):
    proxy = (b"proxy:\\a3\\flag.001", selection("111000", "0100"))
    memory = small_lod(1e15, faces=(), tags=[(b"eye", selection("100000", "")), (b"Spine", selection("100000", ""))])
    file = written(small_lod(tags=[proxy, (b"Spine", selection("111111"))]), memory)
    rig = animate(SAMPLES / "walk.rtm").rig
    done = load(file, rig, levels=[Levels.FIRST, Levels.MEMORY])
    assert [point.motionbridge_arma_mark.game_name for point in done.points] == ["eye", "", "", "", "", ""]
    assert [tuple(face.vertices) for face in done.meshes[0].data.polygons] == [(0, 1, 2, 3), (0, 1, 2)]
    flag = done.proxies[0]
    assert (flag.name, flag.motionbridge_arma_mark.kind) == ("flag.001", "PROXY")
    assert {below.name for below in bpy.data.collections} >= {"thing Points", "thing Proxies"}
    assert (done.points[0].parent_bone, flag.parent_bone, done.points[1].parent) == ("Spine", "Spine", rig)
    names, _, matrices = raw_matrices((SAMPLES / "walk.rtm").read_bytes())
    bpy.context.scene.frame_set(1)
    spine = matrices[1][names.index("Spine")]
    assert np.abs(spine - np.eye(4)).max() > 0.01
    assert np.abs(np.array(done.points[0].matrix_world)[:3, 3] - spine[:3, 3]).max() < 1e-5, "of the point 0 0 0"
    # The triangle's corners are (0, 0, 0), (2, 0, 2), (1, 1, 1): the longest side is the first.
    assert np.abs(np.array(flag.matrix_world)[:3, 3] - (spine @ [1, 1, 1, 1])[:3]).max() < 1e-5
    assert not load(file, rig, proxies=False).proxies


def test_more_points_than_a_tool_names_are_a_mesh(written):
    many = small_lod(1e15, points=5000, faces=(), tags=[(b"eye", b"\1" * 5000)])
    done = load(written(many), levels=[Levels.MEMORY])
    assert (len(done.points), len(done.meshes), len(done.meshes[0].data.vertices)) == (0, 1, 5000)


def test_pictures_beside_the_model_are_shown(written, tmp_path):
    report = Report()
    file = written(small_lod(), name="first.p3d")
    plain = load(file, report=report).meshes[0]
    assert not [node for node in plain.data.materials[0].node_tree.nodes if node.type == "TEX_IMAGE"]
    assert sum("1 texture is missing: add the game" in line for line in report.lines()) == 1
    names = plain.data.materials[0].motionbridge_material
    assert (plain.data.materials[0].name, names.texture, names.shader) == ("a_co", "tex\\a_co.paa", "tex\\a.rvmat")
    (tmp_path / "Tex").mkdir()
    picture = bpy.data.images.new("x", 4, 4)
    picture.filepath_raw, picture.file_format = str(tmp_path / "Tex" / "A_co.png"), "PNG"
    picture.save()
    report = Report()
    mesh = load(file, report=report).meshes[0]
    used = [node.image for node in mesh.data.materials[0].node_tree.nodes if node.type == "TEX_IMAGE"]
    assert [Path(image.filepath).name for image in used] == ["A_co.png"]
    assert not any("PAA" in line for line in report.lines())


def picture_file(folder: Path, name: str = "a_co.png") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"a picture")
    return folder / name


def test_a_folder_that_may_be_listed_but_not_entered_holds_no_texture(tmp_path, monkeypatch):
    picture_file(tmp_path / "data")
    picture_file(tmp_path / "textures")
    model, tree = tmp_path / "gun.p3d", tree_of(tmp_path / "gun.ogf", [InstalledGame(tmp_path)], Report())
    stat = os.stat

    def refuse(path, *arguments, **options):
        if Path(os.fsdecode(path)).name == "a_co.png":
            raise PermissionError(13, "Permission denied")
        return stat(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refuse)
    assert Surfaces(model, True).picture("data\\a_co.paa") is None
    assert tree.find_texture("a_co") is None


def test_textures_are_not_looked_for_outside_the_project(tmp_path):
    """A model may name any path; ancestors of a project, and other drives, are not its business."""
    model = tmp_path / "home" / "mods" / "addon" / "gun" / "gun.p3d"
    outside = picture_file(tmp_path / "home" / "private")
    beside = picture_file(tmp_path / "home" / "mods" / "private")
    inside = picture_file(model.parent.parent / "data")
    textures = ("home\\private\\a_co.paa", "private\\a_co.paa", "..\\..\\..\\private\\a_co.paa")

    def result(*textures):
        return [Surfaces(model, True).picture(texture) for texture in textures]

    model.parent.mkdir(parents=True)
    assert result(*textures, "mods\\addon\\data\\a_co.paa") == [None] * 4, "nothing says what the project is"
    (model.parent.parent / "config.cpp").write_text("")
    assert result(*textures, "mods\\addon\\data\\a_co.paa") == [None, None, None, inside]
    (model.parents[2] / ".git").mkdir()
    assert result(*textures) == [beside, beside, beside], "the project's own folder of that name"
    assert result("C:\\addon\\data\\a_co.paa", "p:\\addon\\data\\a_co.paa", "/addon/data/a_co.paa") == [
        *(None, inside, inside)
    ]
    assert result("\\\\server\\addon\\data\\a_co.paa", "addon\\" * 500 + "data\\a_co.paa") == [inside] * 2
    elsewhere = tmp_path / "elsewhere" / "gun.p3d"
    elsewhere.parent.mkdir()
    assert Surfaces(elsewhere, True).picture("home\\private\\a_co.paa") is None
    work = Surfaces(elsewhere, True, [InstalledGame(tmp_path / "home")])
    assert work.picture("P:\\private\\a_co.paa") == outside
    assert Surfaces(model, True, [InstalledGame(tmp_path / "home")]).picture("private\\a_co.paa") == beside


def test_the_games_of_the_preferences_are_searched(written, tmp_path):
    picture = bpy.data.images.new("x", 4, 4)
    folder = tmp_path / "work" / "tex"
    folder.mkdir(parents=True)
    picture.filepath_raw, picture.file_format = str(folder / "a_co.png"), "PNG"
    picture.save()
    (tmp_path / "models").mkdir()
    file = written(small_lod(), name="models/first.p3d")
    (folder / "config.cpp").touch()

    def used():
        assert bpy.ops.import_scene.arma_p3d(filepath=str(file)) == {"FINISHED"}
        nodes = bpy.context.active_object.data.materials[0].node_tree.nodes
        return [Path(node.image.filepath) for node in nodes if node.type == "TEX_IMAGE"]

    assert used() == []
    with installed(tmp_path / "work"):
        assert used() == [folder / "a_co.png"]


@pytest.mark.parametrize(
    ("texture", "colour"),
    [
        ("#(argb,8,8,3)color(1,0.5,0,1.0,co)", (1, 0.5, 0, 1)),
        ("#(rgb,8,8,3)color(2,-1,0,1)", (1, 0, 0, 1)),
        ("#(rgb,8,8,3)color(nan,inf,-inf,1)", (0, 1, 0, 1)),
        ("#(argb,8,8,3)color(a,b,c,d)", None),
        ("#(argb,8,8,3)color(1,1)", None),
        ("#(argb,256,256,1)perlinnoise(8,8,0,1)", None),
        ("a_co.paa", None),
    ],
)
def test_a_texture_that_is_a_colour(texture, colour):
    assert colour_of(texture) == colour


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ODOL" + struct.pack("<I", 73) + bytes(40), "binarised model"),
        (b"", "empty"),
        (b"MLOD" + struct.pack("<II", 0x101, 0), "no LODs"),
        (small_model(small_lod())[:200], "offset"),
        (small_model(small_lod(points=0, faces=())), "no LOD of the model has points"),
    ],
)
def test_refusals_make_nothing(data, message, tmp_path):
    path = tmp_path / "bad.p3d"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=message):
        load(path, levels=[Levels.FIRST, Levels.VISUAL])
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.import_scene.arma_p3d(filepath=str(path))
    assert not bpy.data.meshes
    assert not bpy.data.objects


def test_a_face_at_a_missing_point_is_reported_and_not_shown(written):
    path = written(small_lod(faces=((0, 1, 77), (0, 1, 2))))
    assert bpy.ops.import_scene.arma_p3d(filepath=str(path)) == {"FINISHED"}
    assert [len(mesh.polygons) for mesh in bpy.data.meshes] == [1]
    assert "faces at points or normals that do not exist are kept, but not shown (LOD 0: 1)" in last_report()


def test_numbers_that_are_not_one_do_no_harm(written):
    body = bytearray(small_model(small_lod()))
    at = body.index(b"P3DM") + 28
    body[at : at + 12] = struct.pack("<3f", float("nan"), float("inf"), 1e38)
    normals = at + 6 * 16
    body[normals : normals + 12] = struct.pack("<3f", float("nan"), 0, 0)
    path = written(small_lod())
    path.write_bytes(bytes(body))
    mesh = load(path).meshes[0]
    bpy.context.view_layer.update()
    assert len(mesh.data.polygons) == 3


def test_the_operator_takes_the_active_armature_where_it_fits(written):
    rig = animate(SAMPLES / "walk.rtm").rig
    assert bpy.ops.import_scene.arma_p3d(filepath=str(MAN)) == {"FINISHED"}
    man = bpy.context.view_layer.objects.active
    assert (man.parent, [change.object for change in man.modifiers]) == (rig, [rig])
    assert bpy.ops.import_scene.arma_p3d(filepath=str(written(small_lod()))) == {"FINISHED"}
    item = bpy.context.view_layer.objects.active
    assert (item.name, item.parent, len(item.modifiers)) == ("thing", None, 0)


def test_the_operator_in_edit_mode_and_in_an_empty_scene():
    assert bpy.ops.import_scene.arma_p3d(filepath=str(MAN), rig="NEW") == {"FINISHED"}
    man = bpy.context.view_layer.objects.active
    assert (man.name, man.parent.type, len(man.parent.data.bones)) == ("man", "ARMATURE", 7)
    heads = {bone.name: tuple(bone.head_local) for bone in man.parent.data.bones}
    assert np.allclose(heads["LeftFoot"], (0.125, 0, 0.5), atol=1e-6), "of the memory level"
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.import_scene.arma_p3d(filepath=str(MAN), rig="ACTIVE") == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    assert len(man.parent.children) == 2
    man.parent.select_set(True)
    bpy.context.view_layer.objects.active = man.parent
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.import_scene.arma_p3d(filepath=str(MAN), rig="NEW", config=str(SAMPLES / "model.cfg")) == {
        "FINISHED"
    }
    assert len([obj for obj in bpy.data.objects if obj.type == "ARMATURE"]) == 2


def test_no_armature_without_a_word_of_its_bones(written):
    with pytest.raises(ReadError, match=r"no model\.cfg in the folder"):
        load(written(small_lod()), new_rig=True)
    with pytest.raises(ReadError, match=r"no skeleton of this model\.cfg"):
        load(written(small_lod()), new_rig=True, config=str(SAMPLES / "model.cfg"))
    with pytest.raises(RuntimeError, match="no armature is active"):
        bpy.ops.import_scene.arma_p3d(filepath=str(MAN), rig="ACTIVE")
    assert not bpy.data.objects


@pytest.mark.parametrize("file", corpus_files("p3d/*.p3d"))
def test_real_models(file):
    everything = frozenset(Levels)
    if "odol" in file.name or file.name.startswith("odd_"):
        with pytest.raises(ReadError):
            load(file, levels=everything)
        assert not bpy.data.objects
        return
    done = load(file, levels=everything)
    lods = [lod for lod in p3d.read(file.read_bytes(), file.name, Report()).lods if len(lod.points)]
    assert [len(own_mesh.data.vertices) for own_mesh in done.meshes] == [
        len(x.points) for x in lods if x.kind != lod_kinds.MEMORY
    ]
    assert len(done.points) == sum(len(lod.points) for lod in lods if lod.kind == lod_kinds.MEMORY)
    for mesh, lod in zip(done.meshes, (lod for lod in lods if lod.kind != lod_kinds.MEMORY), strict=True):
        marked = {name for name, _, _ in lod.selections() if name.lower().startswith("proxy:")}
        hidden = sum(int(faces.any()) for name, _, faces in lod.selections() if name in marked)
        assert len(mesh.data.polygons) == len(lod.faces) - hidden
        outlines = {tuple(sorted(face.vertices)) for face in mesh.data.polygons}
        two_sided = len(outlines) < len(mesh.data.polygons)  # which Blender shows, but calls no valid mesh
        assert two_sided or not mesh.data.validate(clean_customdata=False)
