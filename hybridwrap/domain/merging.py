"""One run out of the parts that several processes did of it.

Keeps: the same parts give the same run, in whatever order they are read; what somebody did about a module is never
hidden by somebody who did nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.graph import order
from hybridwrap.domain.moments import after
from hybridwrap.domain.run import ModuleEnd, Run, RunEnd, RunStart
from hybridwrap.errors import gravest

LEFT = frozenset({"pending", "busy", "kept"})  # ends that say that nothing was done
FINE = frozenset({"ok", "unchanged", "destroyed", "retained", "planned", "accepted", "empty", "drifted"})


class Word(Struct, frozen=True):
    """What a part says of a module."""

    part: str
    end: ModuleEnd


def last_words(words: Iterable[tuple[str, Word]]) -> dict[str, Word]:
    """Choose for each module the word that counts: the youngest part's, and one that did nothing only if all did so."""
    found: dict[str, Word] = {}
    for module, word in words:
        if module not in found or _rank(word) > _rank(found[module]):
            found[module] = word
    return found


def _rank(word: Word) -> tuple[bool, str]:
    """Ids of parts sort by the time of their making."""
    return word.end.result not in LEFT, word.part


def merged(start: RunStart, summary: RunEnd | None, parts: Sequence[Run]) -> Run:
    """Put a shared run together; `parts` are at least those that the summary lacks, the eldest first."""
    summed_up = summary.modules if summary else {}
    said_by = summary.said_by if summary else {}
    words = [(module, Word(said_by.get(module, ""), end)) for module, end in summed_up.items()]
    words += [(module, Word(part.start.part, end)) for part in parts for module, end in part.ends.items()]
    found = last_words(words)
    whole = _start(start, summed_up, parts)
    told = {module: found[module].end for module in whole.modules if module in found}
    if len(told) < len(whole.modules):
        return Run(whole, None, told, tuple(parts))
    codes = [end.exit_code for end in told.values()]
    end = RunEnd(
        run=start.run,
        time=_time(start, summary, parts),
        exit_code=gravest([*codes, *_codes_of_parts(found, summary, parts)]),
        modules=told,
        parts=tuple(sorted({*(summary.parts if summary else ()), *(part.start.part for part in parts if part.end)})),
        said_by={module: found[module].part for module in told},
    )
    return Run(whole, end, told, tuple(parts))


def _start(start: RunStart, summed_up: Iterable[str], parts: Sequence[Run]) -> RunStart:
    """The run's document, with all that its parts were about."""
    starts = [start, *(part.start for part in parts)]
    names = dict.fromkeys([*(name for each in starts for name in each.modules), *summed_up])
    edges = {name: needs for each in starts for name, needs in each.edges.items()}
    inside = {name: [need for need in edges.get(name, ()) if need in names] for name in names}
    return replace(start, modules=order(inside), edges=edges, whole=all(each.whole for each in starts))


def _time(start: RunStart, summary: RunEnd | None, parts: Sequence[Run]) -> str:
    ended = [part.end.time for part in parts if part.end]
    killed = [end for part in parts if not part.end for end in part.told.values()]
    told = [after(end.began, end.seconds) for end in killed if end.began]
    return max([start.time, *ended, *told, *([summary.time] if summary else [])])


def _codes_of_parts(found: Mapping[str, Word], summary: RunEnd | None, parts: Sequence[Run]) -> Iterable[int]:
    """Exit codes of parts, such as of a signal, where what they left is still as they left it."""
    blamed = {word.part for word in found.values() if word.end.result not in FINE}
    yield from (part.end.exit_code for part in parts if part.end and part.start.part in blamed)
    if summary and blamed & set(summary.parts):
        yield summary.exit_code
