"""Actions on proposals, API keys, credential references and credit (manual: interface, "Proposals"; manual: interface,
"API keys").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from runwatch.records.account import Account
from runwatch.records.api_key import MAX_KEY_S, ApiKey
from runwatch.records.arm import Arm
from runwatch.records.credential import Credential
from runwatch.records.proposal import Proposal
from runwatch.view.actions.fields import NAME, quote_name
from runwatch.view.spec.action import Mutation, PrivatePageSpec, ResourceAction
from runwatch.view.spec.action_parts import FieldOption, FormField

_DECIDED: Final = "It was decided already, or it expired."


def _is_pending(proposal: Proposal) -> bool:
    return proposal.status == "pending"


def _minted(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the new key, which the service sends only this once."""
    key = response.get("key")
    if not isinstance(key, str) or not key:
        return [("key", "shown only once, when it was created; revoke this one and create another")]
    return [
        ("expires", str(response.get("expires_at") or "never, according to the service")),
        ("key", key),
        ("", "It is shown only once and not stored. Copy it before you close this."),
    ]


APPROVE: Final = ResourceAction[Proposal](
    "approve", "Approve it", "proposals approve",
    summary="approve a proposal",
    enabled_when=_is_pending, off_because=_DECIDED,
    mutation=Mutation(
        operation="postProposalsByProposalIdApprove",
        sentence=lambda it: f"Approves the change of {it.arm_id or 'the skill'}: runs use the repaired text from now"
        " on. A decision is final.",
        cancel_label="Do not decide now",
        invalidates=(Arm,),
    ),
)  # fmt: skip

REJECT: Final = ResourceAction[Proposal](
    "reject", "Reject it", "proposals reject",
    summary="reject a proposal",
    enabled_when=_is_pending, off_because=_DECIDED,
    mutation=Mutation(
        operation="postProposalsByProposalIdReject",
        sentence=lambda it: f"Rejects the change of {it.arm_id or 'the skill'}, which stays as it is. A decision is"
        " final.",
        cancel_label="Do not decide now",
        fields=(
            FormField(path="reason", label="reason", hint="why, up to 2,000 characters; may be left empty",
                option=FieldOption(name="--reason", metavar="TEXT", help="why it is rejected")),
        ),
        request="proposals.ProposalRejection",
    ),
)  # fmt: skip

CREATE_KEY: Final = ResourceAction[None](
    "create",
    "Create an API key",
    "keys create",
    summary="create an API key and print it once",
    mutation=Mutation(
        operation="postApiKeys",
        sentence=lambda _: (
            "Creates an API key. Anyone who has it can do what its role allows. It is shown once, here."
        ),
        confirm_label="Create the key",
        cancel_label="Cancel",
        fields=(
            FormField(
                path="display_name", label="label", hint="display name, up to 200 characters", is_required=True,
                option=FieldOption(name="--name", metavar="NAME", help="its display name", is_required=False),
            ),
            FormField(
                path="role",
                label="role",
                kind="choice",
                choices=("reader", "runner", "owner"),
                is_required=True,
                start=lambda _: "reader",
                hint="reader reads, runner also submits and cancels runs, owner does everything",
                option=FieldOption(
                    name="--role", metavar="ROLE", is_required=False, is_open=True,
                    help="what it may do, where the service has roles: reader, runner or owner",
                ),
            ),
            FormField(
                path="expires_in_s",
                label="expires in",
                kind="span",
                max_s=MAX_KEY_S,
                hint="such as 30d or 12h, up to 3650d; empty for never",
                option=FieldOption(
                    name="--expires", metavar="TIME",
                    help="after how long it expires, for example 30d or 12h; never when left out",
                ),
            ),
        ),
        request="organization.KeyMint",
        summarize=_minted,
        one_time_member="key",
        copy_note="the key is shown only once; store it now, for example with 'runwatch config key set PROFILE'",
        no_copy_note="the service did not show the key; revoke this one and make another",
    ),
)  # fmt: skip

LABEL_KEY: Final = ResourceAction[ApiKey](
    "edit", "Label it", "keys label",
    summary="give an API key another name",
    enabled_when=lambda it: it.status != "revoked",
    off_because="It is revoked, for good.",
    mutation=Mutation(
        operation="patchApiKeysByApiKeyId",
        sentence=lambda it: f"Gives key {it.id} another label. Its role does not change.",
        fields=(
            FormField(path="display_name", label="label", hint="display name, up to 200 characters",
                start=lambda it: it.display_name or "", is_required=True,
                option=FieldOption(name="NAME", help="its new name")),
        ),
        request="organization.KeyLabel",
    ),
)  # fmt: skip

REVOKE_KEY: Final = ResourceAction[ApiKey](
    "revoke", "Revoke it", "keys revoke", is_destructive=True,
    summary="revoke API keys for good",
    enabled_when=lambda it: it.status != "revoked", off_because="It is revoked already, for good.",
    mutation=Mutation(
        operation="postApiKeysByApiKeyIdRevoke",
        sentence=lambda it: f"Revokes key {quote_name(it)} at once and for good. Every client that uses it is"
        " refused from then on, also this console if it is its own key.",
        cancel_label="Keep it",
        done="revoked",
    ),
)  # fmt: skip

NAME_CREDENTIAL: Final = ResourceAction[None](
    "create",
    "Name a credential",
    "",
    mutation=Mutation(
        operation="postCredentials",
        sentence=lambda _: "Creates a reference that saved models can name. It holds no secret.",
        confirm_label="Name it",
        cancel_label="Do not name one",
        fields=(replace(NAME, option=None),),
        request="review.CredentialWrite",
        invalidates=(Credential,),
    ),
)

TOP_UP: Final = ResourceAction[None](
    "top_up",
    "Add sample credit",
    "account",
    mutation=Mutation(
        operation="postAccountTopUpIntents",
        sentence=lambda _: "Asks for a private page on which sample credit is added. No money moves.",
        cancel_label="Leave",
        fields=(
            FormField(
                path="amount_usd", label="amount USD", kind="number", hint="more than 0, up to 1,000", is_required=True,
                start=lambda _: "10",
            ),
        ),
        request="organization.TopUpRequest",
        invalidates=(Account,),
        private_page=PrivatePageSpec(what="add the credit"),
    ),
)  # fmt: skip

PROPOSAL_ACTIONS: Final = (APPROVE, REJECT)
KEY_MAKES: Final = (CREATE_KEY,)
KEY_ACTIONS: Final = (LABEL_KEY, REVOKE_KEY)
CREDENTIAL_MAKES: Final = (NAME_CREDENTIAL,)
ACCOUNT_MAKES: Final = (TOP_UP,)
