"""model.cfg: what people write, what the preprocessor does to it, and the built-in skeletons."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats.arma import model_cfg
from addon.formats.arma.skeletons import BUILT_IN, MAN_ARMA_2, MAN_ARMA_3, MAN_FLASHPOINT, Hierarchy
from tests.work import lines_run, memory_peak


def read(text):
    report = Report()
    data = text if isinstance(text, bytes) else text.encode()
    return model_cfg.read(data, "model.cfg", report), report


def skeleton(bones, more=""):
    return f"class CfgSkeletons {{ class Dog {{ skeletonBones[] = {{{bones}}}; {more} }}; }};"


def test_a_skeleton_and_the_models_that_use_it():
    config, report = read(
        skeleton('"Pelvis","", "Spine","Pelvis"', 'pivotsModel = "a\\pivots.p3d"; isDiscrete = 0;')
        + 'class CfgModels { class Base { skeletonName = "Dog"; sections[] = {"a"}; };'
        + "class Walk : Base {}; class None {}; };"
    )
    assert not report
    result = config.skeletons["Dog"]
    assert dict(result.parents) == {"Pelvis": "", "Spine": "Pelvis"}
    assert result.pivots_model == "a\\pivots.p3d"
    assert config.models == {"base": "dog", "walk": "dog"}
    assert config.skeleton_of("WALK") is result
    assert config.skeleton_of("none") is None
    assert config.skeleton("dOG") is result


def test_people_write_in_many_ways():
    config, report = read("""
        // a line; "with" signs {
        class cfgskeletons
        {
            /* class Old { skeletonBones[] = {"x",""}; }; */
            class Named;
            class Dog: Base
            {
                SkeletonBones [] =
                {
                    "Pelvis", "" , // the root
                    "spodni ret","Pelvis",
                    plain, Pelvis,
                    "quo""ted", "Pelvis", "with // no comment","Pelvis",
                };
                value = 1.5; other = true; text = two words;
                matrix[] = {{1,2},{3,{4}}};
            }
        };
    """)
    assert not report
    assert list(config.skeletons["Dog"].parents.items()) == [
        ("Pelvis", ""),
        ("spodni ret", "Pelvis"),
        ("plain", "Pelvis"),
        ('quo"ted', "Pelvis"),
        ("with // no comment", "Pelvis"),
    ]


def test_a_bone_left_over_is_a_root_and_reported():
    config, report = read(skeleton('"a","", "b","a", "c"'))
    assert dict(config.skeletons["Dog"].parents) == {"a": "", "b": "a", "c": ""}
    assert "ends with 'c' without a parent" in report.lines()[0]


def test_skeletons_inherit_bones_and_classes_inherit_values():
    config, report = read("""class CfgSkeletons {
        class Head { skeletonBones[] = {"neck","", "head","neck"}; };
        class Body { skeletonInherit = "HEAD"; skeletonBones[] = {"arm","neck", "Head","arm"}; pivotsModel = "p"; };
        class Copy : Body {};
        class Ring1 { skeletonInherit = "Ring2"; skeletonBones[] = {"one",""}; };
        class Ring2 { skeletonInherit = "Ring1"; skeletonBones[] = {"two","one"}; };
        class Odd { skeletonInherit = "nowhere"; skeletonBones[] = {"a","b"}; };
        class Added : Head { skeletonBones[] += {"jaw","head"}; };
    };""")
    assert dict(config.skeletons["Body"].parents) == {"neck": "", "head": "neck", "arm": "neck"}
    assert config.skeletons["Copy"].parents == config.skeletons["Body"].parents
    assert config.skeletons["Copy"].pivots_model == "p"
    assert set(config.skeletons["Ring1"].parents) == {"one", "two"}
    assert report.lines() == [
        "it inherits the skeleton 'nowhere', which is not in the file (Odd)",
        "parents that the skeleton does not list: 'b'; their children are roots (Odd)",
        "parents that the skeleton does not list: 'head'; their children are roots (Added)",
    ]


def test_definitions_are_filled_in_and_includes_are_reported():
    config, report = read(
        '#include "basicdefines.hpp"\n#define ROOT "pelvis"\n#define PAIR(child, parent) #child, #parent\n'
        '#define JOIN(a) a##_1\n#define LONG ROOT, \\\n  ""\n'
        "#ifdef MISSING\nclass CfgSkeletons { class Wrong {}; };\n#else\n#ifndef ROOT\n}}}}\n#endif\n"
        + skeleton('LONG, PAIR(spine, pelvis), "ROOT", ROOT, JOIN(tail), ROOT')
        + "\n#endif\n#undef ROOT\n"
    )
    assert list(config.skeletons) == ["Dog"]
    assert list(config.skeletons["Dog"].parents.items()) == [
        ("pelvis", ""),
        ("spine", "pelvis"),
        ("ROOT", "pelvis"),
        ("tail_1", "pelvis"),
    ]
    assert report.lines() == ['includes are not followed: "basicdefines.hpp"']


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", "empty"), (b"\0raP\0\0", "not a text file"), ("class a{" * 70, "deep"), ("a[]={" + "{" * 70, "deep")],
)
def test_what_is_no_configuration_is_refused(text, sentence):
    with pytest.raises(ReadError, match=sentence) as refusal:
        read(text)
    assert refusal.value.remedy


def test_unclosed_things_are_reported():
    config, report = read('}; class CfgSkeletons { class Dog { skeletonBones[] = {"a","", "b","a"')
    assert dict(config.skeletons["Dog"].parents) == {"a": "", "b": "a"}
    assert len(report.lines()) == 3


def test_definitions_that_grow_without_end_are_stopped():
    bomb = "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 31))
    _, report = read("#define A0 lol\n" + bomb + "x = A30;\n#define S S S\ny = S;\n")
    assert "many times its size" in report.lines()[0]


def inheriting(count, head, each):
    return (
        "class CfgSkeletons{"
        + head
        + "".join(each.format(number, max(number - 1, 0)) for number in range(count))
        + "};"
    )


BOMBS = {
    "a macro's argument, many times": "#define F(x) " + "x " * 20_000 + "\nF(" + "y" * 40_000 + ")",
    "macros of macros": "\n".join(f"#define m{n} m{n + 1}" for n in range(32)) + "\n" + "m0 " * 25_000,
    "doubling macros": "#define a0 z\n"
    + "\n".join(f"#define a{n} a{n - 1} a{n - 1}" for n in range(1, 40))
    + "\na39" * 15_000,
    "a chain of classes": inheriting(1700, "", 'class c{0}:c{1}{{skeletonInherit="c{1}";}};'),
    "many of one": inheriting(
        1300, "class a{skeletonBones[]={" + '"b","x",' * 3000 + "};};", 'class c{}{{skeletonInherit="a";}};'
    ),
    "many of one with parents": inheriting(
        500,
        "class a{skeletonBones[]={" + "".join(f'"b{n}","p{n}",' for n in range(3500)) + "};};",
        'class c{}{{skeletonInherit="a";}};',
    ),
    "added again and again": "class CfgSkeletons{class a{skeletonBones[]={};"
    + 'skeletonBones[]+={"a"};' * 4000
    + "};};",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_small_files_that_ask_for_much_work_are_cut_short(text):
    """Such a file is read by itself where it lies beside an animation."""
    assert len(text) < 100_000
    assert lines_run(lambda: read(text)) < 4_000_000
    assert memory_peak(lambda: read(text)) < 20_000_000


def test_brackets_that_are_never_closed_are_not_searched_for_again_and_again():
    """A megabyte of calls without an end took ten seconds."""
    failed = []

    class Line(str):
        __slots__ = ()

        def find(self, wanted, begin=0):
            index = str.find(self, wanted, begin)
            failed.extend([begin] if index < 0 else [])
            return index

    macros = {"F": (["a"], "<a>")}
    for text in ("F(" * 1000, "F(x) " + "F(" * 1000):
        assert model_cfg._expanded_once(Line(text), macros, model_cfg.Budget(5000)) == text.replace("F(x)", "<x>")
    assert len(failed) <= 2


def test_what_a_cut_left_out_is_reported():
    config, report = read(BOMBS["many of one with parents"])
    assert 10 < len(config.skeletons) < 500
    assert len(config.skeletons["a"].parents) == 3500
    assert "inherit too many definitions" in report.lines()[-1]


@given(st.text(alphabet='classCfgSkeletonsBones{}[]=;,:"\n #/*\\defin()', max_size=300))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(ReadError):
        read(text)


def test_no_bone_of_the_built_in_man_is_longer_than_a_shin_and_both_sides_are_alike():
    pivots = MAN_ARMA_3.pivots
    bones = list(pivots)
    above = MAN_ARMA_3.parent_indices(bones)
    lengths = [math.dist(pivots[bone], pivots[bones[up]]) for bone, up in zip(bones, above, strict=True) if up >= 0]
    assert len(lengths) > 50
    assert max(lengths) == pytest.approx(0.432, abs=1e-3)
    for bone, (x, y, z) in pivots.items():
        assert bone.startswith("Left") <= (x > 0)
        assert not bone.startswith("Right") or pivots[bone.replace("Right", "Left")] == (-x, y, z)


def test_real_configurations(corpus):
    folder = corpus / "rtm"
    config, report = read((folder / "agm_goggles_model.cfg").read_bytes())
    assert not report
    man = config.skeletons["OFP2_ManSkeleton"]
    assert list(man.parents.items()) == list(MAN_ARMA_3.parents.items()), "the built-in one is the same, in its order"
    assert man.pivots_model == "A3\\anims_f\\data\\skeleton\\SkeletonPivots.p3d"
    captive, _ = read((folder / "captive_model.cfg").read_bytes())
    lowered = {bone.lower(): parent.lower() for bone, parent in captive.skeletons["OFP2_ManSkeleton"].parents.items()}
    assert lowered == {bone.lower(): parent.lower() for bone, parent in MAN_ARMA_3.parents.items()}
    dog, report = read((folder / "dog_model.cfg").read_bytes())
    assert len(dog.skeletons["MFR_Dogs_Skeleton"].parents) == 49
    assert dog.skeleton_of("MFR_Dog_GermanShepherd").name == "MFR_Dogs_Skeleton"
    assert "'head' without a parent" in report.lines()[0]


def test_parents_are_the_nearest_ancestors_existing():
    chain = Hierarchy("chain", {"a": "", "b": "A", "C": "b", "d": "c", "loose": "nowhere"})
    assert chain.parent_indices(["A", "b", "c", "D"]).tolist() == [-1, 0, 1, 2]
    assert chain.parent_indices(["d", "a"]).tolist() == [1, -1]
    assert chain.parent_indices(["d", "loose", "unlisted"]).tolist() == [-1, -1, -1]
    assert chain.parent_indices([]).tolist() == []
    assert chain.unknown(["A", "e", "LOOSE"]) == ["e"]


def test_rings_are_opened():
    ring = Hierarchy("ring", {"a": "c", "b": "a", "c": "b", "self": "self"})
    parents = ring.parent_indices(["a", "b", "c", "self"])
    assert (parents == -1).sum() == 2
    assert ring.parent_indices(["a"]).tolist() == [-1]
    assert ring.parent_indices(["a", "c"]).tolist().count(-1) == 1


def test_a_hundred_thousand_absent_ancestors_take_no_longer():
    names = {f"b{number}": f"b{number - 1}" for number in range(1, 3000)}
    hierarchy = Hierarchy("long", {"b0": "", **names}).parent_indices([f"b{number}" for number in range(0, 3000, 100)])
    assert hierarchy.tolist() == [number - 1 for number in range(30)]


def test_the_built_in_skeletons():
    assert {name: len(answer.parents) for name, answer in BUILT_IN.items()} == {
        "arma3": 103,
        "arma2": 11 + 65 + 56,
        "flashpoint": 25 + 8,
    }
    for result in BUILT_IN.values():
        bones = list(result.parents)
        assert result.unknown([parent for parent in result.parents.values() if parent]) == []
        assert len({bone.lower() for bone in bones}) == len(bones)
        assert set(result.pivots) <= set(bones)
        assert (result.parent_indices(bones) == -1).sum() == 1
    assert MAN_ARMA_3.pivots["LeftArm"][0] > 0 > MAN_ARMA_3.pivots["RightArm"][0], "left is +x"
    assert MAN_ARMA_2.parents["tongue_f"] == "head"
    assert MAN_FLASHPOINT.for_display
