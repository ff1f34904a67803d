"""Kept tables of archives: what comes out is what went in, and whatever is wrong with them costs time only."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import kept as core_kept
from addon.core.report import Report
from addon.formats import archives
from addon.formats.archives import kept
from addon.formats.archives.table import _MAYBE_UNCLEAN, is_clean
from tests.formats.archives import written

FILES = [(f"textures\\Act\\act_{number:03}.dds".encode(), b"%d" % number) for number in range(kept.WORTH)]
HEADER = b"[header]\r\nentry_point = $fs_root$\\gamedata\\levels\\\r\n"


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens an archive as another start of Blender would; counts how often its own table was read."""
    monkeypatch.setattr(core_kept, "folder", lambda: tmp_path / "own")
    kept._make_room.cache_clear()
    counts = []
    read = archives.open_archive
    monkeypatch.setattr(archives, "open_archive", lambda path, report: counts.append(path) or read(path, report))

    def again(path):
        archives._opened.cache_clear()
        counts.clear()
        return archives.opened(path), len(counts)

    return again


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "textures.db0"
    path.write_bytes(written.xray(FILES, header=HEADER, packed_table=False))
    return path


def told(table):
    return [getattr(table, name) for name in ("names", *kept._TEXTS)], table.numbers.tolist()


def test_the_second_time_a_table_comes_from_where_it_is_kept(opened, archive):
    first, reads = opened(archive)
    assert reads == 1
    second, reads = opened(archive)
    assert reads == 0
    assert told(second.table) == told(first.table)
    index = second.find("TEXTURES/act/ACT_007.dds")
    assert (second.table.names[index], second.verify(index)) == ("textures\\Act\\act_007.dds", b"7")
    assert second.table.mount == "gamedata\\levels\\"


def test_archives_of_every_kind_are_kept(opened, tmp_path):
    path = tmp_path / "x.pbo"
    path.write_bytes(written.pbo(FILES, properties=[(b"prefix", b"z\\x"), (b"author", "Имя".encode())]))
    first, _ = opened(path)
    second, reads = opened(path)
    assert (told(first.table), reads) == (told(second.table), 0)


def test_a_kept_table_of_a_replaced_archive_does_not_count(opened, archive):
    opened(archive)
    status = archive.stat()
    archive.write_bytes(written.xray([(b"new.ltx", b""), *FILES[1:]], header=HEADER, packed_table=False))
    os.utime(archive, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    table, reads = opened(archive)
    assert (reads, table.table.names[0]) == (1, "new.ltx")
    assert opened(archive)[1] == 0


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "foreign", "folder"])
def test_a_damaged_kept_table_is_read_again_without_a_word(opened, archive, tmp_path, damage):
    first, _ = opened(archive)
    (file,) = (tmp_path / "own/archives").iterdir()
    data = file.read_bytes()
    for at in range(0, len(data), 97) if damage in ("cut", "changed") else (0,):
        broken = {
            "cut": data[:at],
            "empty": b"",
            "changed": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
            "foreign": b"\xff" * len(data),
        }
        if damage == "folder":
            file.unlink(missing_ok=True)
            file.mkdir()
        else:
            file.write_bytes(broken[damage])
        table, reads = opened(archive)
        assert reads == 1
        assert told(table.table) == told(first.table)


def test_without_a_folder_that_can_be_written_archives_are_read_as_ever(opened, archive, tmp_path):
    (tmp_path / "own").write_bytes(b"a file where the folder would be")
    assert [opened(archive)[1], opened(archive)[1]] == [1, 1]


def test_small_archives_and_those_with_something_odd_are_not_kept(opened, tmp_path):
    for name, files in (("small.db0", FILES[1:]), ("odd.db0", [*FILES, (b"a*", b"")])):
        (tmp_path / name).write_bytes(written.xray(files, packed_table=False))
        assert [opened(tmp_path / name)[1], opened(tmp_path / name)[1]] == [1, 1]
    assert "no file can have" in archives.verify(tmp_path / "odd.db0")[0]


def test_kept_tables_do_not_fill_the_disk(opened, archive, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST", 4)
    folder = tmp_path / "own/archives"
    folder.mkdir(parents=True)
    for number in range(7):
        (folder / f"{number}.table").write_bytes(b"")
        os.utime(folder / f"{number}.table", (number, number))
    opened(archive)
    assert {file.stem for file in folder.iterdir()} >= {"5", "6"}
    assert len([*folder.iterdir()]) == 3


parts = st.text(st.sampled_from("aCONlpt1 .\\/:\x01\x7f*é"), max_size=6) | st.sampled_from(
    ["con", "nul", "COM1", "a" * 261, "a" * 255, "a" * 256, "é" * 127, "é" * 128, "\U0001f600" * 64]
)


@given(st.lists(st.lists(parts, max_size=3).map("\\".join), min_size=1, max_size=4))
def test_no_unclean_name_escapes_the_first_look(names):
    if _MAYBE_UNCLEAN.search("\n".join(names)) is None:
        assert all(map(is_clean, names))
    table = archives.Table("", names, archives.table.np.zeros(len(names), archives.table.NUMBERS))
    assert archives.table.without_unclean(table, Report()).names == [name for name in names if is_clean(name)]
