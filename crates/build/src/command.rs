//! Fills the placeholders of a contender's commands.

/// The values of the placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placeholders {
    /// `{artifact}`: path of the artifact, as the command will see it.
    pub artifact: String,
    /// `{java}`: path of the wanted `java`; `None` when the contender names no JDK.
    pub java: Option<String>,
    /// `{jvm-options}`, a separate argument: becomes this number of arguments, or none.
    pub jvm_options: Vec<String>,
}

/// A placeholder that nothing stands for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{argument:?} wants a java, but no `jdk` is given")]
pub struct PlaceholderError {
    /// The argument.
    pub argument: String,
}

/// Fills the placeholders of a run or version command.
///
/// # Errors
/// `{java}` is used and no JDK is given.
pub fn resolve(command: &[String], values: &Placeholders) -> Result<Vec<String>, PlaceholderError> {
    let mut resolved = Vec::new();
    for argument in command {
        if argument == "{jvm-options}" {
            resolved.extend(values.jvm_options.iter().cloned());
            continue;
        }
        let mut text = argument.clone();
        if text.contains("{java}") {
            let java = values.java.as_ref();
            let java = java.ok_or_else(|| PlaceholderError {
                argument: argument.clone(),
            })?;
            text = text.replace("{java}", java);
        }
        // People write `./{artifact}` for the relative path that the artifact has in their file.
        if values.artifact.starts_with('/') {
            text = text.replace("./{artifact}", "{artifact}");
        }
        resolved.push(text.replace("{artifact}", &values.artifact));
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::{Placeholders, resolve};

    fn check(command: &[&str], values: &Placeholders, expect: &[&str]) {
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(resolve(&command, values).unwrap(), expect);
    }

    #[test]
    fn placeholders_are_filled() {
        let values = Placeholders {
            artifact: "/cache/app.jar".to_owned(),
            java: Some("/jdk/bin/java".to_owned()),
            jvm_options: vec!["-Xmx1g".to_owned(), "-ea".to_owned()],
        };
        let command = [
            "{java}",
            "{jvm-options}",
            "-Dx={artifact}",
            "-jar",
            "./{artifact}",
        ];
        let expect = [
            "/jdk/bin/java",
            "-Xmx1g",
            "-ea",
            "-Dx=/cache/app.jar",
            "-jar",
            "/cache/app.jar",
        ];
        check(&command, &values, &expect);
        check(
            &["a", "{jvm-options}", "{x}"],
            &Placeholders::default(),
            &["a", "{x}"],
        );
    }

    #[test]
    fn java_without_a_jdk_is_an_error() {
        let error = resolve(&["{java}".to_owned()], &Placeholders::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"{java}\" wants a java, but no `jdk` is given"
        );
    }
}
