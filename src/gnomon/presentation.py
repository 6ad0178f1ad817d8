"""Cards: how a call and its result are shown to people, computed from the log alone (LOG-4).

A tool may say how; what it says is pure, so that a replay shows the same. Where there is no tool any
more, where it says nothing, where it fails, or where the arguments no longer fit, the card is generic.
"""

from __future__ import annotations

from collections.abc import Callable

from gnomon.content import Card, Content, check_content, text_content
from gnomon.contexts import synchronous
from gnomon.registry import RegisteredTool
from gnomon.results import ABSENT, Absent
from gnomon.values import JSON, NotJson, parse_arguments, snapshot


def present_call(registered: RegisteredTool | None, name: str, arguments: str) -> Card:
    """The card of a call, from its name and the text of its arguments as they were logged."""
    generic = Card(name, text_content(arguments), True)
    presenter = None if registered is None else registered.tool.present_call
    if registered is None or presenter is None:
        return generic
    fitting = _fitting(registered, arguments)
    return generic if fitting is ABSENT else _shown(lambda: presenter(fitting), generic)


def present_result(
    registered: RegisteredTool | None, name: str, arguments: str, content: Content, meta: JSON = None
) -> Card:
    """The card of a result, from what was logged of it and of its call."""
    generic = Card(name, content, True)
    presenter = None if registered is None else registered.tool.present_result
    if registered is None or presenter is None:
        return generic
    fitting = _fitting(registered, arguments)
    return generic if fitting is ABSENT else _shown(lambda: presenter(fitting, content, meta), generic)


def _fitting(registered: RegisteredTool, text: str) -> JSON | Absent:
    try:
        arguments = snapshot(parse_arguments(text))
    except NotJson:
        return ABSENT
    if not registered.tool.checks_own_arguments and registered.parameters.violations(arguments):
        return ABSENT
    return arguments


def _shown(present: Callable[[], object], generic: Card) -> Card:
    try:
        with synchronous("presenter"):
            card = present()
        if type(card) is Card and type(card.title) is str:
            return Card(card.title, check_content(list(card.content)))
    except Exception:  # a presenter that fails leaves the generic card (LOG-4)
        return generic
    return generic
