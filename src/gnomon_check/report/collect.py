"""From runs to a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import gnomon_spec
from gnomon_check.baseline import NOTHING, Baseline, Deviation
from gnomon_check.conform import Run
from gnomon_check.problem import Problem
from gnomon_check.protocol import PROTOCOL
from gnomon_check.replay import windows_told
from gnomon_check.report.model import (
    BaselineUse,
    ClauseVerdict,
    Found,
    Implementation,
    Known,
    Met,
    NotTestable,
    Report,
    ScenarioRun,
    Verdict,
)
from gnomon_check.subject import Subject
from gnomon_spec.register import clauses


def report_of(
    target: str, subject: Subject, runs: Sequence[Run], baseline: Baseline, *, whole: bool
) -> Report:
    """The report of these runs; `whole` where they are all that there is, so that an entry of the baseline
    that names another scenario fits nothing.

    Raises `Stopped` where the implementation does not say who it is.
    """
    return Report(
        report="gnomon/1",
        specification=gnomon_spec.__version__,
        protocol=PROTOCOL,
        target=target,
        implementation=Implementation(**subject.about.model_dump(), profiles=sorted(subject.claims)),
        backends=list(dict.fromkeys(run.backend for run in runs)),
        clauses_in_all=len(clauses()),
        clauses=list(_clauses(runs)),
        baseline=None if baseline is NOTHING else _use(baseline, runs, whole=whole),
        runs=[_run(one, baseline) for one in runs],
    )


def _run(run: Run, baseline: Baseline) -> ScenarioRun:
    identifier = run.scenario.id
    problems = [_found(one, baseline.of_problem(identifier, one)) for one in run.problems]
    return ScenarioRun(
        scenario=identifier,
        title=run.scenario.title,
        clauses=list(run.scenario.clauses),
        backend=run.backend,
        verdict=_verdict(run, problems),
        not_claimed=list(run.not_claimed),
        not_testable=_not_testable(run, baseline),
        problems=problems,
        story=list(windows_told(run)) if problems else [],
    )


def _verdict(run: Run, problems: Sequence[Found]) -> Verdict:
    if run.not_claimed:
        return "not claimed"
    if run.cannot is not None:
        return "not testable"
    if any(one.weight == "violation" for one in problems):
        return "violation"
    return "known deviation" if any(one.weight == "known" for one in problems) else "conforms"


def _found(problem: Problem, entry: Deviation | None) -> Found:
    return Found(
        judge=problem.judge,
        clause=problem.clause,
        level=problem.level,
        seen=problem.seen,
        text=problem.text,
        known=_known(entry),
    )


def _not_testable(run: Run, baseline: Baseline) -> NotTestable | None:
    if run.cannot is None:
        return None
    entry = baseline.of_cannot(run.scenario.id, run.cannot)
    return NotTestable(
        feature=run.cannot.feature, reason=run.cannot.reason, link=run.cannot.link, known=_known(entry)
    )


def _known(entry: Deviation | None) -> Known | None:
    return None if entry is None else Known(reason=entry.reason, link=entry.link)


# -- clauses ----------------------------------------------------------------------------------------


def _clauses(runs: Sequence[Run]) -> Iterator[ClauseVerdict]:
    """Each clause that a scenario is about, or that one was found to break."""
    broken = {name for run in runs for problem in run.problems for name in _broken(run, problem)}
    judged = [name for run in runs if run.judged for name in run.scenario.clauses]
    about = {name for run in runs for name in run.scenario.clauses} | broken
    for name, clause in clauses().items():
        if name in about:
            count = judged.count(name)
            verdict: Met = "not met" if name in broken else "met" if count else "not checked"
            yield ClauseVerdict(id=name, level=clause.level, scenarios=count, verdict=verdict)


def _broken(run: Run, problem: Problem) -> Sequence[str]:
    """What a problem breaks; where it names no clause, all that its scenario is about."""
    return (problem.clause,) if problem.clause else run.scenario.clauses


# -- the baseline -----------------------------------------------------------------------------------


def _use(baseline: Baseline, runs: Sequence[Run], *, whole: bool) -> BaselineUse:
    ran = {run.scenario.id for run in runs}
    fit = set(_fitting(baseline, runs))
    stale = [one for one in baseline.deviations if one not in fit and (whole or one.scenario in ran)]
    return BaselineUse(file=baseline.file, entries=len(baseline.deviations), stale=stale)


def _fitting(baseline: Baseline, runs: Iterable[Run]) -> Iterator[Deviation]:
    for run in runs:
        entries = [baseline.of_problem(run.scenario.id, one) for one in run.problems]
        if run.cannot is not None:
            entries.append(baseline.of_cannot(run.scenario.id, run.cannot))
        yield from (one for one in entries if one is not None)
