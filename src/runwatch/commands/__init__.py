"""The verbs: the console's work without a screen, for pipes, scripts and screen readers.

:mod:`runwatch.commands.grammar` declares every verb and flag in one table; each verb's module is imported when it runs.
"""
