"""What the game's preprocessor does to a configuration before it is read: comments, `#define`, conditions.

Includes are not followed: a configuration brings settings of the whole game along, of which none is needed here.
"""

from __future__ import annotations

import re

from ...core.report import Report

LARGEST_GROWTH = 6
"""Times its own size (and 64 KiB) that is written while a text's definitions are filled in, all rounds together."""
_ROUNDS = 32
"""Definitions that name other definitions are followed so often."""

_COMMENT = re.compile(r'("(?:[^"\n]|"")*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_CONTINUED = re.compile(r"\\\r?\n")
_WORD = re.compile(r'"(?:[^"\n]|"")*"|[A-Za-z_]\w*')
_DEFINITION = re.compile(r"\s*(\w+)(\(([^)]*)\))?\s?(.*)", re.DOTALL)


class TooMuch(Exception):
    """A small text asks for far more work than its size."""


class Work:
    """What is left of an allowance."""

    def __init__(self, allowed: int) -> None:
        """``allowed`` units, bytes or steps."""
        self._left = allowed

    def spend(self, amount: int) -> None:
        """Take some off. Raises `TooMuch` where there is none left."""
        self._left -= amount
        if self._left < 0:
            raise TooMuch


def preprocessed(text: str, report: Report) -> str:
    """The text that is left when comments are gone, definitions filled in and conditions decided."""
    plain = _COMMENT.sub(lambda found: found.group(1) or " ", _CONTINUED.sub(" ", text))
    plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    macros: dict[str, tuple[list[str] | None, str]] = {}
    conditions: list[tuple[bool, bool]] = []
    lines = []
    work = Work((64 << 10) + LARGEST_GROWTH * len(text))
    for line in plain.split("\n"):
        head = line.lstrip()
        if head.startswith("#"):
            _directive(head[1:].strip(), macros, conditions, report)
        elif _holds(conditions):
            try:
                lines.append(_filled(line, macros, work))
            except TooMuch:
                report.warn("its definitions expand it to many times its size; the rest is left out")
                break
    return "\n".join(lines)


def _holds(conditions: list[tuple[bool, bool]]) -> bool:
    """Whether a line counts: each condition stands with whether those around it hold."""
    return all(conditions[-1]) if conditions else True


def _directive(
    line: str, macros: dict[str, tuple[list[str] | None, str]], conditions: list[tuple[bool, bool]], report: Report
) -> None:
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word in ("ifdef", "ifndef"):
        conditions.append((_holds(conditions), (rest in macros) == (word == "ifdef")))
    elif word == "else" and conditions:
        around, own = conditions[-1]
        conditions[-1] = around, not own
    elif word == "endif" and conditions:
        conditions.pop()
    elif not _holds(conditions):
        return
    elif word == "include":
        report.note(f"includes are not followed: {rest}")
    elif word == "undef":
        macros.pop(rest, None)
    elif word == "define":
        found = _DEFINITION.match(rest)
        if found:
            name, call, arguments, body = found.groups()
            macros[name] = ([part.strip() for part in arguments.split(",")] if call else None, body.strip())
    elif word:
        report.note(f"a line that the game's preprocessor may not know is left out: #{line}")


def _filled(line: str, macros: dict[str, tuple[list[str] | None, str]], work: Work) -> str:
    """A line with definitions filled in, again and again until none is left. Raises `TooMuch`."""
    for _ in range(_ROUNDS):
        if macros.keys().isdisjoint(_WORD.findall(line)):
            break
        filled = _filled_once(line, macros, work)
        if filled == line:
            break
        line = filled
    return line


def _filled_once(line: str, macros: dict[str, tuple[list[str] | None, str]], work: Work) -> str:
    parts: list[str] = []
    at = 0
    work.spend(len(line))
    while found := _WORD.search(line, at):
        macro = macros.get(found.group())
        parts.append(line[at : found.start()])
        at = found.end()
        if macro is None:
            parts.append(found.group())
            continue
        arguments, body = macro
        if arguments is None:
            work.spend(len(body))
            parts.append(body)
        elif line[at : at + 1] == "(" and (end := line.find(")", at)) >= 0:
            given = dict(zip(arguments, (part.strip() for part in line[at + 1 : end].split(",")), strict=False))
            parts.append(_called(body, given, work))
            at = end + 1
        else:
            parts.append(found.group())
    parts.append(line[at:])
    return "".join(parts)


def _called(body: str, given: dict[str, str], work: Work) -> str:
    """A definition's text with its arguments: ``a##b`` joins, ``#a`` puts quotes around. Raises `TooMuch`."""

    def replaced(found: re.Match[str]) -> str:
        text = _argument(found.group(), given)
        work.spend(len(text))
        return text

    work.spend(len(body))
    result = re.sub(r"#?\b[A-Za-z_]\w*\b", replaced, body.replace("##", "\0"))
    return result.replace("\0", "")


def _argument(word: str, given: dict[str, str]) -> str:
    name = word.removeprefix("#")
    if name not in given:
        return word
    return f'"{given[name]}"' if word != name else given[name]
