"""Archives of the games: every entry of real ones against a second reader, written ones of every kind, hostile ones."""

import errno
import os
import struct
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.compression import lzo
from addon.core.errors import ReadError, WriteError
from addon.core.files import refuse_unwritable, write_atomically
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import archives
from addon.formats.descent3 import hog2
from tests.formats.archives import written
from tests.formats.archives.reader import files_of
from tests.real_files import corpus_files
from tests.work import lines_run, memory_peak

DATA_PAST_END = "odd_pbo_data_past_end.pbo"
FILES = [
    (b"meshes\\actors\\stalker.ogf", b"model " * 90),
    (b"configs\\system.ltx", b"[s]\r\n"),
    (b"meshes\\empty.ogf", b""),
    (b"textures\\noise.dds", bytes(range(256))),
]
CONTENT = {name.decode(): data for name, data in FILES}


def stored(tmp_path, data, name="test.db0"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def content(path):
    archive = archives.open_archive(path, Report())
    return {name: archive.verify(index) for index, name in enumerate(archive.table.names)}


@pytest.mark.parametrize("path", corpus_files("archives"))
def test_every_file_of_a_real_archive_is_what_another_reader_gives(path):
    if path.name == DATA_PAST_END:
        with pytest.raises(ReadError, match="the files of the table need 21 bytes, 0 are left"):
            archives.open_archive(path, Report())
        return
    archive = archives.open_archive(path, Report())
    files = [(name.encode("cp1251"), archive.verify(index)) for index, name in enumerate(archive.table.names)]
    assert Counter(files) == Counter((name.replace(b"/", b"\\"), data) for name, data in files_of(path))
    assert archive.keys == sorted(name.lower() for name in archive.table.names)


@pytest.mark.parametrize("edition", ["", "WW", "RU"])
@pytest.mark.parametrize("layout", written.LAYOUTS)
def test_archives_of_every_layout_and_key_are_read(tmp_path, layout, edition):
    path = stored(tmp_path, written.xray(FILES, layout=layout, edition=edition, folders=[b"meshes\\", b"sounds\\"]))
    assert content(path) == CONTENT == {name.decode(): data for name, data in files_of(path)}
    table = archives.open_archive(path, Report()).table
    assert ("(" + edition + ")" in table.kind) == bool(edition)


def test_a_table_without_compression_and_an_empty_one_are_read(tmp_path):
    assert content(stored(tmp_path, written.xray(FILES, packed_table=False))) == CONTENT
    assert content(stored(tmp_path, written.xray([], packed_table=False))) == {}


names = st.text(
    st.characters(codec="cp1251", exclude_characters='\\/:*?"<>|', min_codepoint=33), min_size=1, max_size=9
)
paths = st.lists(names.filter(lambda name: name.strip(". ") and name[-1] not in ". "), min_size=1, max_size=3)


@given(
    st.dictionaries(paths.map("\\".join), st.binary(max_size=60), min_size=1, max_size=5),
    st.sampled_from(written.LAYOUTS),
)
@settings(deadline=None, max_examples=40)
def test_whatever_names_and_bytes_go_into_an_archive_come_out(tmp_path_factory, files, layout):
    folder = tmp_path_factory.mktemp("any")
    files = {name: data for name, data in files.items() if archives.table.is_clean(name)}
    encoded = [(name.encode("cp1251"), data) for name, data in files.items()]
    if encoded:
        assert content(stored(folder, written.xray(encoded, layout=layout, packed_table=False))) == files
    assert (
        content(stored(folder, written.pbo([(name.encode(), data) for name, data in files.items()]), "any.pbo"))
        == files
    )


def test_the_header_says_where_the_game_sees_the_files(tmp_path):
    header = b'[header]\r\nauto_load = true ; yes\r\nentry_point = "$fs_root$\\gamedata\\levels\\"\r\n'
    table = archives.open_archive(stored(tmp_path, written.xray(FILES, header=header)), Report()).table
    assert (table.mount, table.properties["auto_load"]) == ("gamedata\\levels\\", "true")
    assert archives.open_archive(stored(tmp_path, written.xray(FILES)), Report()).table.mount == "gamedata\\"


def test_properties_and_compressed_files_of_a_pbo_are_read(tmp_path):
    properties = [(b"version", b"1"), (b"Prefix", b"\\z\\ace/addons\\main\\ ")]
    path = stored(tmp_path, written.pbo(FILES, properties=properties, packed=[FILES[0][0]]), "main.pbo")
    archive = archives.open_archive(path, Report())
    assert content(path) == CONTENT
    assert archive.table.mount == "z\\ace\\addons\\main\\"
    assert archives.open_archive(stored(tmp_path, written.pbo(FILES), "own.pbo"), Report()).table.mount == "own\\"
    assert archives.verify(path) == []
    data = path.read_bytes()
    assert archives.verify(stored(tmp_path, data[:-1] + bytes([data[-1] ^ 1]), "x.pbo")) == [
        "the SHA-1 after the files is not that of the archive"
    ]
    assert archives.verify(stored(tmp_path, written.pbo(FILES, sha1=False), "none.pbo")) == []


def test_long_tables_are_read_in_linear_work(tmp_path):
    def work(count):
        data = written.pbo([(b"folder\\%05d.sqf" % number, b"") for number in range(count)])
        path = stored(tmp_path, data, f"{count}.pbo")
        return lines_run(lambda: archives.open_archive(path, Report()))

    assert work(6_000) < 2.5 * work(3_000)


# Refusals and hostile archives ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.db", b"hsqs" + bytes(90), "SquashFS"),
        ("Thumbs.db", b"\xd0\xcf\x11\xe0" + bytes(90), "Windows"),
        ("a.db", b"SQLite format 3\0" + bytes(90), "another program"),
        ("a.db0", struct.pack("<II", 7, 4) + bytes(90), "not an archive of one of the games"),
        ("a.db0", written.chunk(0, b"data"), "no table of files"),
        ("a.db0", written.chunk(0x80000001, os.urandom(0) + b"\x10\0\0\0" + b"\xa5\x3c" * 40), "unknown key"),
        ("a.db0", written.chunk(1, b"\1\2\3"), "unknown layout"),
        ("a.ebo", written.pbo(FILES), "encrypted"),
        ("a.pbo", written.pbo(FILES, properties=[(b"encryption", b"x")]), "encrypted"),
        ("a.pbo", b"a\0" + struct.pack("<5I", 0x456E6372, 0, 0, 0, 0) + bytes(40), "encrypted"),
        ("a.pbo", b"a" * 70_000, "not an archive of Arma"),
        ("a.pbo", b"a\0" + bytes(20) + b"b\0", "ends inside its table"),
        ("a.pbo", written.pbo(FILES, sha1=False)[:-1], "the files of the table need"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_its_kind(tmp_path, name, data, words):
    with pytest.raises(ReadError, match=words):
        archives.open_archive(stored(tmp_path, data, name), Report())


@pytest.mark.parametrize(
    "name", [b"..\\x.txt", b"C:\\x", b"\\x", b"a\\\\b", b"con", b"a\\nul.txt", b"x\1y", b"a" * 300, b"a*"]
)
@pytest.mark.parametrize("kind", ["xray", "pbo"])
def test_names_that_no_file_can_have_are_left_out_and_counted(tmp_path, kind, name):
    files = [(name, b"evil"), (b"good.txt", b"good")]
    data = written.xray(files) if kind == "xray" else written.pbo(files)
    report = Report()
    if kind == "xray" and min(name) < 32:
        return  # such a table belongs to another key
    path = stored(tmp_path, data, f"x.{'db0' if kind == 'xray' else 'pbo'}")
    archive = archives.open_archive(path, report)
    assert archive.table.names == ["good.txt"]
    assert archive.table.left_out == 1
    assert "1 file has a name that no file can have: left out" in report.lines()[0]
    assert [archive.read(0), archives.extract(archive, tmp_path, report)] == [b"good", [tmp_path / "good.txt"]]


@pytest.mark.parametrize("edition", ["", "RU"])
def test_every_cut_of_an_archive_is_refused(tmp_path, edition):
    files = [(b"a\\b.ltx", b"[s]")]
    for name, data in (
        ("x.db0", written.xray(files, edition=edition)),
        ("x.pbo", written.pbo(files, properties=[(b"prefix", b"x")], sha1=False)),
    ):
        for size in range(len(data)):
            with pytest.raises(ReadError):
                archives.open_archive(stored(tmp_path, data[:size], name), Report())


HOSTILE = {
    "x.db0": written.xray(FILES, header=b"[header]\r\nentry_point = gamedata\r\n", packed_table=False),
    "packed.db0": written.xray(FILES, edition="RU"),
    "old.xp0": written.xray(FILES, layout="1114"),
    "x.pbo": written.pbo(FILES, properties=[(b"prefix", b"x")], packed=[FILES[0][0]]),
    "x.hog": hog2.write(hog2.new_hog2({"a.txt": b"a" * 90, "b.txt": b""}, {"a.txt": 0, "b.txt": 0})),
}


@pytest.mark.parametrize("name", HOSTILE)
@given(st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=80)
def test_changed_bytes_of_an_archive_are_an_error_or_other_files(tmp_path_factory, name, changes):
    data = bytearray(HOSTILE[name])
    for share, byte in changes:
        data[int(share * len(data))] = byte
    path = stored(tmp_path_factory.getbasetemp(), bytes(data), name)
    try:
        archive = archives.open_archive(path, Report())
    except ReadError:
        return
    for index in range(len(archive)):
        with suppress(ReadError):
            archive.verify(index)


def test_sizes_that_cannot_be_true_cost_nothing(tmp_path):
    stream = lzo.pack_bytes(b"model " * 90)
    for size in (0xFFFFFFFF, len(stream) * 300):
        row = struct.pack("<HIII", 16 + 1, size, len(stream), 0) + b"x" + struct.pack("<I", 8)
        path = stored(tmp_path, written.chunk(0, stream) + written.chunk(1, row))
        archive = archives.open_archive(path, Report())

        def refused(archive=archive):
            with pytest.raises(ReadError, match="cannot unpack"):
                archive.read(0)

        assert memory_peak(refused) < 1_000_000


@pytest.mark.parametrize(("offset", "count", "words"), [(8, 3, "refers to bytes before"), (12, 4, "written as it is")])
def test_a_damaged_file_is_named_and_the_others_stay_usable(tmp_path, offset, count, words):
    data = bytearray(written.xray(FILES))
    data[offset] ^= 0xFF
    archive = archives.open_archive(stored(tmp_path, bytes(data)), Report())
    with pytest.raises(ReadError, match=r"test\.db0.meshes\\actors\\stalker\.ogf"):
        archive.verify(archive.find("meshes\\actors\\stalker.ogf"))
    assert archive.verify(archive.find("configs\\system.ltx")) == b"[s]\r\n"
    report = Report()
    assert len(archives.extract(archive, tmp_path, report)) == count
    assert len(report.warnings) == 1


def test_an_archive_that_changed_is_noticed(tmp_path):
    path = stored(tmp_path, written.xray(FILES))
    archive = archives.opened(path)
    assert archives.opened(path) is archive
    stored(tmp_path, written.xray(FILES[:3]))
    with pytest.raises(ReadError, match="the archive has changed"):
        archive.read(0)
    assert len(archives.opened(path)) == 3


def test_a_name_that_is_listed_twice_is_the_last_file(tmp_path):
    path = stored(tmp_path, written.xray([(b"A.txt", b"first"), (b"a.TXT", b"second")]))
    archive = archives.open_archive(path, Report())
    assert archive.read(archive.find("a.txt")) == b"second"
    assert archives.verify(path) == ["1 name is listed more than once (a.txt)"]
    report = Report()
    assert [path.read_bytes() for path in archives.extract(archive, tmp_path, report)] == [b"second"]


# Paths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inner", ["meshes/actors/stalker.ogf", "MESHES\\Actors\\stalker.OGF", "meshes/actors\\stalker.ogf"]
)
def test_a_path_into_an_archive_is_read_in_any_case_and_with_both_slashes(tmp_path, inner):
    path = stored(tmp_path, written.xray(FILES))
    assert archives.inner_file(f"{path}/{inner}") == archives.inner_file(f"{path}\\{inner}") == FILES[0][1]


def test_existing_files_win_and_other_paths_lead_into_no_archive(tmp_path):
    path = stored(tmp_path, written.xray(FILES))
    assert archives.inner_file(path) is None
    assert archives.inner_file(tmp_path / "missing" / "x.ogf") is None
    assert archives.inner_file(f"{stored(tmp_path, b'text', 'x.txt')}/y") is None
    with pytest.raises(ReadError, match=r"no file named 'missing\.ogf'"):
        archives.inner_file(path / "missing.ogf")
    folder = tmp_path / "real.db0"
    folder.mkdir()
    stored(folder, b"loose", "x.ogf")
    assert archives.inner_file(folder / "x.ogf") is None


def test_a_path_with_thousands_of_separators_costs_little(tmp_path, monkeypatch):
    path = stored(tmp_path, written.xray([(b"a", b"1")]))
    looks = []
    monkeypatch.setattr(archives, "is_file", looks.append)
    assert archives.split(f"{path}{'/a' * 20_000}") is None
    assert len(looks) < 1000


def test_patterns_and_folders_match_inner_names(tmp_path):
    path = stored(tmp_path, written.xray([*FILES, (b"meshes\\a[1].ogf", b"x")]))
    assert archives.expanded(f"{path}/*.ltx") == [f"{path}{os.sep}configs\\system.ltx"]
    assert len(archives.expanded(f"{path}/meshes/*")) == len(archives.expanded(f"{path}/Meshes")) == 3
    assert archives.expanded(f"{path}/meshes/a[1].og?") == [f"{path}{os.sep}meshes\\a[1].ogf"]
    assert archives.expanded(str(tmp_path / "*.ogf")) == []


def test_files_are_not_written_over_others_or_through_links(tmp_path):
    path = stored(tmp_path, written.xray([(b"a.txt", b"new"), (b"link\\b.txt", b"new"), (b"file\\c.txt", b"new")]))
    folder, outside = tmp_path / "out", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "a.txt").write_text("old")
    (folder / "link").symlink_to(outside)
    (folder / "file").write_text("a file")
    archive = archives.open_archive(path, Report())
    report = Report()
    assert archives.extract(archive, folder, report) == []
    assert [*outside.iterdir()] == []
    assert len(report.warnings) == 2
    assert archives.extract(archive, folder, report, overwrite=True) == [folder / "a.txt"]


