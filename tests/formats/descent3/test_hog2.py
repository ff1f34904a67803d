"""`.hog`: bytes, names that lead elsewhere, what is taken out."""

import struct

import pytest

from addon.core.errors import ReadError, WriteError
from addon.core.files import why_unsafe
from addon.core.report import Report
from addon.core.walk import Walk
from addon.formats import archives, detect
from addon.formats.descent3 import hog2
from addon.formats.verification import verify
from tests.formats.reading import reading
from tests.real_files import corpus_files
from tests.work import memory_peak


def entry(name, length, time=7, padding=b"\xcd"):
    return (name + b"\0").ljust(36, padding) + struct.pack("<III", 0, length, time)


def archive(files, *, start=None, count=None, tail=b""):
    table = b"".join(entry(name, len(content)) for name, content in files)
    start = 68 + len(table) if start is None else start
    header = b"HOG2" + struct.pack("<II", len(files) if count is None else count, start) + b"\xff" * 56
    gap = bytes(max(start - 68 - len(table), 0))
    return header + table + gap + b"".join(content for _, content in files) + tail


FILES = [(b"A.ogf", b"one"), (b"b.OOF", b"two..."), (b"c.txt", b"")]

read = reading(hog2, "test.hog")


def test_an_archive_is_known_to_the_last_byte():
    data = archive(FILES)
    document, report = read(data)
    assert not report
    assert document.names == ["A.ogf", "b.OOF", "c.txt"]
    assert document.table["time"].tolist() == [7, 7, 7]
    assert document.content("B.oof") == b"two..."
    assert hog2.write(document) == hog2.recompose(document) == data
    assert hog2.raw_size(document) == 0
    assert detect("level.mn3", b"").module is hog2
    assert detect("nameless", data[:64]).module is hog2
    assert hog2.describe(document) == ["3 files, 9 bytes", "A.ogf: 3 bytes", "b.OOF: 6 bytes", "c.txt: 0 bytes"]
    with pytest.raises(ReadError, match="no file named 'd'"):
        document.content("d")


@pytest.mark.parametrize("file", corpus_files("hog"))
def test_a_real_archive_is_made_again_from_its_files(file):
    data = file.read_bytes()
    document, _ = read(data)
    files = {name: bytes(content) for name, content in zip(document.names, document.contents, strict=True)}
    times = dict(zip(document.names, document.table["time"].tolist(), strict=True))
    assert hog2.write(hog2.new_hog2(files, times)) == data


def test_what_is_odd_is_kept_and_reported():
    data = archive(FILES[::-1], start=68 + 3 * 48 + 5, tail=b"behind")
    document, report = read(data)
    assert hog2.write(document) == data
    assert hog2.raw_size(document) == 11
    assert report.lines() == [
        "6 extra bytes after the files; kept",
        "the table is not sorted: the game does not find every file",
        "5 bytes lie between table and files; kept",
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (archive(FILES, count=0xFFFFFFFF), "the table of 4294967295 files: "),
        (archive(FILES)[:-1], "the files of the table need 9 bytes, 8 are left"),
        (archive(FILES, start=100), "says that the files begin at 100, inside the table"),
        (b"HOG1" + bytes(80), "begins with HOG2"),
        (b"HOG2\1", "4 bytes are needed"),
        (archive(FILES)[:68] + b"A\0".ljust(36, b"\0") + b"\xff" * 12, "the table of 3 files: "),
    ],
)
def test_what_is_no_archive_is_refused(data, words):
    with pytest.raises(ReadError, match=words):
        read(data)
    assert memory_peak(lambda: verify(data, "a.hog")) < 100_000


LEADING_ELSEWHERE = [
    b"..\\..\\x", b"../x", b"/etc/x", b"C:\\x", b"C:x", b"..", b".", b"", b"a/b", b"a\\b", b"x:stream", b"nul",
    b"COM1.txt",    b"x.", b"x ", b"a\nb", b"~\x1b", b"COM\xb9", b"lpt\xb3.oof", b"com0", b"CONIN$", b"conout$.txt",
    b"CON .txt", b"aux  .a.b", b"Clock$",
]  # fmt: skip


def test_names_that_only_look_like_devices_are_files():
    for name in ("console.txt", "com10.oof", "com.txt", "lpt.ogf", "nul_.ogf", "a con.txt", "conin.txt", "com\u0663"):
        assert not why_unsafe(name), name


def opened(folder, files):
    path = folder / "test.hog"
    path.write_bytes(archive(sorted(files, key=lambda file: file[0].decode("latin-1").lower())))
    report = Report()
    return archives.open_archive(path, report), report


