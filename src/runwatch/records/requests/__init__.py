"""Request bodies, validated before the client sends and when the local service receives. One file for each resource.

Types are strict (a number in quotes is not a number). Unknown members pass where the interface leaves the body open and
are refused where it closes it (manual: interface, "Runs").
"""
