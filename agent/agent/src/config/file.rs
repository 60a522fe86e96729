//! Changes of single settings in the file, which keep everything else of it as it is.

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::{ConfigError, DEFAULT_CONFIG_FILE, Layers, Source};

/// Write the settings of flags to the file `chosen`, or to the default file. Return the path of the file.
pub fn write_settings(layers: &Layers, chosen: Option<&Path>) -> Result<PathBuf, ConfigError> {
    let path = chosen.unwrap_or(Path::new(DEFAULT_CONFIG_FILE));
    let failed = |why: std::io::Error| {
        ConfigError::new("config", format!("names {}: {why}", path.display()))
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let flags = layers
        .iter()
        .filter(|(_, raw)| raw.source == Source::Flag)
        .map(|(key, raw)| (key, raw.text.as_str()));
    let changed = with_settings(&text, flags).map_err(|why| {
        ConfigError::new(path.display().to_string(), format!("is not TOML: {why}"))
    })?;
    replace(path, &changed).map_err(failed)?;
    Ok(path.to_owned())
}

/// Replace a file at once, with its permissions: the service may run as another user than the one who writes settings.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("toml.new");
    std::fs::write(&new, text)?;
    if let Ok(present) = std::fs::metadata(path) {
        std::fs::set_permissions(&new, present.permissions())?;
    }
    std::fs::rename(&new, path)
}

/// Return the text of a file of top-level settings with these values. Comments, order and other settings stay.
fn with_settings<'a>(
    text: &str,
    settings: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<String, String> {
    let mut changed = text.to_owned();
    for (key, value) in settings {
        // A JSON string is a basic string of TOML.
        let line = format!("{key} = {}", serde_json::Value::from(value));
        let table = DeTable::parse(&changed).map_err(|e| e.to_string().trim().to_owned())?;
        let place = table
            .get_ref()
            .iter()
            .find(|(name, _)| name.get_ref() == key)
            .map(|(name, value)| name.span().start..value.span().end);
        match place {
            Some(place) => changed.replace_range(place, &line),
            None => {
                if !changed.is_empty() && !changed.ends_with('\n') {
                    changed.push('\n');
                }
                changed.push_str(&line);
                changed.push('\n');
            }
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, settings: &[(&str, &str)]) -> String {
        with_settings(text, settings.iter().copied()).unwrap()
    }

    #[test]
    fn a_setting_is_replaced_however_it_is_written() {
        for written in [
            "backend=\"https://old\"",
            "backend = 'https://old'",
            "  \"backend\"\t=\t\"https://old\"",
            "backend = \"\"\"\nhttps://old\"\"\"",
        ] {
            let text = format!("# ours\nevent_port=10319 # free\n{written} # moved\nname = 'a'");
            let result = changed(&text, &[("backend", "https://new")]);
            let table: toml::Table = result.parse().unwrap();
            assert_eq!(table["backend"].as_str(), Some("https://new"), "{result}");
            assert_eq!(table["event_port"].as_integer(), Some(10_319));
            for kept in ["# ours\n", "# free\n", " # moved\n", "name = 'a'"] {
                assert!(result.contains(kept), "{kept:?} in {result}");
            }
            assert!(!result.contains("https://old"), "{result}");
        }
    }

    #[test]
    fn a_new_setting_comes_last() {
        assert_eq!(changed("", &[("name", "a")]), "name = \"a\"\n");
        assert_eq!(
            changed("# c", &[("name", "a"), ("name", "b")]),
            "# c\nname = \"b\"\n"
        );
    }

    #[test]
    fn any_text_is_quoted() {
        let odd = "a \"quoted\" \\ name";
        let table: toml::Table = changed("", &[("name", odd)]).parse().unwrap();
        assert_eq!(table["name"].as_str(), Some(odd));
    }

    #[test]
    fn the_file_is_replaced_and_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.toml");
        std::fs::write(&path, "name='old'\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let mut layers = Layers::default();
        layers.add(super::super::find("name").unwrap(), "new", Source::Flag);
        layers.add_file(Some(&path)).unwrap();
        write_settings(&layers, Some(&path)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "name = \"new\"\n");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_broken_file_is_not_changed() {
        let broken = "name = 'a'\nname = 'b'\n";
        let settings = [("event_port", "1")];
        let error = with_settings(broken, settings.into_iter()).unwrap_err();
        assert!(error.contains("duplicate key"), "{error}");
    }
}