def test_files_that_would_fill_a_disk_with_the_same_bytes_are_refused(tmp_path):
    path = stored(tmp_path, written.xray([(b"a", bytes(1000))]))
    archive = archives.open_archive(path, Report())
    names = [f"{number:04}" for number in range(10_000)]
    many = archives.Table("", names, np.repeat(archive.table.numbers, len(names)))
    bomb = archives.Archive(path, many, archive.status)
    with pytest.raises(ReadError, match="its 10000 files are the same bytes"):
        archives.extract(bomb, tmp_path / "out", Report())
    assert len(archives.extract(bomb, tmp_path / "out", Report(), range(10))) == 10


def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    archive = archives.open_archive(stored(tmp_path, written.xray([(b"a\\b", b"1")])), Report())

    def full(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(WriteError, match="No space left on device"):
        archives.extract(archive, tmp_path, Report())


def test_tables_are_dumped_and_compared(tmp_path):
    first = archives.open_archive(stored(tmp_path, written.pbo(FILES), "a.pbo"), Report()).table
    second = archives.open_archive(stored(tmp_path, written.pbo(FILES[1:]), "a.pbo"), Report()).table
    walk: Walk = archives.FORMAT.walk
    assert any("stalker" in line for line in walk.dump(first))
    assert "file 'meshes\\\\actors\\\\stalker.ogf' is only in the first" in [*walk.differences(first, second)]
    assert Path(archives.describe(first)[0]).name.startswith("Arma archive: 4 files")
    assert "meshes\\actors\\stalker.ogf: " in "\n".join(archives.describe(first))


@pytest.mark.parametrize("name", ["meshes.db0", "addon.pbo", "renamed.bin", "d3.hog"])
def test_a_file_is_never_written_in_place_of_an_archive(name, tmp_path):
    path = tmp_path / name
    rows = [(b"a.txt", b"text")]
    content = {"addon.pbo": written.pbo, "d3.hog": lambda rows: hog2.write(hog2.new_hog2({"a.txt": rows[0][1]}))}
    path.write_bytes(content.get(name, written.xray)(rows))
    before = path.read_bytes()
    for refuse in (lambda: write_atomically(path, b"other", backup=True), lambda: refuse_unwritable(path)):
        with pytest.raises(WriteError, match="archive of a game, which no other file replaces"):
            refuse()
    for inner in ("a.txt", "b.txt", "folder/b.txt"):
        with pytest.raises(WriteError, match="is in an archive, which is never written"):
            write_atomically(path / inner, b"other")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, before)]
    other = tmp_path / "a.omf"
    other.write_bytes(b"old")
    write_atomically(other, b"new")
    assert other.read_bytes() == b"new"
