"""The console in a browser: a server of its own that starts one console for each browser tab.

It imports ``base`` alone and starts consoles as processes. aiohttp and the client of textual-serve live here alone.
"""
