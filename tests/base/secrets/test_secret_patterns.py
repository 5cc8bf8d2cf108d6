"""A secret is told from a name of one (manual: security, "Misplaced secrets")."""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.secrets import secret_patterns
from runwatch.base.secrets.secret_patterns import find_known_key, find_secret, remove_known_keys

WORD = string.ascii_letters + string.digits

KNOWN = {
    "sk-": 24, "sk-ant-api03-": 16, "sk-proj-": 16, "sk-or-v1-": 16, "ghp_": 36, "gho_": 36, "github_pat_": 22,
    "glpat-": 20, "xoxb-": 16, "xapp-1-": 16, "AIza": 35, "hf_": 34, "solverapi_test_": 8, "gsk_": 40, "pplx-": 40,
    "xai-": 40, "nvapi-": 40, "sk_live_": 24, "whsec_": 24, "ya29.": 30, "hvs.": 24, "npm_": 36, "Bearer ": 8,
    "bearer  ": 12, "BEARER:": 12, "Authorization: Bearer ": 8, "https://user:": 8,
}  # fmt: skip
"""Beginnings of well-known keys, and how many letters and digits follow at least."""

ENDS = {"https://user:": "@host.example/x"}

NAMES = [
    "", "cred_1", "cred_ref_01", "ref_1", "main", "refs/heads/feature/add-a-very-long-branch-name-2024",
    "vault://team/openai-prod", "env:OPENAI_API_KEY", "op://Private/OpenAI/credential",
    "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/openai-AbCdEf",
    "arn:aws:secretsmanager:eu-central-1:123456789012:secret:MyCompany/Production/OpenAIKey-a1b2c3",
    "projects/my-project-123456/secrets/openai-api-key/versions/latest",
    "https://myvault.vault.azure.net/secrets/OpenAI-Key/0123456789abcdef0123456789abcdef",
    "keyring://runwatch/openai", "keychain:com.example.runwatch/openai-production", "file:/run/secrets/openai_api_key",
    "k8s://namespace/secret-name/key", "vault://secret/data/team?key=api-key", "aws-sm://openai?version=AWSCURRENT",
    "OpenAIProductionKeyForTeamAlpha2024", "MyTeamApiKeyForProdV2EuWest1", "doppler://project/config/OPENAI_API_KEY",
    "credential_for_the_production_verifier_endpoint_2026", "2024-05-06T07:08:09.123Z-rotation-of-primary-key",
    "release/v2.13.4-rc.1+build.20240506", "infisical:/prod/eu-west-1/api1/db2/openai", "key_AbCdEfGh12345678",
    "basic authentication for team", "bearer", "bearer-token-of-team-a", "sk-learn-pipeline-prod", "task-force-one",
    "team/sk-prod/primary", "https://inputs.example/files/2026/11/24/batch.json", "git@github.com:acme/widgets.git",
]  # fmt: skip

SECRETS = [
    "-----BEGIN PRIVATE KEY-----\nMIIE", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "Basic dXNlcjpwYXNzd29yZA==", "postgres://u:p@host/db",
    "https://host/x?api_key=12345678", "https://host/x?a=b&X-Amz-Signature=0123456789", "4eC39HqLyjWDarjtT1zdp7dc",
    "vault://team/sk-ant-api03-AbCdEf123456", "sk-ant-\u200bapi03-AbCdEf123456", "sk-ant-ap\ni03-AbCdEf123456",
    "sk-canary-0123456789abcdefghij", "SK-PROJ-ZX81KPQ0LMT5VRB7", "sk-litellm-prod-key-0011", "pypi-AgEIcHlwaS5vcmcabc",
    "Authorization: Bearer abc", "password=hunter2",
    "%73k-ant-api03-AbCdEf123456", "0123456789abcdef0123456789abcdef", "  Bearer abcdef123  ",
]  # fmt: skip


@given(start=st.sampled_from(sorted(KNOWN)), data=st.data(), before=st.sampled_from(["", " ", "vault://a/", '"', "x="]))
def test_a_well_known_key_is_found_wherever_it_begins(start: str, data: st.DataObject, before: str) -> None:
    least = KNOWN[start]
    rest = data.draw(st.text(WORD, min_size=least, max_size=least + 40))
    key = f"{start}{rest}{ENDS.get(start, '')}"
    words = find_secret(key if start in ENDS else before + key)
    assert words is not None
    assert rest not in words


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_found(text: str) -> None:
    assert find_secret(text) is not None


