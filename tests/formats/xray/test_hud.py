"""First person: matrices against numbers of the engine's formulas, actions of both generations, playing."""

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import rotation
from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.xray import hud, ogf, omf
from addon.formats.xray.hud import Action, Generation
from addon.formats.xray.ltx.document import cleaned, numbers
from addon.formats.xray.ltx.tree import ConfigTree
from addon.formats.xray.ogf.skeleton import decode_skeleton
from addon.formats.xray.omf.document import MotionFlag, track_bones
from addon.formats.xray.omf.tracks import track_arrays
from tests.formats.xray import hud_engine as engine
from tests.real_files import CORPUS, VECTORS

FOLDERS = {"anomaly": "anomaly", "gunslinger": "gunslinger", "axr": "axr_cop", "soc": "soc_bmstu"}
FORMULAS = VECTORS / "hud" / "vectors_hud.json" if VECTORS and CORPUS else None
SETS = json.loads(FORMULAS.read_text())["sets"] if FORMULAS else []
CASES = [(created, case) for created in SETS for case in created["cases"]]


def parameters(cases, name):
    if cases:
        return [pytest.param(*case, id=name(*case)) for case in cases]
    return [pytest.param(None, None, marks=pytest.mark.skip(reason="MOTIONBRIDGE_VECTORS or _CORPUS is not set"))]


def path_of(created, name):
    folder = CORPUS / "hud" / FOLDERS[created["id"].split("_")[0]]
    return folder / name.removeprefix("Game/CallOfPripyat/")


@cache
def skeleton(path):
    return decode_skeleton(ogf.read(path.read_bytes(), path.name, Report()), Report())


@cache
def motions(path):
    return omf.read(path.read_bytes(), path.name, Report()).motion_set


def pose(path, library, name, frame, *, unit, pinned=False):
    """Bone -> matrix in its model."""
    bones = skeleton(path)
    own_motions = motions(library)
    _, index = hud.motion_table([own_motions])[name]
    names = [entry.label for entry in own_motions.library.motions]
    motion = own_motions.library.motions[names.index(own_motions.parameters.definitions[index].label)]
    tracks = track_arrays(motion)
    order = [name.lower() for name in track_bones(own_motions.parameters, motion.track_count, Report(), bones.bones)]
    rows = [order.index(bone.lower()) for bone in bones.bones]
    rotations = tracks.rotations[rows, frame]
    rotations = rotation.normalised(rotations) if unit else rotations
    matrices = engine.bone_matrices(bones.parents.tolist(), rotations, tracks.translations[rows, frame], pinned=pinned)
    return dict(zip(bones.bones, matrices, strict=True))


def composed(created, case, *, unit, aiming):
    """Everything in the camera's space, named as the vectors name it; and the item's bones in its model."""
    values = {key: cleaned(text) for key, text in created["config"].items()}
    one_model = created["hands_ogf"] is None if "hands_ogf" in created else True
    values |= {"visual" if one_model else "item_visual": created["item_ogf"]}
    placing = hud.placing(values, report := Report(), wide=case["wide"])
    item_path = path_of(created, created["item_ogf"])
    if one_model:
        bones = pose(item_path, path_of(created, case["item_omf"]), case["item_motion"], case["item_frame"], unit=unit)
        root = engine.hands_matrix(placing, aiming=aiming)
        return {f"model:{bone}": root @ matrix for bone, matrix in bones.items()}, root, bones
    hands = pose(
        path_of(created, created["hands_ogf"]),
        path_of(created, case["hands_omf"]),
        case["hands_motion"],
        case["hands_frame"],
        unit=unit,
    )
    item = pose(
        item_path, path_of(created, case["item_omf"]), case["item_motion"], case["item_frame"], unit=unit, pinned=True
    )
    root = engine.item_matrix(placing, hands[created["anchor"]], aiming=aiming)
    result = {f"hands:{bone}": engine.hands_matrix(placing, aiming=aiming) @ matrix for bone, matrix in hands.items()}
    assert set(report.warnings) <= {"1 key is missing; some games stop with an error there"}
    return result | {f"item:{bone}": root @ matrix for bone, matrix in item.items()}, root, item


@pytest.mark.parametrize(
    ("created", "case"),
    parameters(CASES, lambda m, c: f"{m['id']}-{c['alias']}-{'wide' if c['wide'] else 'narrow'}-{c['hands_frame']}"),
)
def test_what_is_composed_equals_the_engines_formulas(created, case):
    for key, unit, tolerance in (("world_unit", True, 1e-5), ("world", False, 5e-4)):
        for aiming in (False, True):
            result, root, bones = composed(created, case, unit=unit, aiming=aiming)
            prefix = "aim:" if aiming else ""
            wanted = {name: matrix for name, matrix in case[key].items() if name.startswith("aim:") == aiming}
            assert wanted
            for name, matrix in wanted.items():
                np.testing.assert_allclose(result[name.removeprefix(prefix)], matrix, atol=tolerance, rtol=0)
            if "fire_point" in case and not aiming and not unit:
                config = created["config"]
                point = engine.fire_point(root, bones[config["fire_bone"]], numbers(cleaned(config["fire_point"]), 3))
                np.testing.assert_allclose(point, case["fire_point"], atol=5e-4, rtol=0)


