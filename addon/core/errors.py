"""The two kinds of refusals: a file that cannot be read, and a model that a format cannot store.

Every message is one sentence for the user: what is wrong, where (file, line, or chunk and offset), and what helps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .report import joined, on_one_line, say


class MotionbridgeError(Exception):
    """A refusal with its place and remedy.

    Attributes: ``problem``: what is wrong; ``file``: name of the file; ``offset``: bytes from its start; ``chunk``:
    path of chunk ids such as ``0xE/0x3``; ``line`` of a text file, from 1; ``remedy``: what the user can do;
    ``option``: the operator property that the remedy refers to, which the dialog then shows. Empty or None if it does
    not apply.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str = "",
        offset: int | None = None,
        chunk: str = "",
        line: int | None = None,
        remedy: str = "",
        option: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = file
        self.offset = offset
        self.chunk = chunk
        self.line = line
        self.remedy = remedy
        self.option = option

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, *, with_folder: bool = True) -> str:
        """Return place, problem and remedy as one message. ``with_folder=False`` shows only the file's name."""
        file = self.file if with_folder or not Path(self.file).is_absolute() else Path(self.file).name
        where: list[str] = [file] if file else []
        if self.chunk:
            where.append(say("chunk {}", self.chunk))
        if self.line is not None:
            where.append(say("line {}", self.line))
        if self.offset is not None:
            where.append(say("offset {}", self.offset))
        texts = [self.problem, self.remedy] if self.remedy else [self.problem]
        sentence = joined((text if text.endswith((".", "?", "!")) else say("{}.", text) for text in texts), " ")
        return on_one_line(say("{}: {}", joined(where), sentence) if where else sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        # Verification runs in worker processes, and exceptions with keyword-only arguments do not pickle by default.
        where: dict[str, Any] = {"file": self.file, "offset": self.offset, "chunk": self.chunk, "remedy": self.remedy}
        where |= {"option": self.option, "line": self.line}
        return (_rebuild, (type(self), self.problem, where))


def _rebuild(kind: type[MotionbridgeError], problem: str, where: dict[str, Any]) -> MotionbridgeError:
    return kind(problem, **where)


class ReadError(MotionbridgeError):
    """The bytes do not follow the format."""


class WriteError(MotionbridgeError):
    """The game could not use what should be written."""


@contextlib.contextmanager
def refused_access() -> Iterator[None]:
    """Raise errors of the system about a file or folder as `ReadError`, such as those of looking into a folder
    that must not be read, or of a network drive that is away.
    """
    try:
        yield
    except OSError as wrong:
        if wrong.filename is None:  # not about a file
            raise
        words = "the system refuses access: {}"
        raise ReadError(
            say(words, wrong.strerror), file=str(wrong.filename), remedy="Check its permissions and its drive"
        ) from wrong
