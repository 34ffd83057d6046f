"""Where a store is: a path, or a URL that fsspec knows."""

from __future__ import annotations

import re


def plain_url(url: str) -> str:
    """A path or URL of a store: `file:` is a path, and both slashes return that `Path` makes one of.

    >>> plain_url("file:///tmp/a%20b.zarr"), plain_url("s3:/bucket/a.zarr"), plain_url("C:/a.zarr")
    ('/tmp/a b.zarr', 's3://bucket/a.zarr', 'C:/a.zarr')
    """
    found = re.fullmatch(r"([a-z][a-z0-9+.-]+):/+(.*)", url)
    if found is None:
        return url
    scheme, rest = found.groups()
    if scheme != "file":
        return f"{scheme}://{rest}"
    from urllib.request import url2pathname  # which takes long to load

    return url2pathname("/" + rest.removeprefix("localhost/"))


def is_local(url: str) -> bool:
    """Whether a store is a folder of this machine."""
    return "://" not in url
