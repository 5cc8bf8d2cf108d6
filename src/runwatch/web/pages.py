"""The pages of the console in a browser, their headers, and the files that they load.

Everything comes from this server. The terminal in the page is the client of textual-serve, with a script and a style of
runwatch's own; its page is not used, because that loads a font from another host and runs scripts of its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final, NamedTuple

from runwatch.base.text import clean_line

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 8vh auto; padding: 0 1rem;
  overflow-wrap: anywhere; }
"""
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), clipboard-read=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_THEIRS: Final = "textual_serve"
_OWN: Final = "runwatch.web"


class StaticFile(NamedTuple):
    """A file that the console's page loads.

    Attributes:
        path: Its path below ``static`` there.
    """

    package: str
    path: str
    type: str


STATIC_FILES: Final[Mapping[str, StaticFile]] = {
    "textual.js": StaticFile(_THEIRS, "js/textual.js", "text/javascript"),
    "xterm.css": StaticFile(_THEIRS, "css/xterm.css", "text/css"),
    "RobotoMono.ttf": StaticFile(_THEIRS, "fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "RobotoMono-Italic.ttf": StaticFile(_THEIRS, "fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
    "console.js": StaticFile(_OWN, "console.js", "text/javascript"),
    "console.css": StaticFile(_OWN, "console.css", "text/css"),
}
"""Files by the name in their address."""


@cache
def read_static(name: str) -> bytes:
    """Return the content of a file of :data:`STATIC_FILES`."""
    file = STATIC_FILES[name]
    return files(file.package).joinpath("static", file.path).read_bytes()


def console_policy(socket_origin: str) -> str:
    """Return the content security policy of the console's page.

    Args:
        socket_origin: Scheme, host and port of its socket, which not every browser counts as the page's own.
    """
    # The terminal writes its colours and sizes into style elements of its own.
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        f"connect-src 'self' {socket_origin}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )


def console_page(max_consoles: int) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>runwatch</title>'
        '<link rel="stylesheet" href="static/xterm.css"><link rel="stylesheet" href="static/console.css">'
        '<script src="static/console.js"></script><script src="static/textual.js"></script></head><body>'
        '<main><p id="opening" role="status">Opening the console</p>'
        '<div id="terminal" class="textual-terminal"></div>'
        '<dialog id="over" aria-labelledby="over-title"><h1 id="over-title"></h1><p id="over-text"></p>'
        '<button id="over-again" type="button">Open a console</button></dialog>'
        f'<p id="bound" hidden>{max_consoles}</p></main></body></html>\n'
    )


def message_page(title: str, *sentences: str, forward: str = "") -> str:
    """Return a page of text.

    Args:
        forward: Address of this server to go on to at once. A page does it, because with a redirect the browser would
            not send the cookie when the link stood on a page of another host.
    """
    said = "".join(f"<p>{escape(clean_line(sentence))}</p>" for sentence in sentences)
    onward = f'<meta http-equiv="refresh" content="0; url={escape(forward)}">' if forward else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{onward}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)} · runwatch</title>'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>{said}</main></body></html>\n"
    )
