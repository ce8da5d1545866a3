"""The Python in README and docs runs as it is printed, each page from top to bottom."""

import re
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if "```python" in page.read_text(encoding="utf-8")
]


def blocks(page: Path) -> list[tuple[int, str]]:
    """Line numbers and texts."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    # Readers have JAX's usual settings, not the strict ones of the tests.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        for line, code in blocks(page):
            # Blank lines in front: a traceback then names the line of the page.
            exec(compile("\n" * line + code, str(page), "exec"), names)
