"""Run in the environment: every public name is there, except those given, which name the extra they need."""

from __future__ import annotations

import sys
from importlib.metadata import version

import slopewash as sw


def main(lacking: set[str]) -> None:
    refused = {}
    for name in sw.__all__:
        try:
            getattr(sw, name)
        except sw.SlopewashError as error:
            refused[name] = str(error)
    assert set(refused) == lacking, refused
    for name, message in refused.items():
        assert f'pip install "slopewash[{name}]"' in message, message
    assert sw.__version__ == version("slopewash"), (sw.__version__, version("slopewash"))
    assert "site-packages" in sw.__file__, sw.__file__


if __name__ == "__main__":
    main(set(sys.argv[1:]))
