"""Models of Arma in Blender: faces, weights, points as they are in the file; bodies that follow animations."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.core.report import Report
from addon.formats.arma import p3d
from addon.games.arma.animation_import import AnimationImportOptions, import_animation
from addon.games.arma.model_import import ModelImportOptions, import_model
from tests.blender.rtm_scene import raw_matrices
from tests.real_files import CORPUS

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
    return import_model(bpy.context, rig, str(file), ModelImportOptions(**options), report or Report())


def animate(file, rig=None, **options):
    return import_animation(bpy.context, rig, str(file), options=AnimationImportOptions(**options), report=Report())


def raw_weights(lod) -> dict[str, np.ndarray]:
    """Selection in lower case -> weight of each point, by the bytes: 1 is whole, 2 to 255 fall."""
    found = {}
    for tag in lod.tags:
        if not tag.name.startswith(b"#") and not tag.name.startswith((b"-", b".", b"proxy:")):
            byte = np.frombuffer(tag.data, np.uint8)[: len(lod.points)].astype(int)
            weight = np.where(byte == 0, 0.0, np.where(byte == 1, 1.0, (256 - byte) / 255))
            found[tag.name.decode("latin-1").lower()] = weight
    return found


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
    found = []
    for bone in rig.data.bones:
        line = [bone, *bone.parent_recursive]
        number = next((row[above.name.lower()] for above in line if above.name.lower() in row), None)
        found.append(np.eye(4) if number is None else matrices[number])
    return [bone.name for bone in rig.data.bones], np.array(found)


def evaluated(shown) -> np.ndarray:
    """(vertices, 3) in the world, modifiers applied."""
    seen = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = seen.to_mesh()
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    seen.to_mesh_clear()
    world = np.array(shown.matrix_world, np.float64)
    return flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]


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
@pytest.mark.parametrize("made", ["by the animation", "by the model"])
def test_the_body_is_where_the_engine_would_put_it(model, move, config, made):
    if made == "by the animation":
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
