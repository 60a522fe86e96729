"""Files of the recipe `dns`: an authoritative zone for NSD, and queries of its names for dnsperf."""

_NAMES = 1_000
_CONFIGURATION = """
server:
  ip-address: {address}@{port}
  do-ip6: no
  server-count: 1
  username: ""
  zonesdir: "{folder}"
  database: ""
  pidfile: ""
  xfrdfile: "{folder}/xfrd.state"
  zonelistfile: "{folder}/zone.list"
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: "example"
  zonefile: "{folder}/example.zone"
"""
_ZONE = "$TTL 3600\n@ IN SOA ns.example. host.example. 1 3600 900 604800 300\n@ IN NS ns.example.\nns IN A 192.0.2.1\n"
_RECORDS = "".join(f"h{number} IN A 10.0.{number // 250}.{number % 250 + 1}\n" for number in range(_NAMES))
_QUERIES = "".join(f"h{number}.example A\n" for number in range(_NAMES))

FILES = (("nsd.conf", _CONFIGURATION), ("example.zone", _ZONE + _RECORDS), ("queries", _QUERIES))
"""A records of 1,000 names in one zone, asked for in turn."""
