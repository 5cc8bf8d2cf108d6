"""The sample organization: what ``serve --sample`` shows to people who have nothing of their own yet.

Everything in it is made up and says so, and everything was made by the code that serves. :mod:`history` drives the real
engine over a clock that starts a month ago (:mod:`pastclock`), with the sample sources of models, and with the sample
checks called in this process (:mod:`dockcalls`). :mod:`models` and :mod:`reviewing` do what an owner does, :mod:`works`
says which kinds of runs there are, :mod:`plan` spreads them over the month, :mod:`moving` keeps the checks' addresses
right when the service is found elsewhere, and :mod:`trickle` submits further runs while somebody watches.
"""
