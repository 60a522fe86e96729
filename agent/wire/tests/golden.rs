//! The structs agree with `proto/agent.proto` field by field, and with Google's protobuf byte by byte: `golden/` was made
//! with it.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use prost::Message;
use sinemora_wire::{NOT_KNOWN, Report};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(root().join("golden").join(name).with_extension("bin")).unwrap()
}

/// A field: its message, its name, and its label (`optional`, `repeated`, or none), type and tag in one text. Messages have
/// the type `message`.
type Field = (String, String, String);

/// Return the fields of the contract, such as `  repeated uint32 flows = 5;`.
fn of_proto(text: &str) -> Vec<Field> {
    let mut message = "";
    let mut fields = Vec::new();
    for line in text.lines() {
        let declared = line.split([';', '[']).next().unwrap();
        let words: Vec<&str> = declared.split_whitespace().collect();
        match words[..] {
            ["message", name, "{"] => message = name,
            ["//", ..] => {}
            [.., kind, name, "=", tag] if line.starts_with("  ") => {
                let is_message = kind.starts_with(char::is_uppercase);
                let (kind, label) = match (is_message, words.len()) {
                    (true, 4) => ("message", "optional"),
                    (true, _) => ("message", words[0]),
                    (false, 4) => (kind, ""),
                    (false, _) => (kind, words[0]),
                };
                fields.push((message.into(), name.into(), format!("{label} {kind} {tag}")));
            }
            _ => {}
        }
    }
    fields
}

/// Return the fields of the structs, such as `#[prost(uint32, repeated, tag = "5")]` above `pub flows: Vec<u32>`.
fn of_structs(text: &str) -> Vec<Field> {
    let (mut message, mut attribute) = ("", None);
    let mut fields = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("pub struct ") {
            message = name.trim_end_matches(" {");
        } else if let Some(inside) = line.strip_prefix("#[prost(") {
            attribute = Some(inside.trim_end_matches(")]"));
        } else if let (Some(inside), Some(field)) = (attribute, line.strip_prefix("pub ")) {
            attribute = None;
            let parts: Vec<&str> = inside.split(", ").collect();
            let kind = parts[0].split(' ').next().unwrap();
            let label = if parts.len() == 3 { parts[1] } else { "" };
            let tag = parts[parts.len() - 1].split('"').nth(1).unwrap();
            let name = field.split(':').next().unwrap();
            fields.push((message.into(), name.into(), format!("{label} {kind} {tag}")));
        }
    }
    fields
}

#[test]
fn every_field_has_the_name_the_type_and_the_tag_of_the_contract() {
    let mut expected = of_proto(&text("proto/agent.proto"));
    let mut found = of_structs(&text("src/lib.rs"));
    expected.sort();
    found.sort();
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(found, expected);
}

#[test]
fn every_golden_file_is_read_and_written_byte_by_byte() {
    let mut count = 0;
    for file in std::fs::read_dir(root().join("golden")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            let bytes = std::fs::read(&path).unwrap();
            let report = Report::decode(bytes.as_slice()).unwrap();
            assert_eq!(report.encode_to_vec(), bytes, "{}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 11);
}

#[test]
fn a_value_not_known_is_not_zero() {
    let report = Report::decode(golden("report").as_slice()).unwrap();
    let inbound = report.windows[0].inbound.as_ref().unwrap();
    assert_eq!(inbound.sent, [17, NOT_KNOWN, NOT_KNOWN]);
    assert_eq!(inbound.min_ns, [-500, 0, 44_000]);
    let words: u32 = inbound.sketch_words.iter().sum();
    assert_eq!(words as usize * 2, inbound.sketch.len());
}

#[test]
fn a_report_of_a_newer_agent_is_still_read() {
    let mut bytes = golden("empty");
    let known = Report::decode(bytes.as_slice()).unwrap();
    bytes.extend([0xf8, 0x7f, 0x01]); // field 2047, varint 1
    assert_eq!(Report::decode(bytes.as_slice()).unwrap(), known);
}
