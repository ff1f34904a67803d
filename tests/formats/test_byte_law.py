"""The byte law: what is read is written byte for byte, also when it was decoded and encoded; all else is refused.

For every real file and every small one, whole and damaged; beside it what is reported of real files.
"""

import re
from fnmatch import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.errors import ReadError
from addon.core.report import Report
from addon.formats import COMPARISONS, FORMATS, HEAD_SIZE, compare, detect
from addon.formats.verification import Status, file_data, open_document, verify
from tests.formats.fields import spread
from tests.formats.small_documents import ANNOTATED, SMALL
from tests.formats.test_refusals import chunks
from tests.formats.xray.level_bytes import words
from tests.real_files import CORPUS, corpus_files

REFUSED = {
    "anm/odd_strafe_right_text_mangled.anm": "misaligned. A text tool has damaged the file",
    "cform/odd_truncated_header.cform": (
        "420690 vertices and 810223 faces of version 4 take 18011884 bytes, there are 35"
    ),
    "hom/odd_git_lfs_pointer.hom": "git-lfs pointer.*Fetch the file with `git lfs pull`",
    "omf/odd_bm16_text_mangled.omf": "no chunk 0xf .motion parameters.",
    "omf/odd_d3_script_not_xray.omf": "truncated, or not a chunked file",
    "omf/odd_gunslinger_encrypted.omf": "encrypted",
    "p3d/*_odol*.p3d": r"ODOL, version \d+.*MLOD",
    "p3d/odd_cwr_fuzz_tagg_oob.p3d": "begins with",
    "paa_synthetic/bad_level_past_end.paa": "2000000 bytes are needed, 64 bytes are left",
    "thm/shaders.xr": "no game materials in it",
}
NAN = "NaN or infinite values, exported unchanged unless edited ({})".format
PAST_END = "the chunk declares {} bytes, but only {} follow; the existing bytes are read ({})".format
UNKNOWN = "1 chunk of unknown meaning, kept unchanged ({})".format
PROTECTED = (
    "2 chunks are marked as compressed but not in the game's way (encrypted by a mod's tool?)",
    "the description is broken (mods do that to protect a model)",
)
REPORTED: dict[str, tuple[str, ...]] = {
    "anm/odd_jump_fireball.anm": ("keys are out of order in time: the game jumps there",),
    "cform/odd_mp_test_build.cform": ("a build.cform, the SDK's input for its compiler",),
    "hud/anomaly/*/wpn_hand_no_outfit.ogf": (*PROTECTED, "43 extra bytes; kept (0x80000012)"),
    "hud/anomaly/*/wpn_knife_hud.ogf": (*PROTECTED, "42 extra bytes; kept (0x80000012)"),
    "hud/anomaly/*/wpn_rpg7_hud.ogf": (NAN("vertices, chunk 0x9/0x1/0x3: 6"),),
    "hud/axr_cop/*/wpn_hand_01.ogf": (NAN("ik data, chunk 0x10: 1"),),
    "object/bx_old_compressed.object": ("1 compressed chunk remains compressed unless edited (0x80007777 at 8)",),
    "object/wpn_hand_01.object": ("NaN or infinite values",),
    "odd/p3d_face_with_2_corners.p3d": ("faces without 3 or 4 corners are kept, but not shown (LOD 0: 1)",),
    "odd/p3d_uvset_*.p3d": ("UV sets whose declared size leaves out their number are read nevertheless (LOD 0: 1)",),
    "odd/scaled_quaternions.rtm": ("compressed arrays: 30 of 31",),
    "ogf/bx_gl.ogf": (PROTECTED[0].replace("2 chunks are", "1 chunk is"), PROTECTED[1]),
    "ogf/coc_detector1_hud.ogf": (NAN("vertices, chunk 0x9/0x0/0x3: 3"),),
    "ogf/odd_chunk_size_wrong_middle.ogf": (
        PAST_END(1953460082, 16040, "0x2F at 591817"),
        PAST_END(1464811357, 586752, "0x9/0x0/0x2AE13F0C at 5057"),
        "4770 extra bytes; kept (0x9/0x0/0x2)",
        "2 chunks of unknown meaning, kept unchanged",
    ),
    "ogf/odd_gunslinger_fake_compressed_lod.ogf": (*PROTECTED, "33 extra bytes; kept (0x80000012)"),
    "ogf/odd_gunslinger_fake_compressed_rigid.ogf": (*PROTECTED, "43 extra bytes; kept (0x80000012)"),
    "ogf/odd_hand_text_mangled.ogf": (PAST_END(3472883712, 372809, "0x20202020 at 196"), UNKNOWN("0x20202020")),
    "ogf/odd_ikdata_size_9_too_large.ogf": (
        PAST_END(1566927970, 51, "0x61736964 at 108775"),
        "9 extra bytes; kept (0x10)",
        UNKNOWN("0x61736964"),
    ),
    "ogf/odd_last_chunk_truncated.ogf": (PAST_END(44, 1, "0x11 at 741777"),),
    "ogf/odd_refs2_size_too_small.ogf": (
        PAST_END(1668505458, 17, "0x656B6C61 at 598305"),
        "9 extra bytes; kept (0x18)",
        UNKNOWN("0x656B6C61"),
    ),
    "ogf/odd_v4_bare_track_numbers.ogf": ("bone parts list bones without names (an editor's bug)",),
    **dict.fromkeys(
        ("ogf/controller_2.ogf", "ogf/ixray_wpn_hand_0.ogf", "ogf/tushkano_big.ogf"), (NAN("ik data, chunk 0x10: 1"),)
    ),
    "omf/geiger_tiny_v3.omf": (
        "the checksum of rotation keys is wrong; kept (ignored by the game) (dev_idle)",
        "the checksum of translation keys is wrong; kept (ignored by the game) (dev_idle)",
    ),
    "omf/odd_gwr_dev_bolt_bone_mismatch.omf": (
        "the motions have different numbers of tracks (0xE)",
        "42 tracks for 1 bone listed in bone parts",
    ),
    "omf/odd_motion_without_tracks.omf": (
        "7 bytes do not make a whole track; kept (ak74_draw: 4, ak74_idle: 3)",
        "0 tracks for 1 bone listed in bone parts (2 times: ak74_draw)",
        "1 motion has another name than its definition (ak74_idle / ak74_draw)",
    ),
    "omf/odd_unarmed_empty_v3.omf": ("there are no motions in it (0xE)",),
    "omf/protected_saiga12_hud_animation.omf": ("17 motions have another name than their definitions",),
    "p3d/ofp_m16_optics_mlod.p3d": ("32 extra bytes after the last LOD",),
    **{
        f"rtm_binarised/{name}.rtm": (f"compressed arrays: {share}",)
        for name, share in (
            ("agm_dancing_v3", "2 of 3"),
            ("armaio_v5_lzo", "124 of 166"),
            ("ascz_stryker_dead_v3", "2 of 3"),
            ("melee_axeweapon_v5", "19 of 20"),
            ("rappel_idle_v5", "41 of 42"),
            ("rhs_sawfix_v5", "1 of 2"),
        )
    },
}
"""What reading a real file reports, by the beginnings of the lines."""
NO_COMPONENTS = "LOD {} (Geometry): it has no components (vertex groups Component01, Component02 and so on)".format
DRAWN_WHITE = "LOD 0 (Resolution 0): 2 of 2 faces have neither texture nor material and are drawn white"
LOST_BONES = (
    "the bones cannot be read: chunks of the file run past its end",
    "an animated skeleton without motions or references to motions",
)
NOT_DYNAMIC = "the object has bones but is not dynamic (flag 1): the actor editor cannot export it"
PROBLEMS: dict[str, tuple[str, ...]] = {
    "level/synthetic_v13_*": ("version 13; the released games accept 14 only",),
    "object/bx_armature.object": (NOT_DYNAMIC, "in mesh 'Plane': 1 vertex has no weights"),
    "object/bx_no_mesh.object": ("there is no mesh: the object cannot be shown or exported", NOT_DYNAMIC),
    "odd/p3d_face_with_2_corners.p3d": (DRAWN_WHITE,),
    "odd/p3d_uvset_short_two_lods.p3d": (
        DRAWN_WHITE,
        NO_COMPONENTS(1),
        "LOD 1 (Geometry): 1 of 1 face has an open edge; this LOD must be closed",
    ),
    "odd/p3d_uvset_tag_4_bytes_short.p3d": (DRAWN_WHITE,),
    "ogf/odd_chunk_size_wrong_middle.ogf": LOST_BONES,
    "ogf/odd_hand_text_mangled.ogf": LOST_BONES,
    "ogf/odd_v4_bare_track_numbers.ogf": ("a bone part or bone without a name",),
    "omf/odd_gwr_dev_bolt_bone_mismatch.omf": tuple(
        f"the motion 'bolt_gwr_{name}' has 42 tracks for 1 bone"
        for name in ("draw", "hide", "idle", "sprint", "throw_end", "throw_idle", "throw_start", "walk")
    ),
    "omf/odd_motion_without_tracks.omf": (
        "the motion 'ak74_draw' has 0 tracks for 1 bone",
        "the motion 'ak74_draw' occurs 2 times",
        "cannot be exported as it was imported: the motion 'ak74_draw' has no tracks",
    ),
    "omf/usable_items_big.omf": tuple(
        f"the motion '{name}' occurs 2 times"
        for name in (
            "eat_tushonka_d_use_h",
            "aptechka_hands_eat_invtrans",
            "tabletki_1_hands_eat_invtrans",
            "harvest_success_hands_eat",
            "bint_hands_eat_alt_1_invtrans",
        )
    ),
    "p3d/a3ob_crate.p3d": (
        "LOD 2 (Shadow Volume 0): 24 of 24 faces point inwards",
        "LOD 6 (Roadway): 5 of 5 faces have no texture",
    ),
    "p3d/agm_fastroping_man.p3d": ("LOD 0 (Resolution 0): paths without a folder: Default.paa",),
    "p3d/armaio_model.p3d": ("LOD 0 (Resolution 1): 12 of 12 faces have neither texture nor material",),
    "p3d/crowbar_proxy.p3d": (
        "LOD 2 (Shadow Volume 0): 434 of 434 faces have a texture or material; a shadow has none",
    ),
    "p3d/cwr_animated_marker_sp3x.p3d": (
        "LOD 0 (Resolution 1): it has a mass, which only the Geometry LOD should have",
        "LOD 0 (Resolution 1): 1 of 1 face has neither texture nor material",
    ),
    "p3d/dog_skeleton_pivots.p3d": ("LOD 0 (Resolution 0): 315 of 315 faces have neither texture nor material",),
    "p3d_vendor/character_proxies.p3d": (
        "LOD 0 (Resolution 1): 1 of 1 face has neither texture nor material",
        "LOD 1 (View Pilot): 2 of 2 faces have neither texture nor material",
        "LOD 6 (Fire Geometry): 2 of 2118 faces have points of their component outside",
    ),
    "p3d_vendor/sample_building.p3d": (
        "LOD 8 (View Geometry): 10 of 117 faces are in no component",
        "LOD 8 (View Geometry): 4 of 117 faces have an open edge; this LOD must be closed",
        "LOD 9 (Fire Geometry): 5 of 506 faces have no material (.rvmat)",
    ),
    "paa_synthetic/bad_lzss_sum.paa": ("cannot be imported: ",),
}
"""What a game would refuse in a real file, and what cannot be imported or exported, by the beginnings of the lines."""
KEPT_SHARE = {
    "cform/odd_mp_test_build.cform": 0.21,
    "details/bx_v2.details": 0.03,
    "err/bx_test_sdk.err": 0.07,
    "level/*/level.ai": 0.001,
    "level/*/level.spawn": 0.6,
    "ogf/odd_chunk_size_wrong_middle.ogf": 1,
    "ogf/odd_hand_text_mangled.ogf": 1,
    "*.ogf": 0.01,
    "omf/odd_motion_without_tracks.omf": 0.04,
    "*.p3d": 0.23,
    "rtm/*.rtm": 0.3,
}
"""Share of the bytes of a real file that may be kept without a meaning; 0 for all others."""


