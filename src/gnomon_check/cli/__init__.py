"""The command line: one module a verb.

Exit codes: 0 it holds, 1 a rule is broken, 2 wrong usage or an input that cannot be judged,
3 not testable or a stale baseline, 4 a fault of the kit itself.
"""

from __future__ import annotations

import typer

from gnomon_check.cli.conform import conform
from gnomon_check.cli.cover import cover
from gnomon_check.cli.demo import demo
from gnomon_check.cli.diff import diff
from gnomon_check.cli.explain_clause import explain
from gnomon_check.cli.explore import explore
from gnomon_check.cli.explore_call import explore_call
from gnomon_check.cli.new_adapter import new_adapter
from gnomon_check.cli.repair import repair_logs
from gnomon_check.cli.replay import replay
from gnomon_check.cli.serve import serve
from gnomon_check.cli.smoke import smoke
from gnomon_check.cli.vectors import vectors
from gnomon_check.cli.verify import verify

app = typer.Typer(
    name="gnomon",
    help="The tool-call runtime of an agent: specified, built, and checked.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

app.command("conform")(conform)
app.command("diff")(diff)
app.command("smoke")(smoke)
app.command("serve")(serve)
app.command("new-adapter")(new_adapter)
app.command("cover")(cover)
app.command("replay")(replay)
app.command("verify")(verify)
app.command("repair")(repair_logs)
app.command("explore")(explore)
app.command("explore-call")(explore_call)
app.command("explain")(explain)
app.command("vectors")(vectors)
app.command("demo")(demo)


def main() -> None:
    """The entry point of the `gnomon` command."""
    app()
