"""Whether a script may start processes: each of them runs the script once more, up to where it asks for its name."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from slopewash.errors import InvalidParameter


def check_guarded() -> None:
    """Refuse to start processes from a script that would start them in each of these again.

    Python itself says so after a minute, in each process, over a hundred lines.
    """
    line = _line_of_script()
    if line is None:
        return
    script = Path(str(sys.modules["__main__"].__file__))
    try:
        program = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    if not is_guarded(program, line):
        raise InvalidParameter(
            f"{script.name} calls it in line {line}, and worker processes run that line again; put it below "
            'if __name__ == "__main__":, or say workers=0 to stay in one process'
        )


def _line_of_script() -> int | None:
    """Line of the script that is running at its top level; None where processes do not run a script again."""
    main = sys.modules.get("__main__")
    if getattr(main, "__file__", None) is None or getattr(main, "__spec__", None) is not None:
        return None
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals is vars(main) and frame.f_code.co_name == "<module>":
            return frame.f_lineno
    return None


def is_guarded(program: ast.Module, line: int) -> bool:
    """Whether a script has asked for its name by some line.

    >>> is_guarded(ast.parse("run()"), 1)
    False
    >>> is_guarded(ast.parse("if __name__ == '__main__': run()"), 1)
    True
    """
    return any(
        isinstance(statement, ast.If)
        and statement.lineno <= line
        and any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(statement.test))
        for statement in program.body
    )
