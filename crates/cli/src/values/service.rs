//! One side of a duel on the command line: a name and a service.

use std::str::FromStr;

use bakeoff_base::problem::Problem;
use bakeoff_model::parse::is_name;
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_workflows::service::{DuelService, ServiceImage, ServiceSource};

/// Words that only a shell understands.
const SHELL: [&str; 8] = ["&&", "||", "|", ";", "&", ">", "<", "2>&1"];

/// `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]`, `NAME=compose:SERVICE`,
/// `NAME=deployment:NAMESPACE/NAME` or `NAME=url:URL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side(pub(crate) DuelService);

impl FromStr for Side {
    type Err = Problem;

    fn from_str(typed: &str) -> Result<Self, Problem> {
        let (name, text) = typed.split_once('=').ok_or(
            "no `=` in it; write NAME=COMMAND, as in 'go=./server', or NAME=image:IMAGE, or \
             NAME=compose:SERVICE, or NAME=deployment:NAMESPACE/NAME, or NAME=url:URL",
        )?;
        if !is_name(name) {
            return Err(format!(
                "{name:?} is not a name: use letters, digits, `-`, `_` and `.`, the first a letter \
                 or digit"
            )
            .into());
        }
        let (name, text) = (name.to_owned(), text.trim().to_owned());
        let service = service(&text)?;
        Ok(Self(DuelService {
            name,
            text,
            service,
            workdir: None,
        }))
    }
}

fn service(text: &str) -> Result<ServiceSource, Problem> {
    if let Some(image) = text.strip_prefix("image:") {
        return match image {
            "" => Err("no image after `image:`".into()),
            _ => Ok(ServiceSource::Image(ServiceImage {
                reference: image.to_owned(),
                ..ServiceImage::default()
            })),
        };
    }
    if let Some(service) = text.strip_prefix("compose:") {
        return match service {
            "" => Err("no service after `compose:`".into()),
            _ => Ok(ServiceSource::Compose(service.to_owned())),
        };
    }
    if let Some(name) = text.strip_prefix("deployment:") {
        return name.parse().map(ServiceSource::Deployment);
    }
    if let Some(url) = text.strip_prefix("url:") {
        let url = ServiceUrl::new(url).map_err(|error| error.message)?;
        return match url.prefix() {
            "" => Ok(ServiceSource::Url(url)),
            path => Err(format!("the URL goes on after the port; write {path} in --get").into()),
        };
    }
    match words(text)? {
        words if words.is_empty() => Err("no command after the `=`".into()),
        words => Ok(ServiceSource::Command(words)),
    }
}

/// A command as it is typed: the program and its arguments, at least the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandWords(pub(crate) Vec<String>);

impl FromStr for CommandWords {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match words(text)? {
            words if words.is_empty() => Err("no command in it".into()),
            words => Ok(Self(words)),
        }
    }
}

/// Splits a command into words, as a shell does; refuses what only a shell understands.
fn words(text: &str) -> Result<Vec<String>, Problem> {
    let words = shlex::split(text).ok_or("a quote or a backslash in it has no end")?;
    if let Some(word) = words.first().filter(|word| is_assignment(word)) {
        return Err(format!(
            "`{word}` sets a variable, as only a shell does; write --env {word}, which all of them \
             get, or env {word} before the command"
        )
        .into());
    }
    if let Some(word) = words.iter().find(|word| SHELL.contains(&word.as_str())) {
        return Err(format!(
            "`{word}` is a shell's, and no shell runs this; write sh -c '...' if one is meant"
        )
        .into());
    }
    Ok(words)
}

/// Whether a word is `NAME=VALUE`.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        let mut bytes = name.bytes();
        let begins = bytes
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        begins && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use bakeoff_workflows::service::{ServiceImage, ServiceSource};

    use super::Side;

    #[test]
    fn sides_are_taken_apart() {
        let check = |typed: &str, name: &str, expect: ServiceSource| {
            let Side(side) = typed.parse().unwrap();
            assert_eq!((side.name.as_str(), side.service), (name, expect));
        };
        let command = |words: &[&str]| {
            ServiceSource::Command(words.iter().map(|word| (*word).to_owned()).collect())
        };
        check("go=./server", "go", command(&["./server"]));
        check(
            "a.b-1=x 'y z' A=\"b c\"",
            "a.b-1",
            command(&["x", "y z", "A=b c"]),
        );
        let image = ServiceImage {
            reference: "registry:5000/shop:1.5".to_owned(),
            ..ServiceImage::default()
        };
        check(
            "x=image:registry:5000/shop:1.5",
            "x",
            ServiceSource::Image(image),
        );
        check(
            "x=compose:web",
            "x",
            ServiceSource::Compose("web".to_owned()),
        );
        let deployment = ServiceSource::Deployment("shop/web".parse().unwrap());
        check("x=deployment:shop/web", "x", deployment);
        let Side(side) = "x=url:http://a:81/".parse().unwrap();
        let ServiceSource::Url(url) = side.service else {
            panic!("{side:?}")
        };
        assert_eq!(url.to_string(), "http://a:81");
    }

    #[test]
    fn what_is_no_side_is_refused_with_what_to_do() {
        for (typed, text) in [
            ("./server", "no `=` in it"),
            ("a b=./server", "is not a name"),
            ("=./server", "is not a name"),
            ("a=", "no command"),
            ("a='b", "has no end"),
            ("a=cd b && ./server", "sh -c"),
            ("n=PORT=3 node server.js", "--env PORT=3"),
            ("a=image:", "no image"),
            ("a=compose:", "no service"),
            ("a=url:localhost:80", "begins with http://"),
            ("a=url:http://a/b", "write /b in --get"),
        ] {
            let problem = typed.parse::<Side>().unwrap_err();
            assert!(problem.message().contains(text), "{typed}: {problem}");
        }
    }
}
