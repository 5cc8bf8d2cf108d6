"""The file of further sources: what it may say, and what is refused with its key and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.errors import UsageError
from runwatch.service.models.provider_config import FILE_BYTES, configured_sources, read_provider_config
from runwatch.service.models.providers.sample_sources import SAMPLE_SOURCES
from runwatch.service.models.providers.source_definition import SourceDefinition
from tests.service.conftest import Serving

LEAST = """\
[[source]]
source_id = "lab"
source_kind = "self_hosted"
base_url = "http://127.0.0.1:8000/v1/"
protocol_profile = "openai_chat"
"""

FULL = (
    LEAST
    + """\
auth_schemes = ["none", "api_key"]
display_name = "Lab server"
location = "eu"
route = "gateway"
data_classes = ["public", "tenant_internal"]

[source.prices."*"]
input_usd_per_million = "0.10"
output_usd_per_million = 0.40

[source.prices."big.model"]
input_usd_per_million = 3
output_usd_per_million = 15.000

[[source]]
source_id = "other"
source_kind = "gateway"
base_url = "https://models.example"
protocol_profile = "anthropic_messages"
"""
)

PRICE = """\
[source.prices.X]
input_usd_per_million = 1
output_usd_per_million = 1
"""

SENTINEL = "sk-sentinel-4711"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "providers.toml"


def refusal(file: Path, text: str | bytes) -> UsageError:
    """What the file with this content is refused with."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError) as caught:
        read_provider_config(file)
    assert SENTINEL not in f"{caught.value} {caught.value.hint} {caught.value.__cause__!r}"
    return caught.value


def test_a_source_needs_four_members_and_the_rest_has_defaults(file: Path) -> None:
    file.write_text(LEAST)
    assert read_provider_config(file) == (
        SourceDefinition(
            source_id="lab", source_kind="self_hosted", base_url="http://127.0.0.1:8000/v1",
            protocol_profiles=("openai_chat",), auth_schemes=("api_key",), display_name="lab", location="unknown",
            route="direct", data_classes=("public",), prices={},
        ),
    )  # fmt: skip


def test_everything_that_is_said_is_kept_and_prices_keep_their_digits(file: Path) -> None:
    file.write_text(FULL)
    lab, other = read_provider_config(file)
    assert lab == SourceDefinition(
        source_id="lab", source_kind="self_hosted", base_url="http://127.0.0.1:8000/v1",
        protocol_profiles=("openai_chat",), auth_schemes=("none", "api_key"), display_name="Lab server", location="eu",
        route="gateway", data_classes=("public", "tenant_internal"),
        prices={
            "*": {"input_usd_per_million": "0.10", "output_usd_per_million": "0.40"},
            "big.model": {"input_usd_per_million": "3", "output_usd_per_million": "15.000"},
        },
    )  # fmt: skip
    assert (other.source_id, other.protocol_profiles) == ("other", ("anthropic_messages",))


@pytest.mark.parametrize("text", ["", "\ufeff# nothing\n"])
def test_a_file_may_name_no_source(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert read_provider_config(file) == ()


@pytest.mark.parametrize(
    ("line", "key", "message"),
    [
        ('source_id = "Lab"', "source_id", "1 to 64 of a-z"),
        ("source_id = 5", "source_id", "1 to 64 of a-z"),
        ('source_kind = "fixture"', "source_kind", "publisher_direct"),
        ('base_url = "lab:8000"', "base_url", "absolute http or https URL"),
        ('base_url = "http://8.8.8.8/v1"', "base_url", "https"),
        (f'base_url = "https://user:{SENTINEL}@lab.example/v1"', "base_url", "user name or password"),
        (f'base_url = "https://lab.example/v1?api_key={SENTINEL}"', "base_url", "query"),
        ('protocol_profile = "gemini"', "protocol_profile", "openai_chat"),
        ('auth_schemes = "none"', "auth_schemes", "list"),
        ('auth_schemes = ["oauth"]', "auth_schemes", "api_key or none"),
        ("auth_schemes = []", "auth_schemes", "at least one"),
        ('display_name = ""', "display_name", "1 to 200"),
        ('display_name = "a\\u001bb"', "display_name", "1 to 200"),
        ('location = "a\\nb"', "location", "one line"),
        ('route = "sideways"', "route", "direct or gateway"),
        ("data_classes = [1]", "data_classes", "text"),
        ("prices = 5", "prices", "tables"),
    ],
)
def test_a_wrong_value_is_named_with_key_and_line(file: Path, line: str, key: str, message: str) -> None:
    lines = LEAST.splitlines()
    number = next((number for number, kept in enumerate(lines) if kept.startswith(f"{key} =")), len(lines))
    lines[number : number + 1] = [line]
    detail = refusal(file, "\n".join(lines)).detail or ""
    assert detail.startswith(f"{file}:{number + 1}: 'source[0].{key}' ")
    assert message in detail


@pytest.mark.parametrize(
    ("entry", "line", "message"),
    [
        ("[source.prices]\nx = 5", 7, """'source[0].prices."x"' must be a table"""),
        ("[source.prices.x]\ninput_usd_per_million = 1", 6, "must be US dollars"),
        ("[source.prices.x]\ninput_usd_per_million = true", 7, """prices."x".input_usd_per_million' must be US"""),
        ('[source.prices.x]\ninput_usd_per_million = "-1"', 7, "0 or more"),
        ("[source.prices.x]\ninput_usd_per_million = inf", 7, "must be US dollars"),
        ('[source.prices.x]\ninput_usd = "1"', 7, "is not known here"),
        ("prices.x = {input_usd_per_million = 1}", 6, "must be US dollars"),
        (f"{PRICE.replace('X', 'a')}{PRICE.replace('X', 'b').replace('1', '-1')}", 10, """prices."b".input_usd"""),
    ],
)
def test_a_wrong_price_is_named_with_its_line_or_that_of_its_table(
    file: Path, entry: str, line: int, message: str
) -> None:
    detail = refusal(file, LEAST + entry).detail or ""
    assert detail.startswith(f"{file}:{line}: 'source[0].prices.")
    assert message in detail


def test_the_second_source_is_named_as_such(file: Path) -> None:
    text = FULL.replace("https://models.example", "models.example")
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "models.example" in line)
    assert (refusal(file, text).detail or "").startswith(f"{file}:{line}: 'source[1].base_url' must be")


