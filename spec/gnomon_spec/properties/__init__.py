"""The properties, by name: predicates over a history of events.

The same predicate judges a state of the explorer, a run in lockstep, a
conformance run of somebody else's runtime, and a production log. So none of
them looks into a state: they see what anybody can see. A history is read once,
event by event; a `Ledger` keeps what the events so far have said. There are
three kinds:

*always*     a rule that every event has to keep,
*sometimes*  a witness that has to be reached by a good exploration,
*settles*    what has to hold once nothing more can happen.

Each *always* property is asked *before* its event is entered into the ledger.
A property that needs events which a producer cannot show (a log shows no
bodies) says so, and is not judged there.
"""

from __future__ import annotations

from gnomon_spec.ledger import NOTHING, Ledger, Track, enter
from gnomon_spec.properties import of_calls, witnesses
from gnomon_spec.properties.kinds import (
    ALWAYS,
    BATCH,
    BODY,
    CALL,
    CALLER,
    CONTENT,
    LOGGED_CALLS,
    MODES,
    OBSERVER,
    POLICY,
    SOMETIMES,
    Always,
    Broken,
    Finding,
    Sometimes,
    broken_by,
    judge,
    judged,
)
from gnomon_spec.properties.of_batches import settled, unanswered

__all__ = [
    "ALWAYS",
    "BATCH",
    "BODY",
    "CALL",
    "CALLER",
    "CONTENT",
    "LOGGED_CALLS",
    "MODES",
    "NOTHING",
    "OBSERVER",
    "POLICY",
    "SOMETIMES",
    "Always",
    "Broken",
    "Finding",
    "Ledger",
    "Sometimes",
    "Track",
    "broken_by",
    "enter",
    "judge",
    "judged",
    "of_calls",
    "settled",
    "unanswered",
    "witnesses",
]