@pytest.mark.parametrize(
    ("created", "case"), parameters(CASES, lambda m, c: f"{m['id']}-{c['alias']}-{c['hands_frame']}")
)
def test_actions_find_the_motions_of_real_sections(created, case):
    files = sorted(created["ltx"], key=lambda name: "defines" not in name)
    folder = path_of(created, "gamedata")
    names = [name.removeprefix("Game/CallOfPripyat/").removeprefix("gamedata/") for name in files]
    configs = ConfigTree([folder]).load(Report(), names)
    values = {key: value.text or "" for key, value in configs.values(created["section"]).items()}
    result = {action.alias: action for action in hud.actions(values, wide=case["wide"])}
    action = result[case["alias"]]
    made_as = hud.generation(values)
    library = motions(path_of(created, case["item_omf"]))
    hands = motions(path_of(created, case["hands_omf"]))
    assert case["hands_motion"] in hud.variants(action.hands, hud.motion_table([hands]), made_as)
    if made_as is Generation.TWO_MODELS:
        table = hud.motion_table([library])
        assert hud.item_motion(action, case["hands_motion"], table) == (case["item_motion"], case["item_fallback_idle"])
        assert hud.attach_place(values) == (created["anchor"] == "l_hand")
    for key, text in created["config"].items():
        assert values[key] == cleaned(text)


HANDS = {"visual": "hands", "ancor_1": "l_hand", "ancor_0": "lead_gun"}


def test_an_item_depends_on_the_bone_of_its_index():
    assert hud.anchor_bone(HANDS, {}) == "lead_gun"
    assert hud.anchor_bone(HANDS, {"attach_place_idx": "1"}) == "l_hand"
    assert hud.anchor_bone({"ancor_b": "two", "ancor_5": "one"}, {"attach_place_idx": "1"}) == "two"
    with pytest.raises(ReadError, match="2 places for items, the item asks for place 2"):
        hud.anchor_bone(HANDS, {"attach_place_idx": "2"})


def test_a_section_without_a_model_is_refused():
    assert hud.generation({"visual": "a", "item_visual": "b"}) is Generation.TWO_MODELS
    assert hud.generation({"visual": "a"}) is Generation.ONE_MODEL
    with pytest.raises(ReadError, match="neither item_visual nor visual"):
        hud.generation({"hud": "x"})


def test_of_two_keys_the_one_for_the_screen_is_read():
    values = {
        "item_visual": "x",
        "hands_position": "1,2,3",
        "hands_position_16x9": "4,5,6",
        "hands_orientation": "0,0,0",
    }
    narrow = hud.placing(values, Report(), wide=False)
    wide = hud.placing(values, report := Report(), wide=True)
    assert narrow.hands[:3, 3].tolist() == [1, 2, 3]
    assert wide.hands[:3, 3].tolist() == [4, 5, 6]
    assert "hands_orientation_16x9" in report.warnings["1 key is missing; some games stop with an error there"]
    np.testing.assert_array_equal(wide.item, np.eye(4))


SET = "1, 2, 3"
OF_HANDS = ["hands_position", "hands_orientation", "aim_hud_offset_pos", "aim_hud_offset_rot", "gl_hud_offset_pos",
            "gl_hud_offset_rot"]  # fmt: skip
OF_ITEM = ["item_position", "item_orientation"]
OF_ONE_MODEL = ["position", "orientation"]
OF_AIM = ["zoom_offset", "zoom_rotate_x", "zoom_rotate_y"]


def missing_keys(values, *, wide=False):
    hud.placing(values, report := Report(), wide=wide)
    return set(report.warnings.get("1 key is missing; some games stop with an error there", []))


@pytest.mark.parametrize("key", OF_HANDS + OF_ITEM)
def test_each_missing_key_of_hands_and_item_is_reported(key):
    values = dict.fromkeys(OF_HANDS + OF_ITEM, SET) | {"item_visual": "x"}
    assert missing_keys(values) == set()
    assert missing_keys(values, wide=True) == {f"{of_hands}_16x9" for of_hands in OF_HANDS}
    del values[key]
    assert missing_keys(values) == {key}


