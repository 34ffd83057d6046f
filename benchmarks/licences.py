"""Lists the packages that slopewash needs, directly or through others, with version and licence.

    python benchmarks/licences.py [--extra studio]

By default all extras but those for development. Fails if a package names no licence.
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution, metadata

from packaging.requirements import Requirement

DEVELOPMENT = ("test", "check", "dev")
LONGEST = 60
"""Characters of a licence; some packages give the whole text."""


def needed(extras: list[str]) -> dict[str, Distribution]:
    """Packages of `slopewash[extras]` that are installed here, by name."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(f"slopewash[{','.join(extras)}]")]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        key = (wanted.name.lower(), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            package = distribution(wanted.name)
        except PackageNotFoundError:
            continue  # for another system, or an extra that is not installed
        found[package.metadata["Name"]] = package
        for text in package.requires or ():
            other = Requirement(text)
            if other.marker is None or any(other.marker.evaluate({"extra": e}) for e in (*wanted.extras, "")):
                waiting.append(other)
    return found


def licence(package: Distribution) -> str:
    """The licence as the package declares it: an SPDX expression, a classifier, a text or a file."""
    facts = package.metadata.json
    classified = [
        text.rpartition("::")[2].strip()
        for text in facts.get("classifier", ())
        if text.startswith("License ::") and text.count("::") > 1
    ]
    text = str(facts.get("license", "")).strip().partition("\n")[0]
    files = next((f"see {file.name}" for file in package.files or () if "licen" in file.name.lower()), "")
    return (str(facts.get("license_expression", "")) or " or ".join(classified) or text or files)[:LONGEST]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", action="append", help="may be repeated")
    options = parser.parse_args()
    declared = metadata("slopewash").get_all("Provides-Extra") or []
    extras = options.extra or [extra for extra in declared if extra not in DEVELOPMENT]
    unnamed = 0
    for name, package in sorted(needed(extras).items(), key=lambda pair: pair[0].lower()):
        print(f"{name:24} {package.version:14} {licence(package) or 'NO LICENCE NAMED'}")
        unnamed += not licence(package)
    return int(unnamed > 0)


if __name__ == "__main__":
    sys.exit(main())
