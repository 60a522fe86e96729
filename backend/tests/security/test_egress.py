"""Requests to addresses that tenants choose: only public ones, and those that the operator allows."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sinemora.kit import egress_policy, special_networks
from sinemora.kit.config import Settings

METADATA = [
    "169.254.169.254",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "::7f00:1",
    "fe80::1%eth0",
    "fec0::1",
]


@pytest.mark.parametrize("address", METADATA)
def test_metadata_and_transition_addresses_are_refused(address: str):
    assert not special_networks.is_allowed(address, ())


@given(st.ip_addresses())
def test_what_python_calls_special_is_refused(address: ipaddress.IPv4Address | ipaddress.IPv6Address):
    # The standard library has its own table of the IANA registries.
    address = getattr(address, "ipv4_mapped", None) or address
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert not special_networks.is_allowed(str(address), ())


@given(st.sampled_from([network for network in special_networks.SPECIAL if network.num_addresses > 1]))
def test_the_ends_of_every_network_are_refused_unless_allowed(network: special_networks.Network):
    for address in (str(network[0]), str(network[-1])):
        assert not special_networks.is_allowed(address, ())
        assert special_networks.is_allowed(address, (network,))


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses_are_allowed(address: str):
    assert special_networks.is_allowed(address, ())


def test_only_the_network_in_the_list_is_allowed():
    networks = special_networks.parse("10.1.0.0/16, 192.168.7.7")
    assert special_networks.is_allowed("10.1.2.3", networks)
    assert special_networks.is_allowed("192.168.7.7", networks)
    assert not special_networks.is_allowed("10.2.0.1", networks)
    assert not special_networks.is_allowed("192.168.7.8", networks)


@pytest.mark.parametrize("text", ["private", "10.0.0.1/8", "10.0.0.0/40", "*"])
def test_a_wrong_list_is_refused_with_its_form(text: str):
    with pytest.raises(ValidationError, match=r"10\.0\.0\.0/8"):
        Settings(receiver_networks=text)


def test_a_refusal_names_no_address():
    with pytest.raises(egress_policy.EgressRefused) as refusal:
        egress_policy.resolved("localhost", 80, ())
    assert "127.0.0.1" not in str(refusal.value)
    assert "::1" not in str(refusal.value)


@pytest.mark.parametrize("url", ["http://[::1", "http://a:99999/", "http://a:x/"])
def test_a_broken_url_is_refused(url: str):
    with pytest.raises(egress_policy.EgressRefused, match="invalid URL"):
        egress_policy.post(url, b"", {}, ())
