"""CRE: how a call becomes an execution, before any policy sees it.

Creating an execution fixes who the call is: its id, its name, its arguments.
Two things can go wrong here, and both end the call at once, without a hook:
its arguments are no JSON value, or the caller has aborted before it began.
"""

from __future__ import annotations

from gnomon_spec.kernel import clause
from gnomon_spec.values import Json, NotAValue
from gnomon_spec.vocabulary import Code, FinalResult, Outcome, PrepareAnswer, ToDispatch


@clause("CRE-2", "CRE-4")
def created(arguments: Json | NotAValue, aborted: bool) -> PrepareAnswer:
    """Say how the creation of an execution ends.

    CRE-2  Arguments that cannot be snapshotted MUST give INVALID_ARGS, with no
           policy and no body, also when the caller has aborted.
    CRE-4  If the caller signal is aborted when creation ends, the call MUST
           get ABORTED_BEFORE_DISPATCH, and no policy runs.
    """
    if isinstance(arguments, NotAValue):
        return FinalResult(Outcome(Code.INVALID_ARGS))  # CRE-2
    if aborted:
        return FinalResult(Outcome(Code.ABORTED_BEFORE_DISPATCH))  # CRE-4
    return ToDispatch()
