"""Sealed secrets: what opens them, what does not, and what a text of master keys may look like."""

from __future__ import annotations

import base64
import subprocess
import sys

import pytest

from runwatch.base.log import redact
from runwatch.base.secrets.sealing import MAGIC, MasterKey, MasterKeys, UnsealError, is_sealed
from tests.support.master_keys import MASTER_KEYS

PLAIN = b"sk-sentinel-9f31"
OTHER = MasterKeys((MasterKey(b"o" * 32),))


def test_what_is_sealed_for_a_handle_is_opened_for_it() -> None:
    sealed = MASTER_KEYS.seal(PLAIN, "cred_v_1")
    assert MASTER_KEYS.open(sealed, "cred_v_1") == PLAIN
    assert is_sealed(sealed)
    assert PLAIN not in sealed
    assert MASTER_KEYS.seal(PLAIN, "cred_v_1") != sealed


def test_it_opens_for_no_other_handle() -> None:
    with pytest.raises(UnsealError, match="sealed for something else"):
        MASTER_KEYS.open(MASTER_KEYS.seal(PLAIN, "cred_v_1"), "cred_v_2")


def test_no_bit_of_it_can_be_changed_and_no_byte_left_out() -> None:
    sealed = MASTER_KEYS.seal(PLAIN, "cred_v_1")
    changed = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in range(len(sealed))]
    for content in (*changed, *(sealed[:length] for length in range(len(sealed)))):
        with pytest.raises(UnsealError) as told:
            MASTER_KEYS.open(content, "cred_v_1")
        assert PLAIN.decode() not in str(told.value)


def test_the_newest_key_seals_and_every_key_opens() -> None:
    earlier = MASTER_KEYS.seal(PLAIN, "h")
    rotated = MASTER_KEYS.with_new_key()
    assert rotated.open(earlier, "h") == PLAIN
    assert not rotated.is_newest(earlier)
    later = rotated.seal(PLAIN, "h")
    assert rotated.is_newest(later)
    with pytest.raises(UnsealError, match=f"{rotated.keys[0].id.hex()}, is missing"):
        MASTER_KEYS.open(later, "h")


def test_the_id_of_a_key_follows_from_the_key() -> None:
    assert MASTER_KEYS.keys[0].id == MasterKey(bytes(range(32))).id
    assert MASTER_KEYS.keys[0].id != OTHER.keys[0].id


def test_no_plain_text_looks_sealed() -> None:
    with pytest.raises(UnicodeDecodeError):
        MAGIC.decode("utf-8", "surrogatepass")


def test_a_text_of_keys_has_comments_and_both_alphabets_and_each_key_once() -> None:
    odd = MasterKey(b"\xfb\xff" * 16)
    url_safe = base64.urlsafe_b64encode(odd.key).decode()
    assert "_" in url_safe
    text = f"# newest\n\n  {url_safe}  \n{MASTER_KEYS.text}\n{odd.text}\n"
    assert MasterKeys.parse(text).keys == (odd, *MASTER_KEYS.keys)
    assert MasterKeys.parse(OTHER.text) == OTHER


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "hunter2-canary", "canary" * 8, f"{OTHER.text}canary", base64.b64encode(b"c" * 31).decode()],
)
def test_what_is_no_key_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValueError, match=r"32 bytes in base64|holds no key") as told:
        MasterKeys.parse(text)
    assert "canary" not in str(told.value)
    assert OTHER.keys[0].text not in str(told.value)


def test_keys_show_themselves_nowhere() -> None:
    made = MasterKeys.new()
    assert made.keys[0].text not in repr(made) + repr(made.keys[0]) + redact(f"found {made.keys[0].text}")
    assert repr(made.keys[0].key) not in repr(made) + repr(made.keys[0])
    assert MasterKeys.new().keys != made.keys


def test_the_library_is_loaded_when_something_is_sealed_and_not_before() -> None:
    program = (
        "import sys\nfrom runwatch.base.secrets.sealing import MasterKeys\nkeys = MasterKeys.new()\n"
        "print('cryptography' in sys.modules)\nkeys.seal(b'x', 'h')\nprint('cryptography' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"
