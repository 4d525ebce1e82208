//! The address of another host, as `ssh` reaches it. Nothing is connected here.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::problem::Problem;
use serde::{Deserialize, Serialize};
use url::Url;

/// `ssh://[USER@]HOST[:PORT]`. What is not named follows from the user's configuration of `ssh`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SshAddress {
    user: Option<String>,
    /// A name or an address, IPv6 without brackets.
    host: String,
    port: Option<u16>,
}

impl SshAddress {
    /// Returns the host of a URL, without its path.
    pub fn of(url: &Url) -> Result<Self, Problem> {
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err("it names no host".into());
        }
        let user = url.username();
        Ok(Self {
            user: (!user.is_empty()).then(|| user.to_owned()),
            host: host.to_owned(),
            port: url.port(),
        })
    }

    /// Returns the port that is named.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns `USER@HOST`.
    pub fn destination(&self) -> String {
        match &self.user {
            Some(user) => format!("{user}@{}", self.host),
            None => self.host.clone(),
        }
    }

    /// Returns an `ssh` to it as a person types it.
    pub fn typed(&self) -> String {
        let port = self.port.map(|port| format!("-p {port} "));
        format!("ssh {}{}", port.unwrap_or_default(), self.destination())
    }

    /// Returns the words of an `ssh` with further options; the command of the other host's shell
    /// follows them. Keys and agents log in; a password is not asked for.
    pub fn words(&self, options: &[&str]) -> Vec<String> {
        let usual = [
            "ssh",
            "-T",
            "-oBatchMode=yes",
            "-oControlPath=none",
            "-oConnectTimeout=20",
            "-oServerAliveInterval=15",
        ];
        let words = usual.iter().chain(options);
        let mut words: Vec<String> = words.map(|&word| word.to_owned()).collect();
        if let Some(port) = self.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        words.extend(["--".to_owned(), self.destination()]);
        words
    }
}

impl FromStr for SshAddress {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let form = "write it as ssh://[USER@]HOST[:PORT]";
        let url = Url::parse(text).map_err(|_| format!("not a URL; {form}"))?;
        if url.scheme() != "ssh" {
            return Err(format!("hosts are reached by ssh:// only; {form}").into());
        }
        let has_more = !matches!(url.path(), "" | "/") || url.password().is_some();
        if has_more || url.query().is_some() || url.fragment().is_some() {
            return Err(format!("it names more than a host; {form}").into());
        }
        Self::of(&url).map_err(|problem| format!("{problem}; {form}").into())
    }
}

impl fmt::Display for SshAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl TryFrom<String> for SshAddress {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<SshAddress> for String {
    fn from(address: SshAddress) -> Self {
        address.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::SshAddress;

    #[test]
    fn addresses_are_what_ssh_takes() {
        for (text, last, port) in [
            ("ssh://bench", "bench", None),
            ("ssh://root@bench:2222", "root@bench", Some(2222)),
            ("ssh://me@[fd00::1]", "me@fd00::1", None),
        ] {
            let address: SshAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
            let words = address.words(&["-N"]);
            assert_eq!(words[0], "ssh");
            assert!(words.contains(&"-N".to_owned()));
            assert_eq!(words[words.len() - 2..], ["--", last]);
            assert_eq!(address.port(), port);
            assert!(address.typed().ends_with(last), "{}", address.typed());
            let json = serde_json::to_string(&address).unwrap();
            assert_eq!(serde_json::from_str::<SshAddress>(&json).unwrap(), address);
        }
    }

    #[test]
    fn other_addresses_are_refused() {
        for (text, expect) in [
            ("bench-2", "not a URL"),
            ("http://bench", "hosts are reached by ssh:// only"),
            ("ssh:///x", "it names more than a host"),
            ("ssh://bench/run/docker.sock", "it names more than a host"),
            ("ssh://me:secret@bench", "it names more than a host"),
        ] {
            let error = text.parse::<SshAddress>().unwrap_err().to_string();
            assert!(error.starts_with(expect), "{text}: {error}");
            assert!(error.ends_with("ssh://[USER@]HOST[:PORT]"), "{error}");
        }
    }
}