def real_name(path) -> str:
    return path.relative_to(CORPUS).as_posix()


def listed(table, path, missing):
    """The entry of the first pattern that fits a real file."""
    return next((entry for pattern, entry in table.items() if fnmatch(real_name(path), pattern)), missing)


EVERY = corpus_files(*sorted({real_name(path.parent) for path in CORPUS.rglob("*.*")}) if CORPUS else ["*"])
REAL = [
    file
    for file in EVERY
    if file.values[0] is None or (file.values[0].is_file() and detect(file.values[0], b"") is not None)
]
"""The files of a known format, by name."""


def begin_as(lines, beginnings) -> bool:
    return len(lines) == len(beginnings) and all(map(str.startswith, lines, beginnings))


@pytest.mark.parametrize("path", REAL)
def test_a_real_file_is_written_as_it_was_read_and_what_is_odd_is_reported(path):
    data = bytes(file_data(str(path)))
    verdict = verify(data, str(path), deep=True)
    refused = listed(REFUSED, path, None)
    if refused is not None:
        assert verdict.status is Status.REFUSED
        assert verdict.detail.startswith(str(path))
        assert re.search(refused, verdict.detail)
        return
    assert verdict.status is Status.IDENTICAL, verdict.detail
    known, document, report = open_document(data, str(path))
    assert begin_as(report.lines(), listed(REPORTED, path, ()))
    assert begin_as(verdict.problems, listed(PROBLEMS, path, ()))
    assert verdict.raw_share <= listed(KEPT_SHARE, path, 0)
    assert known.module.describe(document)
    assert known.name not in COMPARISONS or not compare(str(path), data, data)
    assert path.suffix in {".skls", ".ltx"} or detect("nameless", data[:HEAD_SIZE]) in (known, None)