@pytest.mark.parametrize("key", OF_ONE_MODEL + OF_AIM)
def test_each_missing_key_of_one_model_is_reported(key):
    values = dict.fromkeys(OF_ONE_MODEL + OF_AIM, SET) | {"visual": "x"}
    assert missing_keys(values) == missing_keys(values, wide=True) == set()
    del values[key]
    assert missing_keys(values) == {key}


def test_what_cannot_be_aimed_needs_no_keys_of_aiming():
    assert missing_keys(dict.fromkeys(OF_ONE_MODEL, SET) | {"visual": "x"}) == set()


ANGLES = st.tuples(*[st.floats(-80, 80)] * 3)


@given(ANGLES, ANGLES)
def test_placing_and_aiming_can_be_taken_back(position, angles):
    back = hud.placement_values(hud.placement_matrix(position, angles))
    np.testing.assert_allclose(back, (position, angles), atol=1e-9)
    radians = np.radians(angles)
    back = hud.aim_values(hud.aim_matrix(position, radians))
    np.testing.assert_allclose(back, (position, radians), atol=1e-9)


# Actions --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "action"),
    [
        ("draw,idle", Action("a", "draw", "idle")),
        ("draw", Action("a", "draw")),
        ("draw,idle,0.75,2", Action("a", "draw", "idle", 0.75, 2.0)),
        ("veles_hide,2", Action("a", "veles_hide", "2")),  # a slip of authors: the item has no motion 2
        ("draw,idle,1,5", Action("a", "draw", "idle", 1.0, 5.0)),  # 1.5 with a comma
        ("", Action("a", "")),
    ],
)
def test_an_action_names_motions_speed_and_end(value, action):
    assert hud.action_of("a", value) == action


def test_sections_of_both_generations_have_actions():
    two = {"item_visual": "x", "anm_idle": "i", "anm_idle_16x9": "w", "anm_idle_speed_k": "2", "anim_old": "o"}
    assert [action.hands for action in hud.actions(two)] == ["i"]
    assert [action.hands for action in hud.actions(two, wide=True)] == ["i"]
    left = two | {"attach_place_idx": "1", "anm_only": "p"}
    assert [action.hands for action in hud.actions(left, wide=True)] == ["w", "p"]
    assert [action.hands for action in hud.actions({"visual": "x", "anim_idle": "o", "anm_idle": "n"})] == ["o"]


def test_variants_are_numbered_differently_in_both_generations():
    there = {"shoot", "shoot0", "shoot1", "shoot7", "shoot8", "shoot9"}
    assert hud.variants("shoot", there, Generation.TWO_MODELS) == ["shoot", "shoot1", "shoot7", "shoot8"]
    assert hud.variants("shoot", there, Generation.ONE_MODEL) == ["shoot", "shoot0", "shoot1", "shoot7"]
    assert hud.variants("Shoot", there, Generation.TWO_MODELS) == []


def test_an_item_without_the_motion_plays_idle():
    there = {"idle", "reload", "shoot1"}
    assert hud.item_motion(Action("a", "draw", "reload"), "draw2", there) == ("reload", False)
    assert hud.item_motion(Action("a", "shoot"), "shoot1", there) == ("shoot1", False)
    assert hud.item_motion(Action("a", "shoot", "shoot"), "shoot1", there) == ("shoot1", False)
    assert hud.item_motion(Action("a", "draw", "2"), "draw", there) == ("idle", True)
    with pytest.raises(ReadError, match="neither the motion 'draw' nor 'idle'"):
        hud.item_motion(Action("a", "draw"), "draw", {"reload"})


def test_the_last_file_and_its_first_definition_win_and_fx_are_never_found(samples):
    own_motions = motions(samples / "weapon.omf")
    again = motions(samples / "humanoid.omf")
    table = hud.motion_table([own_motions, again, own_motions])
    assert table["idle"] == (2, 0)
    single = [definition.label for definition in again.parameters.definitions if definition.flags & MotionFlag.FX]
    assert single
    assert not set(single) & set(table)


def test_numbers_lose_zeros_at_their_end_and_nothing_else():
    written = (" 0.040000", "-0.150", "1.0", "100", "0.05", "-0.000000", "1e10", "abc", "")
    assert [hud.without_zeros(text) for text in written] == [
        "0.04",
        "-0.15",
        "1",
        "100",
        "0.05",
        "0",
        "1e10",
        "abc",
        "",
    ]


def test_fields_of_view():
    """The degrees that docs/formats/xray-hud.md gives."""
    assert {game: round(view.field_of_view, 2) for game, view in hud.VIEWS.items()} == {
        "Shadow of Chernobyl, Clear Sky": 30.38,
        "Call of Pripyat": 24.75,
        "OpenXRay": 30.38,
        "Anomaly": 37.35,
        "IX-Ray": 33.75,
        "Advanced X-Ray": 31.51,
    }
