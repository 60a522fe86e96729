"""Rules of who may change whom. Pure.

A member manages others with the role `admin` or `owner`, grants no role above their own, and only an owner changes or
removes an owner.
"""

from sinemora.access.tenants.models import Role


def may_grant(actor: Role, role: Role) -> bool:
    """Return whether a member with the role `actor` may invite with `role` or give it to a member."""
    return actor.rank >= Role.admin.rank and role.rank <= actor.rank


def may_change(actor: Role, target: Role) -> bool:
    """Return whether a member with the role `actor` may change the role of, or remove, a member with `target`."""
    return actor.rank >= Role.admin.rank and target.rank <= actor.rank