@pytest.mark.parametrize("text", NAMES)
def test_a_name_of_a_secret_passes(text: str) -> None:
    assert find_secret(text) is None


@given(prefix=st.sampled_from(["cred_v_", "cred_ref_", "sha256:", "bind_", "kv/secrets/"]), bits=st.binary(min_size=32))
def test_an_id_of_hexadecimal_digits_behind_a_word_passes(prefix: str, bits: bytes) -> None:
    assert find_secret(prefix + bits[:16].hex()) is None
    assert find_secret(prefix + bits[:32].hex()) is None


@given(id=st.uuids(), prefix=st.sampled_from(["", "cred-", "urn:uuid:", "cred_"]))
def test_a_uuid_passes(id: object, prefix: str) -> None:
    assert find_secret(f"{prefix}{id}") is None


@given(
    prefix=st.sampled_from(["ex", "cred_ref", "bind"]),
    rest=st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=26, max_size=26),
)
def test_an_id_of_this_service_passes(prefix: str, rest: str) -> None:
    assert find_secret(f"{prefix}_{rest}") is None


WORDS = ("team", "prod", "openai", "key", "secret", "alpha", "api", "verifier", "Vault", "Primary", "europe", "2026")


@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), mark=st.sampled_from(["/", "-", "_", ".", ":"]))
def test_words_with_marks_between_them_pass(words: list[str], mark: str) -> None:
    assert find_secret(mark.join(words)) is None


def test_nearly_every_long_random_text_is_found() -> None:
    chance = Random(4711)
    made: dict[str, Callable[[], str]] = {
        "letters and digits": lambda: "".join(chance.choice(WORD) for _ in range(40)),
        "base64": lambda: base64.b64encode(chance.randbytes(48)).decode(),
        "url-safe base64": lambda: base64.urlsafe_b64encode(chance.randbytes(48)).decode(),
        "hexadecimal": lambda: chance.randbytes(32).hex(),
    }
    for name, make in made.items():
        found = sum(find_secret(make()) is not None for _ in range(1000))
        assert found >= 980, name


@given(text=st.text(max_size=300))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    find_secret(text)


@pytest.mark.parametrize(
    "text", ["eyJ" + "a" * 9000, "sk-" * 9000, "a_" * 9000, "-----BEGIN " + "A " * 9000, "%25" * 9000]
)
def test_a_long_text_costs_no_more_than_its_beginning(text: str) -> None:
    assert find_secret(text) == find_secret(text[:4096])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/v1/executions/sk-ant-api03-AbCdEf123456/events, no", "/v1/executions/[removed]/events, no"),
        ("my key is https://bob:word@a.test/x.", "my key is [removed]a.test/x."),
        ("https://a.test/https://bob:word@b.test/x", "https://a.test/[removed]b.test/x"),
        ("https://a.test/?k=https%3A%2F%2Fbob%3Aword%40b.test", "[removed]"),
        ("Bearer 0123456789abcdef and more", "[removed] and more"),
        ("sk-\u200bant-api03-AbCdEf123456", "[removed]"),
    ],
)
def test_a_well_known_key_is_found_in_any_text_and_removed(text: str, kept: str) -> None:
    assert find_known_key(text) is not None
    assert remove_known_keys(text) == kept


@pytest.mark.parametrize(
    "name", [*NAMES, "password=hunter2", "Authorization: Bearer abc", "https://a.test/?token=12345678"]
)
def test_a_name_or_a_sentence_holds_no_well_known_key(name: str) -> None:
    assert find_known_key(name) is None
    assert remove_known_keys(name) == name


@given(
    pieces=st.lists(
        st.sampled_from(
            [*sorted(KNOWN), "sk_live_", "npm_", "whsec_", "solverapi_", "_", "a", "e", "face", "password"]
        ),
        max_size=8,
    )
)
def test_a_short_name_is_judged_as_any_other_text_is(pieces: list[str]) -> None:
    text = "".join(pieces)[:20]
    found = find_secret(text), find_known_key(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_patterns, "_is_short_name", lambda _: False)
        assert (find_secret(text), find_known_key(text)) == found
