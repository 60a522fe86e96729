use super::*;

fn config(settings: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let mut layers = Layers::default();
    for (key, text) in settings {
        layers.add(find(key).unwrap(), *text, Source::Flag);
    }
    Config::resolve(&layers, "vm-1")
}

#[test]
fn defaults_are_those_of_the_settings_table() {
    let config = config(&[]).unwrap();
    let shown = |key: &str| find(key).unwrap().default.unwrap().to_owned();
    assert_eq!(config.name, "vm-1");
    assert_eq!(config.event_port.to_string(), shown("event_port"));
    assert_eq!(config.general_port.to_string(), shown("general_port"));
    assert_eq!(config.state_dir.display().to_string(), shown("state_dir"));
    assert_eq!(config.metrics_listen, None);
    assert_eq!(shown("metrics_listen"), "off");
    let spool_cap = values::size(&shown("spool_cap"));
    assert_eq!(Ok(config.spool_cap_bytes), spool_cap);
    assert_eq!(config.tcp_connections.to_string(), shown("tcp_connections"));
    assert_eq!(config.service_traffic.to_string(), shown("service_traffic"));
    assert_eq!(config.zone.provider, shown("zone_provider"));
    assert_eq!(config.zone.region, shown("zone_region"));
    assert_eq!(config.zone.name, shown("zone_name"));
    assert_eq!(config.insecure_http.to_string(), shown("insecure_http"));
    let log_level = config.log_level.to_string().to_lowercase();
    assert_eq!(log_level, shown("log_level"));
}

#[test]
fn every_wrong_value_names_its_setting_and_what_would_be_right() {
    let cases = [
        ("backend", "sinemora.example", "must look like https://"),
        ("backend", "ftp://sinemora.example", "must look like"),
        ("backend", "https://", "must look like https://"),
        ("backend", "https://a.example/?a=b", "a question mark"),
        ("backend", "https://me:b@a.example", "without user name"),
        ("backend", "http://sinemora.example", "start with https://"),
        ("token", "sma_wrongkind", "which starts with sme_"),
        ("token", "sme_x", "is not complete: copy all of"),
        ("traffic_counters", "eth0/1", "must be auto, off, or"),
        ("name", "", "must be 1 to 100 printable characters"),
        ("name", "a\nb", "must be 1 to 100 printable characters"),
        ("zone_name", " ", "must be 1 to 100"),
        ("listen_address", "eth0", "must be an IP address"),
        ("listen_address", "224.0.1.129", "of one machine"),
        ("probe_address", "0.0.0.0", "the other VMs can send to"),
        ("event_port", "0", "from 1 to 65535 (given: \"0\")"),
        ("event_port", "65536", "must be a port"),
        ("event_port", "320", "must differ from event_port"),
        ("state_dir", "state", "must be an absolute path"),
        ("spool_cap", "12 apples", "must be a size"),
        ("spool_cap", "4KiB", "must be a size of at least 1MiB"),
        ("spool_cap", "99999999999GiB", "must be a size"),
        ("metrics_listen", "9319", "must be IP:PORT"),
        ("insecure_http", "maybe", "must be true or false"),
        ("ca_file", "ca.pem", "must be an absolute path"),
        ("ca_pin", "sha256//YQ==", "must be sha256//"),
        ("log_level", "loud", "error, warn, info, debug or trace"),
        ("log_format", "xml", "must be text or json"),
    ];
    for (key, text, expected) in cases {
        let error = config(&[(key, text)]).unwrap_err().to_string();
        assert!(error.contains(expected), "{key} = {text:?}: {error}");
        let flag = format!("--{}", find(key).unwrap().flag());
        assert!(error.contains(&flag) || error.contains(key), "{error}");
        assert!(key != "token" || !error.contains(text), "{error}");
    }
}

#[test]
fn families_of_addresses_must_agree() {
    let two = [("listen_address", "10.0.0.1"), ("probe_address", "fd00::1")];
    let error = config(&two).unwrap_err().to_string();
    assert!(error.contains("same family"), "{error}");
}

#[test]
fn plain_http_is_for_this_machine_unless_allowed() {
    for url in [
        "http://127.0.0.1:8420",
        "http://localhost:8420/",
        "http://[::1]:8420",
        "https://a.example/base/",
    ] {
        let backend = config(&[("backend", url)]).unwrap().backend.unwrap();
        assert_eq!(backend.as_str(), url.trim_end_matches('/'));
    }
    let (backend, allowed) = (
        ("backend", "http://10.0.0.1:8420"),
        ("insecure_http", "true"),
    );
    let backend = config(&[backend, allowed]).unwrap().backend.unwrap();
    assert_eq!(backend.host_and_port(), ("10.0.0.1", 8420));
}

#[test]
fn metrics_can_be_switched_off() {
    for off in ["off", "0", "false"] {
        let config = config(&[("metrics_listen", off)]).unwrap();
        assert_eq!(config.metrics_listen, None);
    }
}

#[test]
fn sizes_read_as_written() {
    for (text, bytes) in [
        ("1048576", 1 << 20),
        ("256MiB", 256 << 20),
        ("2 GiB", 2 << 30),
        ("1G", 1 << 30),
    ] {
        let config = config(&[("spool_cap", text)]).unwrap();
        assert_eq!(config.spool_cap_bytes, bytes, "{text}");
    }
}

#[test]
fn the_address_is_the_one_that_reaches_the_backend() {
    let config = config(&[("backend", "http://127.0.0.1:8420")]).unwrap();
    let (listen, probe_address) = config.listen(config.backend.as_ref().unwrap()).unwrap();
    assert_eq!(listen.address.to_string(), "127.0.0.1");
    assert_eq!(probe_address, listen.address);
}

#[test]
fn behind_nat_the_others_send_to_another_address() {
    let settings = [
        ("backend", "http://127.0.0.1:1"),
        ("listen_address", "10.0.0.7"),
        ("probe_address", "203.0.113.7"),
    ];
    let config = config(&settings).unwrap();
    let (listen, probe_address) = config.listen(config.backend.as_ref().unwrap()).unwrap();
    assert_eq!(listen.address.to_string(), "10.0.0.7");
    assert_eq!(probe_address.to_string(), "203.0.113.7");
}
