"""CAN: what an abort of the caller does to a call's outcome.

A caller that aborts wants to know one thing of each call: may it have had
effects? So there are two codes. ABORTED says that the body ran, and that its
effects may have happened; ABORTED_BEFORE_DISPATCH says that it never ran, and
that the call is safe to make again. An error is never replaced: what the tool
says of its own failure is worth more than "it was cancelled".
"""

from __future__ import annotations

from gnomon_spec.kernel import clause
from gnomon_spec.vocabulary import Code, Outcome


@clause("CAN-2", "CAN-5", "CAN-6")
def cancellation_code(body_invoked: bool) -> Code:
    """Say which of the two cancellation codes a call gets.

    CAN-2  ABORTED MUST mean that side effects may have happened;
           ABORTED_BEFORE_DISPATCH MUST mean that the body did not run.
    """
    return Code.ABORTED if body_invoked else Code.ABORTED_BEFORE_DISPATCH  # CAN-2, CAN-5, CAN-6


@clause("CAN-5", "CAN-6", "CAN-7")
def cancelled_outcome(outcome: Outcome, body_invoked: bool) -> Outcome:
    """Say what a call's outcome becomes once its caller has aborted.

    CAN-5  A success of a call whose body was not invoked MUST become
           ABORTED_BEFORE_DISPATCH.
    CAN-6  A success of a call whose body was invoked MUST become ABORTED
           and keep its contexts.
    CAN-7  An error outcome MUST be kept as it is.

    *Why.*  Only one of the two is safe to retry without looking.
    """
    if outcome.is_error:
        return outcome  # CAN-7
    return Outcome(cancellation_code(body_invoked), contexts=outcome.contexts)  # CAN-5, CAN-6


@clause("CAN-1")
def outcome_under(aborted: bool, outcome: Outcome, body_invoked: bool) -> Outcome:
    """Apply the table of cancellation where the caller's signal is looked at.

    CAN-1  The table MUST hold from the end of creation until the last look at
           the signal, after post-execute; a later abort MUST change nothing.
    """
    return cancelled_outcome(outcome, body_invoked) if aborted else outcome  # CAN-1
