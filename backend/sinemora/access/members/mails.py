"""Texts of mails about invitations and members. Pure."""

from datetime import datetime

from sinemora.access.tenants.models import Role
from sinemora.kit.mail import Mail

_MAY = {
    Role.viewer: "see its measurements",
    Role.editor: "see and change its meshes, rules and applications",
    Role.admin: "change it and manage its members",
    Role.owner: "do everything in it, up to deleting it",
}


def invitation(to: str, tenant: str, invited_by: str, role: Role, link: str, expires_at: datetime) -> Mail:
    return Mail(
        to,
        f"Invitation to {tenant} on Sinemora",
        (
            f"{invited_by} invites you to the tenant {tenant} on Sinemora as {role}: you may {_MAY[role]}.",
            f"Accept the invitation:\n{link}",
            f"The link works once, until {expires_at:%Y-%m-%d %H:%M} UTC."
            " If you do not know the sender, ignore this mail: nothing happens.",
        ),
    )


def ownership(to: str, tenant: str, before: str, after: str) -> Mail:
    """Return the notice of a transferred ownership."""
    return Mail(
        to,
        f"{after} owns {tenant} now",
        (
            f"{before} has transferred the ownership of the tenant {tenant} to {after} and is an administrator now.",
            "If this should not have happened, another owner can undo it under Members.",
        ),
    )


def deletion(to: str, tenant: str, by: str, at: datetime, link: str) -> Mail:
    """Return the notice of a requested deletion."""
    return Mail(
        to,
        f"{tenant} will be deleted on {at:%Y-%m-%d}",
        (
            f"{by} has requested the deletion of the tenant {tenant}. All of its data will be deleted on"
            f" {at:%Y-%m-%d %H:%M} UTC and cannot be restored.",
            f"An owner can cancel this until then:\n{link}",
        ),
    )
