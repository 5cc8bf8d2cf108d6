"""The sample organization: what ``serve --sample`` shows to users without data of their own.

Everything in it is fictional and marked so, and everything was made by the service's own code. :mod:`history` drives
the real engine through a month of runs, over a clock that starts a month ago (:mod:`simulated_clock`), with the sample
model sources, and with the sample checks called in this process (:mod:`check_calls`). :mod:`models` and
:mod:`registrations` do what an owner does, :mod:`run_kinds` defines the kinds of runs, :mod:`check_addresses` updates
the checks' addresses when the service's own changes, and :mod:`background_runs` submits further runs while the service
is in use.
"""
