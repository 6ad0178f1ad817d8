"""The tool-call runtime of an agent, as a specification that executes.

Reading order: `values`, `vocabulary`, then the chapters in the order in which a
call travels: `admission`, `dispatch`, `settlement`, `cancellation`; then
`batch` and `session`; then `machine`, which puts them together, and
`properties`, which judge any history of events. Standard library only, pure:
no input or output, no clock, no tasks.
"""

__version__ = "1.0"
