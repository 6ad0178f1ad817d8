"""What every page of clauses says of the chapters: the clauses of each, its anchor, a table that counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gnomon_check.clauses import Evidence
from gnomon_spec.register import Chapter, chapters


def of_chapter(chapter: Chapter, found: dict[str, Evidence]) -> list[Evidence]:
    """The clauses of a chapter, with all that stands for them."""
    return [found[one.id] for one in chapter.clauses]


def counted(
    found: dict[str, Evidence], columns: Iterable[str], counts: Callable[[Iterable[Evidence]], dict[str, int]]
) -> Iterator[str]:
    """The lines of a table with what `counts` finds in each chapter, by column, and in all of them."""
    listed = list(columns)

    def row(head: str, rows: Iterable[Evidence]) -> str:
        number = counts(rows)
        return f"| {head} | " + " | ".join(str(number[column]) for column in listed) + " |"

    yield "| chapter | about | " + " | ".join(listed) + " |"
    yield "|---|---|" + "---:|" * len(listed)
    for chapter in chapters():
        yield row(f"[{chapter.id}](#{_anchor(chapter)}) | {chapter.title}", of_chapter(chapter, found))
    yield row("**all** |", found.values())


def _anchor(chapter: Chapter) -> str:
    return f"{chapter.id} {chapter.title}".lower().replace(",", "").replace(" ", "-")