# Damaged files --------------------------------------------------------------------------------------------------------

COPIES = re.compile(r"copy it again|copied whole", re.IGNORECASE)
HEADS = re.compile(r"begins with|not a texture|not a Descent 3 image|have the size of those of")
"""Problems of a file that has lost all that tells its format."""
WHOLE_ONLY = {
    *("ai", "anm", "cform", "details", "dm", "object", "ogf_image", "omf", "p3d", "skl", "wallmarks"),
}
"""Formats of which every cut file is refused."""
ENDS = {
    "arma/bricks_co.paa": {290},  # without the last two bytes, which only the vendor's tools write
    "arma/glass_ca.paa": {105},
    "indexed.paa": {26},
    "plain.rtm": {420},  # without the events behind the last frame
    "small.gam": {71, 80},  # the first pages
    "small.hog": {223},  # without the bytes behind the files
}
"""Sizes at which a small file that is no chunks can be cut without notice."""
SAID = {
    "arma/walk_binarised.rtm": ["compressed arrays: 1 of 6"],
    "build.cform": ["a build.cform, the SDK's input for its compiler; sectors are not in it"],
    "plain.rtm": ["30 extra bytes after the last matrix; kept"],
    "small.hog": ["3 extra bytes after the files; kept", "2 bytes lie between table and files; kept"],
    **{
        f"version_{version}.oof": [
            NAN("SOBJ body: 3"),
            "ignored by the game; kept unchanged (IDTA)",
            "its meaning is not known; kept unchanged (WXYZ)",
        ]
        for version in (1807, 1908, 2300)
    },
}
"""What reading a small file reports."""
KEPT_BYTES = {
    "annotated/level.ai": 16,
    "annotated/level.spawn": 4,
    "build.cform": 24,
    "level/level.ai": 16,
    "level/level.err": 4,
    "level/level.spawn": 8,
    "old.details": 2,
    "old.rtm": 153,
    "plain.rtm": 183,
    "small.err": 4,
    "small.gam": 20,
    "small.hog": 5,
    "small.xr": 14,
    "version_1807.oof": 3,
    "version_1908.oof": 3,
    "version_2300.oof": 3,
    "version_2.cform": 4,
}
"""How many bytes of a small file are kept without a meaning; none of all others."""
UNMARKED = {"configs/system.ltx", "indexed.paa", "several.skls"}
"""Small files whose first bytes do not tell their format."""
CUTS = 300
smalls = pytest.mark.parametrize("document", SMALL, ids=lambda document: document.name)
annotated = pytest.mark.parametrize(
    "document", [document for document in SMALL if document.name in ANNOTATED], ids=lambda document: document.name
)


