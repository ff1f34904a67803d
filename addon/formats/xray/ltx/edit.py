"""Change or add values of an `.ltx`; all other bytes of the file are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ....core.errors import WriteError
from ....core.report import say
from .codec import ASCII, CODE_PAGE, parsed, write
from .document import BLANKS, Change, Head, Item, Line, Ltx, cleaned
from .tree import ConfigFile, Configs, Value

_LAYOUT = re.compile(r"([ \t\v\f]*)[^ \t\v\f=]([^=]*[^ \t\v\f=])?([ \t\v\f]*=[ \t\v\f]*)")


@dataclass(frozen=True)
class Edit:
    """The document after a change, and the change in words; no words if nothing changed."""

    document: Ltx
    changes: list[str]


def with_value(document: Ltx, section: str, key: str, text: str) -> Edit:
    """Set one key of one section to a value, written as ``text``.

    The last line of the key is changed, because the last one counts; blanks around the value and its comment are kept.
    If there is no such line, a new one is added after the section's last key. ``section`` may start with a sign of DLTX
    (``![name]``). Raises `WriteError` if the section is missing, or if the text would be read back as a different
    value.
    """
    head, item = _find_key(document, section, key)
    lines = list(document.lines)
    if item is None:
        index, line = _new_line(document, head, key, text)
        lines[index - 1] = _with_line_end(lines[index - 1], document)
        lines.insert(index, line)
        changes = [f"[{head.name}] {key}: new, {text}"]
    elif item.value is not None and cleaned(text) == item.value:
        return Edit(document, [])
    else:
        lines[item.line] = _with_text(lines[item.line], text)
        changes = [f"[{head.name}] {key}: {'-' if item.value is None else item.value} -> {cleaned(text)}"]
    changed = _encodable(document, lines, text)
    _check_reading(changed, section, key, text)
    return Edit(changed, changes)


def _heads(document: Ltx, section: str) -> list[Head]:
    sign, bracket, name = section.partition("[")
    change, name = (Change(sign), name.removesuffix("]")) if bracket else (Change.NONE, section)
    result = [head for head in document.heads if head.name == name.lower() and head.change == change]
    if not result:
        raise WriteError(say("the file has no section {}[{}]", change, name), remedy="Name one of its sections")
    return result


def _find_key(document: Ltx, section: str, key: str) -> tuple[Head, Item | None]:
    """Return the header and the line that count: the last line of the key, in the last section that has it."""
    heads = _heads(document, section)
    for head in reversed(heads):
        items = [item for item in document.items(head) if item.key == key and item.change is Change.NONE]
        if items:
            return head, items[-1]
    return heads[-1], None


def _with_text(line: Line, text: str) -> Line:
    """Return a line with another value between the same blanks."""
    before, equals, old = line.code.partition("=")
    if not equals:
        blank = before[len(before.rstrip(BLANKS)) :]
        return line._replace(code=f"{before.rstrip(BLANKS)} = {text}{blank}")
    start = old[: len(old) - len(old.lstrip(BLANKS))]
    end = old[len(old.rstrip(BLANKS)) :] if old.strip(BLANKS) else ""
    if not old.strip(BLANKS) and not start:
        start = " "
    return line._replace(code=f"{before}={start}{text}{end}")


def _new_line(document: Ltx, head: Head, key: str, text: str) -> tuple[int, Line]:
    """Return the index for a new line, after the last key, and the line, with the same layout as that key's line."""
    last_line, layout, gap = head.line, "", " = "
    for item in document.items(head):
        last_line = item.line
        match = _LAYOUT.match(document.lines[item.line].code) if item.value is not None else None
        if match is not None:
            width = match.end(2) if match[2] is not None else match.start(3)
            layout = match[1]
            gap = match[3] if "\t" in match[3] else _aligned(match[3], width - len(layout) - len(key))
    return last_line + 1, Line(f"{layout}{key}{gap}{text}", "", _line_end_of(document))


def _aligned(gap: str, wider: int) -> str:
    """Return ``=`` with the blanks around it, aligned with the line above."""
    before, _, after = gap.partition("=")
    width = len(before) + wider
    return f"{' ' * max(width, min(len(before), 1))}={after}"


def _line_end_of(document: Ltx) -> str:
    """Return the line end for a new line: that of the first line that has one."""
    return next((line.end for line in document.lines if line.end), "\r\n")


def _with_line_end(line: Line, document: Ltx) -> Line:
    """Return the line with a line end, so that another line can follow."""
    return line if line.end else line._replace(end=_line_end_of(document))


def _encodable(document: Ltx, lines: list[Line], text: str) -> Ltx:
    encoding = CODE_PAGE if document.encoding == ASCII and not text.isascii() else document.encoding
    return replace(document, lines=lines, encoding=encoding)


def _check_reading(changed: Ltx, section: str, key: str, text: str) -> None:
    """Raise `WriteError` unless the game would read exactly this value, and all other lines as before."""
    again = parsed(write(changed))
    problem: str = "" if list(again.lines) == list(changed.lines) else "it would change how other lines are read"
    if not problem:
        _, item = _find_key(again, section, key)
        if item is None or item.value != cleaned(text):
            problem = "it would be read as something else"
    if problem:
        raise WriteError(
            say("{} = {!r} cannot be written: {}", key, text, problem),
            remedy="Leave out line breaks, signs of comments (; and //) and single quotes",
        )


@dataclass(frozen=True)
class ConfigEdit:
    """A config file after a change: its ``path``, its ``document``, and the changes in words."""

    path: Path
    document: Ltx
    changes: list[str]


def change_value(configs: Configs, section: str, key: str, text: str) -> ConfigEdit:
    """Change a value in the section itself; an inherited value is overridden by a new line of the section.

    Raises `ReadError` for an unknown section, `WriteError` for a list that DLTX assembles from several files.
    """
    return change_values(configs, section, {key: text})[0]


def change_values(
    configs: Configs, section: str, texts: Mapping[str, str], *, of_parents: bool = False
) -> list[ConfigEdit]:
    """Change several values (key -> text) of one section; return an edit per file, in the order of the keys.

    With ``of_parents`` an inherited value is changed in the section that defines it, and so for all sections that
    inherit it. Raises the same errors as `change_value`.
    """
    edits: dict[Path, ConfigEdit] = {}
    for key, text in texts.items():
        file, head, inherited = _target_of(configs, section, key, of_parents=of_parents)
        before = edits.get(file.path, ConfigEdit(file.path, file.document, []))
        edit = with_value(before.document, f"{head.change}[{head.name}]", key, text)
        changes = edit.changes
        if inherited is not None:
            changes = [f"{line}; was inherited from [{inherited.section}]: {inherited.text}" for line in changes]
        edits[file.path] = ConfigEdit(file.path, edit.document, [*before.changes, *changes])
    return list(edits.values())


def _target_of(configs: Configs, section: str, key: str, *, of_parents: bool) -> tuple[ConfigFile, Head, Value | None]:
    """Return the file and header to write a value into, and the inherited value that the new line would override."""
    values = configs.section(section)
    value = configs.values(section).get(key)
    if value is None or (value.section != values.name and not of_parents):
        return *values.sources[0], value
    if value.change is not Change.NONE:
        raise WriteError(
            say("[{}] {} is a list that several files add to", section, key),
            file=value.file.name,
            remedy=say("Edit line {} by hand", value.file.document.number(value.line)),
        )
    sources = configs.section(value.section).sources
    file, head = next(
        (source, part) for source, part in sources if source is value.file and value.line in source.document.span(part)
    )
    return file, head, None
