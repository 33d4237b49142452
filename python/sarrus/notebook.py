"""How results look in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result import Result

__all__ = ["iframe", "shown"]

LARGEST = 8_000_000
"""Pages longer than this [characters] are not put into a notebook."""


def shown(result: Result) -> str:
    """The animation under a summary; the summary alone where nothing was recorded."""
    text = f"<pre>{html.escape(repr(result))}</pre>"
    if len(result) == 0:
        return text
    page = result.report_html()
    return text if len(page) > LARGEST else text + iframe(page)


def iframe(page: str, height: int = 460) -> str:
    """A page inside another: it sees nothing of what is around it."""
    inner = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe srcdoc="{inner}" sandbox="allow-scripts allow-downloads" width="100%" height="{height}" '
        'style="border:1px solid #ccc" loading="lazy"></iframe>'
    )
