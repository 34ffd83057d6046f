"""The harness for crafted files catches what it is there for."""

from __future__ import annotations

import pytest
from tests.crafted import Place


@pytest.mark.parametrize(
    "code",
    [
        "open('../home/canary')",
        "open('../home/new', 'w')",
        "import os; os.symlink('../home', 'link'); open('link/canary')",
        "import os; os.listdir('../home')",
        "import shutil; shutil.rmtree('../home/precious')",
        "import os; os.rename('../home/canary', 'here')",
        "import os; os.unlink('../home/canary')",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'open(\"../home/canary\")'])",
        "import pathlib; pathlib.Path('copy').write_bytes(b'%s')",
        "print('%s')",
        "1 / 0",
        "import sys; sys.exit(3)",
        "bytearray(600 << 20)[::4096]",
    ],
)
def test_the_harness_notices(code: str, crafted: Place) -> None:
    answer = crafted.call("builtins:exec", code.replace("%s", crafted.token))
    with pytest.raises(AssertionError):
        crafted.check(answer)


def test_a_harmless_answer_passes(crafted: Place) -> None:
    (crafted.work / "link").symlink_to(crafted.home)
    crafted.check(
        crafted.call("builtins:exec", "import os; os.unlink('link'); open('file', 'w').close()"), refused=False
    )
    crafted.check(crafted.run("info", "missing.tif"), refused=True)
