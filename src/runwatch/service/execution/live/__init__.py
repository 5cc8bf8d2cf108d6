"""Work on live runs.

``state`` holds what is recorded of a run, ``next_live_step`` decides what follows from it, ``provider_call`` makes one
call. ``runwatch.service.execution.live_steps`` records each step in one transaction, and ``step_runner`` makes the
calls in between.
"""
