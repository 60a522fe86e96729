"""Operations with the tag `members`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator

from sinemora_client import models
from sinemora_client.calls import Calls


class MembersOperations(Calls):
    """Operations with the tag `members`."""

    def list_invitations(self) -> Iterator[models.InvitationRead]:
        """List invitations, newest first. Those that ended are kept for 30 days.

        GET /v1/invitations, role admin.
        """
        return self._items("/v1/invitations", {})

    def list_members(self) -> Iterator[models.MemberRead]:
        """List the members of the tenant, oldest first.

        GET /v1/members, role viewer.
        """
        return self._items("/v1/members", {})

    def read_sign_in_policy(self) -> models.SignInPolicyRead:
        """Return the rules of sign-in for the members of the tenant.

        GET /v1/sign-in-policy, role admin.
        """
        answer: models.SignInPolicyRead = self._json("GET", "/v1/sign-in-policy")
        return answer

