"""Films of terrains: turntables, fly-overs and time-lapses (needs the video extra)."""

from slopewash.films.making import film, film_kinds

__all__ = ["film", "film_kinds"]
