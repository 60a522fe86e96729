"""Networks that no tenant's request may reach unless the operator allows it.

The IANA special-purpose address registries (RFC 6890) where they are not globally reachable, multicast, the transition
prefixes that contain an IPv4 address, and addresses at which clouds serve metadata to their VMs.
"""

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_SPECIAL = (
    "0.0.0.0/8",  # this network (RFC 791)
    "10.0.0.0/8",  # private use (RFC 1918)
    "100.64.0.0/10",  # shared address space (RFC 6598); Alibaba's metadata
    "127.0.0.0/8",  # loopback
    "168.63.129.16/32",  # Azure's wire server, a public address
    "169.254.0.0/16",  # link local (RFC 3927); metadata of most clouds
    "172.16.0.0/12",  # private use
    "192.0.0.0/24",  # IETF protocol assignments (RFC 6890); Oracle's metadata
    "192.0.2.0/24",  # documentation (RFC 5737)
    "192.88.99.0/24",  # deprecated 6to4 relays (RFC 7526)
    "192.168.0.0/16",  # private use
    "198.18.0.0/15",  # benchmarking (RFC 2544)
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast (RFC 5771)
    "240.0.0.0/4",  # reserved (RFC 1112) and broadcast
    "2001::/23",  # IETF protocol assignments (RFC 2928), Teredo among them
    "2001:db8::/32",  # documentation (RFC 3849)
    "2002::/16",  # 6to4 (RFC 3056)
    "3fff::/20",  # documentation (RFC 9637)
)
# All others are loopback, link-local, unique local, multicast, translation of IPv4, or reserved (RFC 4291 §2.4).
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
SPECIAL: tuple[Network, ...] = tuple(map(ipaddress.ip_network, _SPECIAL))


def parse(text: str) -> tuple[Network, ...]:
    """Return the networks of a list such as `10.0.0.0/8, 192.0.2.7`. Raises ValueError that names the wrong one."""
    networks: list[Network] = []
    for part in text.replace(",", " ").split():
        try:
            networks.append(ipaddress.ip_network(part))
        except ValueError as error:
            raise ValueError(f"{error}; list networks such as 10.0.0.0/8, 192.168.1.20/32") from None
    return tuple(networks)


def is_allowed(address: str, networks: Sequence[Network]) -> bool:
    """Return whether a request may go to an IP address: to a public one, or to one in `networks`."""
    ip: Address = ipaddress.ip_address(address.partition("%")[0])  # without the interface of a link-local address
    ip = getattr(ip, "ipv4_mapped", None) or ip
    is_special = _inside(ip, SPECIAL) or (ip.version == 6 and ip not in _GLOBAL_UNICAST)
    return not is_special or _inside(ip, networks)


def is_exception(host: str, networks: Sequence[Network]) -> bool:
    """Return whether a host is an IP address that requests may go to only because it is in `networks`."""
    try:
        return is_allowed(host, networks) and not is_allowed(host, ())
    except ValueError:  # a name
        return False


def _inside(ip: Address, networks: Sequence[Network]) -> bool:
    return any(ip.version == network.version and ip in network for network in networks)