def judged(document, data, **options):
    return verify(data, document.name.rpartition("/")[2], **options)


def ends_of_chunks(document) -> set[int]:
    return {at + 8 + len(body) for at, _, body in chunks(document.data) or ()} | ENDS.get(document.name, set())


@smalls
def test_a_small_file_is_written_as_it_was_read_and_known_by_its_first_bytes(document):
    verdict = judged(document, document.data, deep=True)
    assert verdict.status is Status.IDENTICAL, verdict.detail
    assert document.lines(document.data) == SAID.get(document.name, [])
    assert verdict.raw_share * len(document.data) == pytest.approx(KEPT_BYTES.get(document.name, 0))
    assert document.name in UNMARKED or detect("nameless", document.data[:HEAD_SIZE]) is document.format
    for size in range(HEAD_SIZE):
        assert detect("nameless", document.data[:size]) in {None, *FORMATS}


@smalls
def test_a_file_cut_anywhere_is_refused_and_a_copy_advised_or_kept_and_reported(document):
    for size in spread(range(1, len(document.data)), CUTS):
        verdict = judged(document, document.data[:size])
        if verdict.status is Status.REFUSED:
            assert COPIES.search(verdict.detail) or HEADS.search(verdict.detail), (size, verdict.detail)
            continue
        assert verdict.status is Status.IDENTICAL, (size, verdict.detail)
        assert document.format.name not in WHOLE_ONLY, size
        assert verdict.warnings or size in ends_of_chunks(document) or document.format.name == "ltx", size


@annotated
def test_every_number_of_a_header_may_lie(document):
    """Each four bytes of the first hundred, set to what counts are attacked with: nothing crashes or grows."""
    for at in range(min(len(document.data), 100)):
        for value in (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
            lying = document.data[:at] + words(value) + document.data[at + 4 :]
            assert judged(document, lying).status in (Status.REFUSED, Status.IDENTICAL)


@settings(max_examples=300)
@given(st.sampled_from(SMALL), st.binary(max_size=200), st.integers(0, 60))
def test_any_bytes_are_refused_or_kept(document, noise, start):
    data = document.data[:start] + noise
    if data:
        assert judged(document, data).status in (Status.REFUSED, Status.IDENTICAL)


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_a_pointer_and_an_empty_file_are_refused(known):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    name = f"file{(*known.suffixes, '')[0]}"
    for data, problem in ((pointer, "git-lfs pointer"), (b"", "the file is empty")):
        with pytest.raises(ReadError, match=problem) as refused:
            known.module.read(data, name, Report())
        assert refused.value.file == name
