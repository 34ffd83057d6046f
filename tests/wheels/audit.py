"""Known vulnerabilities of what slopewash needs: Python packages and those of the page, as far as registries answer.

    python tests/wheels/audit.py src/slopewash/studio/web      or: make audit

pip-audit asks PyPI, and npm its own registry. Who does not answer is named, and what was not asked counts as unknown,
not as good. Fails if a vulnerability is known.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]


def report_of(words: list[str], folder: Path) -> tuple[Any, str]:
    """What a tool that prints JSON found, or None and its last words."""
    path = os.pathsep.join((str(BIN), os.environ.get("PATH", "")))
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    last = next((line for line in reversed(done.stderr.strip().splitlines()) if line.strip()), "it printed nothing")
    try:
        return json.loads(done.stdout), last
    except json.JSONDecodeError:
        return None, last


def python_findings() -> tuple[list[str], list[str]]:
    """What is known of the newest packages of all extras, and what could not be asked."""
    uv = str(BIN / "uv")
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder, "needed.txt")
        compiled = [uv, "pip", "compile", "--quiet", "--all-extras", "--no-header", "--no-annotate", "-o", str(names)]
        subprocess.run([*compiled, str(ROOT / "pyproject.toml")], check=True, stdout=subprocess.DEVNULL)
        words = [uv, "tool", "run", "--quiet", "pip-audit", "--no-deps", "--disable-pip", "--format", "json"]
        report, last = report_of([*words, "-r", str(names)], Path(folder))
    if report is None:
        return [], [f"pip-audit: {last}"]
    packages = report["dependencies"]
    known = [
        f"{package['name']} {package['version']}: {fault['id']}, fixed in {', '.join(fault['fix_versions']) or 'none'}"
        for package in packages
        for fault in package.get("vulns", ())
    ]
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    print(f"pip-audit: {len(packages) - len(unknown)} of {len(packages)} Python packages are known to the registry")
    return known, [f"Python packages that could not be asked for: {', '.join(unknown)}"] if unknown else []


def page_findings(web: Path) -> tuple[list[str], list[str]]:
    """The same of the page's packages, those it is built with too."""
    report, last = report_of(["npm", "audit", "--json"], web)
    if report is None or "vulnerabilities" not in report:
        reason = (report or {}).get("message") or last
        return [], [f"npm audit: {reason}"]
    print(f"npm audit: {report['metadata']['dependencies']['total']} packages of the page are known to the registry")
    return [f"{name}: {fault['severity']}" for name, fault in report["vulnerabilities"].items()], []


def main() -> int:
    known, unasked = (
        found + more for found, more in zip(python_findings(), page_findings(Path(sys.argv[1])), strict=True)
    )
    for line in known:
        print(f"KNOWN VULNERABILITY  {line}")
    for line in unasked:
        print(f"COULD NOT BE ASKED   {line}")
    if not known and not unasked:
        print("no vulnerability is known")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
