//! Files and folders of this host that a container sees.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::problem::Problem;

/// A file or folder of this host that a container can read at a path, but not write: what is
/// measured must not change what belongs to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// The path on this host, relative to the folder of the file that names it.
    pub source: String,
    /// The path in the container.
    pub target: String,
}

impl FromStr for Volume {
    type Err = Problem;

    /// Reads `SOURCE:TARGET`.
    fn from_str(text: &str) -> Result<Self, Problem> {
        match text.split_once(':') {
            Some((source, target)) if !source.is_empty() && target.starts_with('/') => Ok(Self {
                source: source.to_owned(),
                target: target.to_owned(),
            }),
            _ => Err(format!(
                "{text:?} is not SOURCE:TARGET with an absolute path of the container"
            )
            .into()),
        }
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::Volume;

    #[test]
    fn a_mount_is_a_source_and_an_absolute_target() {
        let mount: Volume = "./init.sql:/init/1.sql".parse().unwrap();
        assert_eq!(
            (mount.source.as_str(), mount.target.as_str()),
            ("./init.sql", "/init/1.sql")
        );
        assert_eq!(mount.to_string(), "./init.sql:/init/1.sql");
        for text in ["data", ":/data", "data:target", ""] {
            assert!(text.parse::<Volume>().is_err(), "{text}");
        }
    }
}
