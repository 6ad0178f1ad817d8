"""PST, FIN: what still happens to a settled call before its result is logged.

A settled call waits for its turn. When it comes, policies see the result as the
body left it; and once they have ended, the caller's signal is looked at for the
last time.
"""

from __future__ import annotations

from gnomon_spec.cancellation import outcome_under
from gnomon_spec.kernel import clause
from gnomon_spec.vocabulary import Outcome


@clause("PST-8")
def after_post_execute(outcome: Outcome, aborted: bool, body_invoked: bool) -> Outcome:
    """Look at the caller's signal for the last time.

    PST-8  After post-execute, a success MUST become what the table of
           cancellation says if the caller has aborted.
    """
    return outcome_under(aborted, outcome, body_invoked)  # PST-8
