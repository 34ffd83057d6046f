"""The former home of `staged`."""

from slopewash.drafts import staged

__all__ = ["staged"]
