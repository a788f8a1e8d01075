"""What goes wrong, as exceptions.

Every one is an ingot.Error with the fields of the program's message. The subclasses follow the program's exit codes, so
that `except ingot.UnsupportedError` means what exit code 4 means.
"""
from __future__ import annotations


class Error(Exception):
    """Anything that Ingot refuses. `str()` is the whole message, as the program prints it."""

    code: str  #: "IG0312"; docs/errors.md has a page for each
    name: str  #: "bad_name"
    exit_code: int  #: what the program would end with
    message: str  #: what went wrong
    file: str  #: where: the file, the node and its operator; '' where there is none
    node: str
    op: str
    hint: str  #: what to do about it; may be ''


class NoError(Error):
    """The answer to the question asked is no."""


class UsageError(Error, ValueError):
    """A request that makes no sense."""


class InputError(Error, ValueError):
    """A damaged or invalid file, or data that does not fit."""


class UnsupportedError(Error, NotImplementedError):
    """Something that Ingot, or the target, cannot do. All of it is listed."""


class LimitError(Error):
    """A limit on memory or time was hit, or the work was interrupted."""


class FileError(Error, OSError):
    """A file cannot be read or written."""

    def __str__(self) -> str:  # OSError has words of its own
        return self.args[0]


class DivergedError(Error, ArithmeticError):
    """Training led to numbers that are not finite."""


class BugError(Error):
    """A bug in Ingot; please report it."""


_BY_EXIT_CODE = {1: NoError, 2: UsageError, 3: InputError, 4: UnsupportedError, 5: LimitError, 6: FileError,
                 7: DivergedError, 70: BugError}


def _make(code, name, exit_code, message, file, node, op, hint, text):
    error = _BY_EXIT_CODE.get(exit_code, Error)(text)
    error.code, error.name, error.exit_code, error.message = code, name, exit_code, message
    error.file, error.node, error.op, error.hint = file, node, op, hint
    return error
