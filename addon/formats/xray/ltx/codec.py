"""Read and write `.ltx`: every line is split into code, comment and line end, which together give back the line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....core import names
from ....core.binary import Reader
from ....core.errors import WriteError
from ....core.report import Report, counted, listed, say
from .document import BLANKS, Head, Include, Line, Ltx, begins_section, is_open, part_of, split_comment

ASCII, CODE_PAGE, UTF_8 = "ascii", "cp1251", "utf-8"
BOM = b"\xef\xbb\xbf"
SHOWN = 5
"""Number of lines and names that are listed per kind of problem."""

# A comment begins with a semicolon, or with // if that is the first slash of the line. Lines with a quote before it
# are taken whole: a comment sign inside of the first quotes is text.
_LINE = re.compile(
    r'(?:([^;/"\r\n]*(?:/(?!/)[^;"\r\n]*)?)((?:;|//)[^\r\n]*)?|([^\r\n]*))(\r\n|\r|\n|\Z)',
)
_HEAD = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*(?:#include\s+"|(?:!!|[!@])?\[[A-Za-z_][\w.$@\\-]*\](?:\s*(?:\r|\n|;|//)|:\s*!?[A-Za-z_]))'
)


def starts_like(head: bytes) -> bool:
    """Return whether a file starts with the header of a section, or with an include."""
    return _HEAD.match(head) is not None


def read(data: bytes, file: str, report: Report) -> Ltx:
    """Read an `.ltx` file. Raises `ReadError` for an empty file and for data that is not text."""
    reader = Reader.of_file(data, file)
    reader.refuse_git_pointer()
    if b"\0" in data.rstrip(b"\0"):
        reader.position = data.index(b"\0")
        raise reader.error("this is not a text file: it contains a zero byte", "Choose an .ltx of the game's configs")
    document = parsed(data)
    _report_oddities(document, report)
    return document


def parsed(data: bytes) -> Ltx:
    """Return the document of any bytes, also of an empty file."""
    bom, end = BOM if data.startswith(BOM) else b"", len(data.rstrip(b"\0"))
    text, encoding = _decoded(data[len(bom) : end])
    return Ltx(list(_lines(text)), UTF_8 if bom and encoding == ASCII else encoding, bom, len(data) - end)


def scanned(data: bytes) -> list[Head | Include] | None:
    """Return the sections and includes of a file as `Ltx.parts` does, but many times faster, without making a document.

    None if only the document is reliable: quotes that may join lines, and line ends of old Macintosh files (CR).
    """
    text, _ = _decoded(data.removeprefix(BOM).rstrip(b"\0"))
    pieces = text.split('"')
    may_join = len(pieces) % 2 == 0 or any(sign in piece for piece in pieces[1::2] for sign in _MAY_CONTINUE)
    if may_join or text.count("\r") != text.count("\r\n"):
        return None
    text = "\n" + text
    result: list[Head | Include] = []
    number, position = -1, 0
    for match in _SECTION_OR_INCLUDE.finditer(text):
        number += text.count("\n", position, match.start(1))
        position = match.start(1)
        part = part_of(number, split_comment(match[1])[0])
        if part is not None:
            result.append(part)
    return result


_MAY_CONTINUE = ("\n", "=", ";", "//")
"""Inside quotes, these may mean that the value continues on the next line."""
_SECTION_OR_INCLUDE = re.compile(r"\n[ \t\v\f]*([\[!@#][^\r\n]*)")


def _decoded(data: bytes) -> tuple[str, str]:
    if data.isascii():
        return data.decode("ascii"), ASCII
    try:
        return data.decode("utf-8"), UTF_8
    except UnicodeDecodeError:
        return names.decode(data), CODE_PAGE


def _lines(text: str) -> Iterator[Line]:
    in_section = is_open_quote = False
    joined: list[str] = []
    last_end = ""
    for match in _LINE.finditer(text):
        code, comment, whole, end = match.groups("")
        if not (code or comment or whole or end):
            break  # the empty match after the last line
        if is_open_quote:
            # Text after an open quote is read unchanged, including comment signs.
            text_part = code + comment + whole
            joined += (last_end, text_part)
            last_end = end
            if text_part.count('"') % 2:
                is_open_quote = False
                yield Line("".join(joined), "", end)
            continue
        if whole:
            code, comment = split_comment(whole)
        in_section = in_section or begins_section(code)
        if whole and in_section and end and is_open(code):
            # The game removes the comment of the first line before it searches the end of the quote.
            is_open_quote, joined, last_end = True, [code + comment], end
        else:
            yield Line(code, comment, end)
    if is_open_quote:
        yield Line("".join(joined), "", last_end)


def _report_oddities(document: Ltx, report: Report) -> None:
    if document.zeros:
        report.warn(say("{:# zero byte|# zero bytes} after the text; kept", document.zeros))
    heads = document.heads
    first = heads[0].line if heads else len(document.lines)
    included = {part.line for part in document.includes}
    ignored = [
        index for index, line in enumerate(document.lines[:first]) if index not in included and line.code.strip(BLANKS)
    ]
    if ignored:
        report.warn(
            "text before the first section, which the game ignores; kept", say("line {}", document.number(ignored[0]))
        )
    for head in heads:
        if re.search(r"\][ \t]+:", document.lines[head.line].code):
            report.warn("a blank between ] and : hides the parents from the game", f"[{head.name}]")


def problems(document: Ltx) -> Iterator[str]:
    """Yield what stops the game: repeated sections, headers without a closing bracket, quotes that are not closed."""
    lines_of: dict[str, list[int]] = {}
    unclosed = []
    for head in document.heads:
        if "]" not in document.lines[head.line].code:
            unclosed.append(head.line)
        elif not head.change:
            lines_of.setdefault(head.name, []).append(head.line)
    if unclosed:
        yield f"names of sections without ] in {_numbered(document, unclosed)}"
    duplicates = {name: lines for name, lines in lines_of.items() if len(lines) > 1}
    for name, lines in list(duplicates.items())[:SHOWN]:
        yield f"the section [{name}] occurs {counted(len(lines), 'time')}, in {_numbered(document, lines)}"
    if len(duplicates) > SHOWN:
        yield say("{:# more section occurs|# more sections occur} repeatedly", len(duplicates) - SHOWN)
    start = document.heads[0].line if document.heads else len(document.lines)
    open_quotes = [
        index
        for index in range(start, len(document.lines))
        if '"' in document.lines[index].code and is_open(document.lines[index].code)
    ]
    if open_quotes:
        yield f"a quote that is not closed in {_numbered(document, open_quotes)}"


def _numbered(document: Ltx, lines: list[int]) -> str:
    """Return line numbers as text: ``line 3``, ``lines 3, 9 and 2 more``."""
    return f"line{'s' if len(lines) > 1 else ''} {listed([str(document.number(line)) for line in lines], SHOWN)}"


def write(document: Ltx) -> bytes:
    """Return the bytes of the file. Raises `WriteError` for a character that its encoding lacks."""
    text = "".join([piece for line in document.lines for piece in line])
    return document.bom + encoded(text, document.encoding) + bytes(document.zeros)


recompose = write  # nothing is kept as bytes: each line is written from its three parts


def encoded(text: str, encoding: str) -> bytes:
    """Encode a text. Every encoding except UTF-8 is written as code page 1251, also ASCII text that got other letters.

    Raises `WriteError` for characters that cannot be encoded.
    """
    if encoding == UTF_8:
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError:
            raise WriteError("the text is not Unicode", remedy="Type it again") from None
    return names.encode(text)


def raw_size(document: Ltx) -> int:
    """Return 0: every byte of a text is understood."""
    del document
    return 0
