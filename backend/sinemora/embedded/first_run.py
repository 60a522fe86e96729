"""Makes sure that a tenant and its owner exist; prints `{"created": …, "password": …}` for the launcher.

A process of its own: the supervisor stays small, without the backend in its memory.
"""

import json
import sys

from sinemora.kit.config import settings
from sinemora.tenants.service import create_owner

TENANT = "Sinemora"


def main() -> int:
    """Create what is missing; the password is printed only when it was generated now."""
    given = settings().owner_password
    try:
        made = create_owner(TENANT, settings().owner_email, given.get_secret_value() if given else None)
    except ValueError as error:
        print(f"SINEMORA_OWNER_EMAIL, SINEMORA_OWNER_PASSWORD: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"created": made.created, "password": made.password, "tenant_id": str(made.tenant_id)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
