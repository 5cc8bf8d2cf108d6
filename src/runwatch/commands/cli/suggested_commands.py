"""How suggested commands choose the service of the command that suggests them."""

from __future__ import annotations

from runwatch.commands.cli.parser import CommandOptions
from runwatch.settings.declarations import LOCAL
from runwatch.view.text.shell_commands import ShellService, profile_options


def find_service(options: CommandOptions) -> ShellService:
    """Return the service that options choose; most commands do not take several profiles, so those are left out."""
    profile = options.profile or ""
    is_several = profile == "all" or "," in profile
    return ShellService(profile_options(LOCAL if options.local else "" if is_several else profile, options.base_url))