@pytest.mark.parametrize("name", LEADING_ELSEWHERE)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    folder = tmp_path / "in" / "side"
    folder.mkdir(parents=True)
    source, report = opened(tmp_path, [(name, b"evil"), (b"z.txt", b"good")])
    assert archives.extract(source, folder, report) == [folder / "z.txt"]
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"test.hog", "in/side/z.txt"}
    assert [line.partition(" (")[0] for line in report.lines()] == ["1 file has a name that no file can have: left out"]
    with pytest.raises(WriteError):
        hog2.new_hog2({name.decode("latin-1"): b""})


def test_what_is_there_stays_and_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.ogf").write_text("old")
    (folder / "c.txt").symlink_to(outside)
    files = [(b"a.ogf", b"new"), (b"b.oof", b"1"), (b"B.OOF", b"2"), (b"c.txt", b"evil")]
    source, report = opened(tmp_path, files)
    assert archives.extract(source, folder, report) == [folder / "b.oof"]
    assert (folder / "a.ogf").read_text() == "old"
    assert (folder / "b.oof").read_bytes() == b"1"
    assert report.lines() == [
        "several files have one name; the first is found here",
        "left out: there is such a file already (a.ogf, c.txt)",
        "left out: another file has the same name (B.OOF)",
    ]
    archives.extract(source, folder, report, [0, 3], overwrite=True)
    assert (folder / "a.ogf").read_bytes() == b"new"
    assert outside.read_text() == "mine"


def test_a_new_archive_is_sorted_as_the_game_searches():
    document = hog2.new_hog2({"b_x": b"3", "B1": b"2", "a": b"1"})
    assert document.names == ["a", "B1", "b_x"]
    assert hog2.write(document)[:12] == b"HOG2" + struct.pack("<II", 3, 68 + 3 * 48)
    again, report = read(hog2.write(document))
    assert not report
    assert [bytes(content) for content in again.contents] == [b"1", b"2", b"3"]
    for names, words in (
        (("a" * 36,), "36 characters, 35 fit"),
        (("a", "A"), "two files have one name"),
        (("й",), "cannot hold"),
    ):
        with pytest.raises(WriteError, match=words):
            hog2.new_hog2(dict.fromkeys(names, b""))
    assert len(hog2.new_hog2({"a" * 35: b""}).names[0]) == 35


def test_what_differs_is_named():
    own_entry, _ = read(archive(FILES))
    other, _ = read(archive([(b"a.OGF", b"ONE"), (b"b.OOF", b"two..."), (b"d", b"")], tail=b"x"))
    assert list(Walk(hog2.VIEWS).differences(own_entry, other)) == [
        "tail: - / 78",
        "file 'A.ogf' is now called 'a.OGF'",
        "file 'A.ogf' name: 1 of 1 differ, first 0",
        "file 'A.ogf': bytes: 6f6e65 / 4f4e45",
        "file 'c.txt' is only in the first",
        "file 'd' is only in the second",
    ]
    assert list(Walk(hog2.VIEWS).differences(own_entry, own_entry)) == []
    assert [line for line in Walk(hog2.VIEWS).dump(own_entry) if "file '" in line or "bytes" in line] == [
        "file 'A.ogf'",
        "  bytes 6f6e65",
        "file 'b.OOF'",
        "  bytes 74776f2e2e2e",
        "file 'c.txt'",
    ]


def test_files_are_put_into_an_archive_and_the_others_keep_their_bytes():
    document, _ = read(archive(FILES, start=68 + 48 * 3 + 5, tail=b"end"))
    new = {"B.oof": b"longer than before", "aa.ogf": b"new", "C.TXT": b""}
    created = hog2.with_files(document, new, dict.fromkeys(new, 99))
    data = hog2.write(created)
    again, report = read(data)
    assert list(report.warnings) == ["3 extra bytes after the files; kept"]
    assert again.names == ["A.ogf", "aa.ogf", "b.OOF", "c.txt"]
    assert [bytes(content) for content in again.contents] == [b"one", b"new", b"longer than before", b""]
    assert again.table["time"].tolist() == [7, 99, 99, 7]
    for number, entry_before in ((0, 0), (3, 2)):
        assert again.table[number].tobytes() == document.table[entry_before].tobytes()
    assert (bytes(again.gap), bytes(again.tail)) == (bytes(5), b"end")
    assert hog2.write(hog2.with_files(document, {"A.OGF": b"one"})) == hog2.write(document)


def test_an_archive_that_was_not_sorted_is_sorted_when_files_are_put_into_it():
    document, report = read(archive(FILES[::-1]))
    assert report.warnings
    again, report = read(hog2.write(hog2.with_files(document, {"a2.ogf": b"x"})))
    assert not report
    assert again.names == ["A.ogf", "a2.ogf", "b.OOF", "c.txt"]
    assert [bytes(again.content(name)) for name in again.names] == [b"one", b"x", b"two...", b""]
