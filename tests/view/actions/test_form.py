"""A form's answers become a body with exact values, and what is wrong with it belongs to a field."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import ExactNumber, encode_body, loads
from runwatch.view.actions.form import FORM_LEVEL, Form, build_form, field_text, next_choice, parse_field, parse_number
from runwatch.view.actions.organization import CREATE_KEY
from runwatch.view.spec.action import Mutation
from runwatch.view.spec.action_parts import FieldKind, FormField


def field(path: str, kind: FieldKind = "text", **over: Any) -> FormField:
    return FormField(path=path, label=path, hint="anything", kind=kind, **over)


def test_what_is_asked_is_named_by_its_path_unless_it_has_a_name() -> None:
    assert field("endpoint.url").id == "endpoint-url"
    assert field("endpoint.url", id="address").id == "address"


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        ("text", " Say hello. ", "Say hello."),
        ("number", "60", 60),
        ("number", "-0.5", -0.5),
        ("number", "12 apples", "12 apples"),
        ("number", "nan", "nan"),
        ("list", "public, sandbox  public", ["public", "sandbox", "public"]),
        ("switch", "Yes", True),
        ("switch", "no", False),
        ("switch", "maybe", "maybe"),
        ("json", '{"a": [1]}', {"a": [1]}),
        ("json", "{", "{"),
        ("choice", "gold", "gold"),
    ],
)
def test_a_typed_text_becomes_the_value_of_its_kind_and_stays_text_where_it_is_none(
    kind: FieldKind, typed: str, value: object
) -> None:
    assert parse_field(field("x", kind), typed.strip()) == value


@pytest.mark.parametrize("typed", ["0.10", "0.1000000000000000055511151231257827", "1e400", "1.50"])
def test_a_number_keeps_the_digits_that_were_typed(typed: str) -> None:
    body = encode_body(Form(fields=(field("cost", "number"),)).body({"cost": typed}))
    assert body == f'{{"cost":{typed}}}'.encode()


@pytest.mark.parametrize(("typed", "sent"), [("1_000.5", "1000.5"), (".5", "0.5"), ("٣.٥", "3.5"), ("+2.50", "2.50")])
def test_a_number_that_json_writes_otherwise_is_written_as_json_does(typed: str, sent: str) -> None:
    assert encode_body(parse_number(typed)) == sent.encode()


@given(st.text(max_size=20))
def test_whatever_is_typed_for_a_number_can_be_sent_or_stays_text(typed: str) -> None:
    value = parse_number(typed.strip())
    assert value is None or isinstance(value, (int, float, str))
    if isinstance(value, float):
        assert loads(encode_body(value)) == value or isinstance(value, ExactNumber)


def test_what_may_be_left_empty_is_left_out_and_what_may_not_is_sent_empty_so_that_the_rules_name_it() -> None:
    fields = (field("name", is_required=True), field("reason"), field("amount", "number", is_required=True))
    assert Form(fields=fields).body({}) == {"name": "", "amount": None}
    assert Form(fields=fields).problems({}) == {"name": "Required.", "amount": "Required."}


def test_members_that_nobody_types_come_first_and_the_record_they_are_of_is_left_as_it_is() -> None:
    given_: dict[str, Any] = {"kind": "skill", "artifact": {"editable_regions": []}}
    form = Form(fields=(field("artifact.content"),), members=given_)
    assert form.body({"artifact-content": "Be brief."}) == {
        "kind": "skill",
        "artifact": {"editable_regions": [], "content": "Be brief."},
    }
    assert given_ == {"kind": "skill", "artifact": {"editable_regions": []}}


def test_of_a_change_only_what_differs_is_sent_and_with_it_the_whole_object_around_it() -> None:
    fields = (field("display_name"), field("endpoint.url"), field("endpoint.auth_ref"))
    start = {"display_name": "Mine", "endpoint-url": "https://a.test", "endpoint-auth_ref": "ref_1"}
    form = Form(fields=fields, start=start, changes_only=True)
    assert form.body(start) == {}
    assert form.problems(start) == {FORM_LEVEL: "Nothing has changed yet."}
    assert form.body({**start, "endpoint-url": "https://b.test"}) == {
        "endpoint": {"url": "https://b.test", "auth_ref": "ref_1"}
    }


def test_the_rules_of_the_service_speak_at_the_field_they_are_about() -> None:
    form = Form(fields=(field("repository", is_required=True),), request="review.GithubIntentRequest")
    assert form.problems({"repository": "ab"}) == {"repository": "Must be at least 3 characters."}
    assert form.problems({"repository": "a" * 256}) == {"repository": "Must be at most 255 characters."}
    assert form.problems({"repository": "acme/widgets"}) == {}


@pytest.mark.parametrize(
    ("kind", "typed", "said"),
    [
        ("choice", "gold", "Must be silver or bronze."),
        ("switch", "maybe", "Must be yes or no."),
        ("number", "many", "Must be a number."),
        ("json", "{", "Must be JSON."),
    ],
)
def test_what_does_not_fit_its_kind_is_said_at_its_field(kind: FieldKind, typed: str, said: str) -> None:
    form = Form(fields=(field("metal", kind, choices=("silver", "bronze")),))
    assert form.problems({"metal": typed}) == {"metal": said}


def test_errors_of_a_problem_go_to_their_fields_and_the_others_are_reported_with_their_names() -> None:
    form = Form(fields=(field("endpoint.url"), field("data_classes", "list"), field("stop_choice.kind")))
    errors = [
        {"field": "endpoint.url", "message": "Must be https."},
        {"field": "data_classes[2]", "message": "Must be a text."},
        {"field": "stop_choice", "message": "Takes days."},
        {"field": "scoring.quality", "message": "Required."},
    ]
    assert form.by_field(errors) == {
        "endpoint-url": "Must be https.", "data_classes": "Must be a text.", "stop_choice-kind": "Takes days.",
        FORM_LEVEL: "scoring.quality: Required.",
    }  # fmt: skip


@pytest.mark.parametrize("errors", [None, 7, "text", [None], [{"field": 3, "message": "x"}], [{"field": "x"}], {}])
def test_errors_of_another_shape_are_left_out(errors: object) -> None:
    assert Form(fields=(field("x"),)).by_field(errors) == {}


def test_the_same_words_are_shown_for_a_value_as_make_it_again() -> None:
    fields = (field("a"), field("b", "number"), field("c", "list"), field("d", "switch"))
    body = {"a": "x", "b": loads("0.10"), "c": ["p", "q"], "d": True}
    form = Form(fields=fields)
    assert form.body(form.values_of(body)) == body
    assert field_text({"an": "object"}) == field_text(None) == ""


def test_choices_go_round_from_what_is_there() -> None:
    choices = ("echo", "live", "other")
    assert next_choice(choices, "echo", 1) == "live"
    assert next_choice(choices, "echo", -1) == "other"
    assert next_choice(choices, "something else", 1) == "echo"
    assert next_choice(choices, "", -1) == "other"


def test_a_mutation_gives_its_form_what_its_record_says() -> None:
    mutation = Mutation[dict[str, str]](
        operation="x", sentence=lambda _: "", confirm_label="Do it",
        fields=(field("name", start=lambda it: it["name"]),), members=lambda it: {"id": it["id"]},
    )  # fmt: skip
    form = build_form(mutation, {"name": "Mine", "id": "7"})
    assert form.start == {"name": "Mine"}
    assert form.body(form.start) == {"id": "7", "name": "Mine"}


@pytest.mark.parametrize("request_name", ["", "verifier.VerifierPatch"])
def test_a_secret_in_a_reference_is_reported_at_its_field_and_not_repeated(request_name: str) -> None:
    secret = "sk-ant-api03-canary-5f1e7c2b9d40"
    form = Form(fields=(field("endpoint.url"), field("endpoint.auth_ref")), request=request_name)
    found = form.problems({"endpoint-url": "https://a.test/", "endpoint-auth_ref": secret})
    assert set(found) == {"endpoint-auth_ref"}
    assert found["endpoint-auth_ref"].startswith("Looks like a key of a model provider.")
    assert secret not in str(found)
    assert form.problems({"endpoint-url": "https://a.test/", "endpoint-auth_ref": "vault://team/prod"}) == {}


@pytest.mark.parametrize(
    ("typed", "seconds"), [("30d", 2_592_000), ("12h", 43_200), ("1h30m", 5_400), ("1s", 1), ("3650d", 315_360_000)]
)
def test_a_length_of_time_becomes_whole_seconds_and_is_shown_again_as_a_length_of_time(
    typed: str, seconds: int
) -> None:
    form = Form(fields=(field("expires_in_s", "span", max_s=315_360_000),))
    assert form.problems({"expires_in_s": typed}) == {}
    assert form.body({"expires_in_s": typed}) == {"expires_in_s": seconds}
    again = form.values_of({"expires_in_s": seconds})
    assert form.body(again) == {"expires_in_s": seconds}


@pytest.mark.parametrize("typed", ["30", "soon", "0s", "3651d", "2026-12-01", "-1d"])
def test_anything_else_is_no_length_of_time(typed: str) -> None:
    form = Form(fields=(field("expires_in_s", "span", max_s=315_360_000),))
    said = form.problems({"expires_in_s": typed})["expires_in_s"]
    assert said == "Must be a number with its unit, such as 30d or 12h, from 1s to 3650d."


def test_a_key_without_an_expiry_sends_none_and_one_with_an_expiry_keeps_the_services_bound() -> None:
    assert CREATE_KEY.mutation is not None
    form = build_form(CREATE_KEY.mutation, None)
    typed = {"display_name": "ci", "role": "reader"}
    assert form.problems(typed) == {}
    assert form.body(typed) == typed
    assert form.problems({**typed, "expires_in_s": "3650d"}) == {}
    assert form.body({**typed, "expires_in_s": "30d"}) == {**typed, "expires_in_s": 2_592_000}