@pytest.mark.parametrize("name", ["source_id", "source_kind", "base_url", "protocol_profile"])
def test_what_is_missing_is_named_with_the_line_of_its_source(file: Path, name: str) -> None:
    kept = [line for line in LEAST.splitlines() if not line.startswith(name)]
    assert refusal(file, "\n".join(kept)).detail == f"{file}:1: 'source[0].{name}' is required"


@pytest.mark.parametrize("name", ["api_key", "token", "secret", "Password", "authorization", "credential"])
def test_a_secret_is_refused_and_not_repeated(file: Path, name: str) -> None:
    error = refusal(file, f'{LEAST}{name} = "{SENTINEL}"\n')
    assert error.detail == f"{file}:6: 'source[0].{name}' looks like a secret, and this file never holds one"
    assert "page of its own" in (error.hint or "")


def test_a_secret_beside_the_sources_or_in_a_price_is_refused_too(file: Path) -> None:
    assert "looks like a secret" in (refusal(file, f'api_key = "{SENTINEL}"\n{LEAST}').detail or "")
    text = f'{LEAST}[source.prices."*"]\nkey = "{SENTINEL}"\n'
    assert "looks like a secret" in (refusal(file, text).detail or "")


def test_a_model_may_be_called_like_a_secret(file: Path) -> None:
    prices = '[source.prices."token-key-7b"]\ninput_usd_per_million = "1"\noutput_usd_per_million = "1"\n'
    file.write_text(LEAST + prices)
    assert list(read_provider_config(file)[0].prices) == ["token-key-7b"]


def test_an_unknown_member_is_refused_with_the_nearest_known_one(file: Path) -> None:
    error = refusal(file, f'{LEAST}base_uri = "x"\n')
    assert error.detail == f"{file}:6: 'source[0].base_uri' is not known here"
    assert error.hint == "Did you mean 'base_url'?"
    assert refusal(file, "[provider]\n").detail == f"{file}:1: 'provider' is not known here"


def test_names_of_the_file_are_cleaned_before_they_are_shown(file: Path) -> None:
    assert "'source[0].a\\u202eb' is not known" in (refusal(file, f'{LEAST}"a\\u202eb" = 1\n').detail or "")


def test_the_line_of_a_source_in_an_inline_list_is_not_reported(file: Path) -> None:
    assert refusal(file, 'source = [{source_id = "lab"}]').detail == f"{file}: 'source[0].source_kind' is required"


@pytest.mark.parametrize("taken", ["lab", "sample_north"])
def test_an_id_is_given_once(file: Path, taken: str) -> None:
    detail = refusal(file, LEAST + LEAST.replace('"lab"', f'"{taken}"')).detail or ""
    assert detail == f"{file}:7: 'source[1].source_id' names a source that exists already"


@pytest.mark.parametrize("text", ['source = "lab"\n', "source = [1]\n", "[source]\nsource_id = 'x'\n"])
def test_sources_are_written_as_tables(file: Path, text: str) -> None:
    assert refusal(file, text).detail == f"{file}:1: 'source' must be written as [[source]] tables"


def test_what_is_no_toml_is_refused_with_its_line(file: Path) -> None:
    assert (refusal(file, f"{LEAST}key = {SENTINEL}\n").detail or "").startswith(f"{file}:6 is not valid TOML: ")
    assert "is not valid TOML" in (refusal(file, 'x = "').detail or "")


def test_what_is_no_text_is_refused_with_its_line(file: Path) -> None:
    assert refusal(file, LEAST.encode() + b"\xff").detail == f"{file}:6 is not UTF-8"


def test_what_is_too_large_or_nests_too_deeply_is_refused(file: Path) -> None:
    assert refusal(file, b"#" * (FILE_BYTES + 1)).detail == f"{file} is larger than 1 MiB"
    assert "nests too deeply" in (refusal(file, f"x = {'[' * 100_000}").detail or "")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(UsageError) as caught:
            read_provider_config(path)
        assert str(path) in (caught.value.detail or "")


def test_samples_are_served_only_when_they_are_asked_for(file: Path) -> None:
    file.write_text(LEAST)
    assert configured_sources(None, sample=False) == ()
    assert configured_sources(None, sample=True) == SAMPLE_SOURCES
    assert [source.source_id for source in configured_sources(file, sample=True)][-1] == "lab"


async def test_a_service_knows_the_sources_that_it_is_started_with(serving: Serving, file: Path) -> None:
    file.write_text(LEAST)
    async with serving(provider_config=file, sample=True) as service:
        ids = [source.source_id for source in service.context.configured_sources]
        assert ids == ["sample_north", "sample_gateway", "sample_cloud", "lab"]


async def test_a_service_does_not_start_with_a_file_that_it_cannot_use(serving: Serving, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        async with serving(provider_config=tmp_path / "none.toml"):
            pass
