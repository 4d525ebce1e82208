//! `--feed`: inputs of `bakeoff load` that differ from request to request.

use std::collections::BTreeSet;
use std::str::FromStr;

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_model::load::RequestSpec;
use bakeoff_model::request::scenario::{
    AfterFailure, Connect, Feed, Piece, RowOrder, Scenario, is_variable, pieces, read_csv,
};

use crate::values::Body;

const SYNTAX: &str =
    "write id=unique, id=1.., id=1..1000, id=random:1..1000 or name,age=@people.csv";

/// A feed as it was typed; the rows of a table are not read yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeedArg(Feed);

impl FromStr for FeedArg {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        feed(text).map(Self)
    }
}

/// Refuses a feed that no part of the request uses, and a variable without a feed. Without any
/// feed a body is sent as it is where a file has it: what looks like a variable there may be text.
pub(crate) fn check(feeds: &[FeedArg], request: &RequestSpec, body: &Body) -> anyhow::Result<()> {
    let is_text = !feeds.is_empty() || matches!(body, Body::Text(_));
    let body = request.body.as_text().filter(|_| is_text);
    let headers = request.headers.iter().map(|(_, value)| value.as_str());
    let texts = [request.path.as_str()]
        .into_iter()
        .chain(headers)
        .chain(body);
    let mut used = BTreeSet::new();
    for piece in texts.filter_map(|text| pieces(text).ok()).flatten() {
        if let Piece::Variable(name) = piece {
            used.insert(name);
        }
    }
    let unused = feeds.iter().find(|FeedArg(feed)| {
        let mut variables = feed.variables().iter();
        !variables.any(|variable| used.contains(variable))
    });
    if let Some(FeedArg(feed)) = unused {
        let name = feed.variables().join(",");
        let example = &feed.variables()[0];
        return Err(hinted(
            format_args!("the feed {name} is used nowhere"),
            format_args!(
                "write ${{{example}}} in the path, a header or the body, and the argument in \
                 single quotes: in double quotes the shell replaces it"
            ),
        ));
    }
    let given = |name: &String| {
        feeds
            .iter()
            .any(|FeedArg(feed)| feed.variables().contains(name))
    };
    match used.iter().find(|name| !given(name)) {
        None => Ok(()),
        Some(name) => Err(hinted(
            format_args!("${{{name}}} has no feed"),
            format_args!("give it values: --feed {name}=1..1000"),
        )),
    }
}

/// The scenario of one request that these feeds make; `None` without any.
pub(crate) fn scenario(feeds: &[FeedArg]) -> anyhow::Result<Option<Scenario>> {
    if feeds.is_empty() {
        return Ok(None);
    }
    let feeds = feeds.iter().map(|FeedArg(feed)| with_rows(feed.clone()));
    Ok(Some(Scenario {
        feeds: feeds.collect::<anyhow::Result<_>>()?,
        cookies: false,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::BeforeStep,
    }))
}

/// The feed with the rows of its table, if it has one.
fn with_rows(mut feed: Feed) -> anyhow::Result<Feed> {
    if let Feed::Csv {
        file,
        variables,
        rows,
        ..
    } = &mut feed
    {
        let text = std::fs::read_to_string(&*file).with_context(|| format!("--feed {file}"))?;
        *rows =
            read_csv(&text, variables).map_err(|why| why.context(format_args!("--feed {file}")))?;
    }
    Ok(feed)
}

fn feed(text: &str) -> Result<Feed, Problem> {
    let wrong = || format!("not a feed: {SYNTAX}");
    let (names, value) = text.split_once('=').ok_or_else(wrong)?;
    let variables: Vec<String> = names
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect();
    if let Some(name) = variables.iter().find(|name| !is_variable(name)) {
        return Err(format!("{name:?} cannot be the name of a variable: {SYNTAX}").into());
    }
    if let Some(file) = value.strip_prefix('@') {
        return Ok(Feed::Csv {
            file: file.to_owned(),
            variables,
            rows: Vec::new(),
            order: RowOrder::InTurn,
        });
    }
    let [variable] = <[String; 1]>::try_from(variables).map_err(|_| wrong())?;
    if value == "unique" {
        return Ok(Feed::Unique { variable });
    }
    let (random, range) = match value.strip_prefix("random:") {
        Some(range) => (true, range),
        None => (false, value),
    };
    let (from, to) = range.split_once("..").ok_or_else(wrong)?;
    let from: u64 = from.parse().map_err(|_| wrong())?;
    let to: Option<u64> = match to {
        "" => None,
        to => Some(to.parse().map_err(|_| wrong())?),
    };
    if to.is_some_and(|to| to < from) {
        return Err("the last number is before the first".into());
    }
    match (random, to) {
        (false, to) => Ok(Feed::Sequence { variable, from, to }),
        (true, Some(to)) => Ok(Feed::Random { variable, from, to }),
        (true, None) => Err(wrong().into()),
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::request::scenario::Feed;

    use super::feed;

    #[test]
    fn feeds_are_read() {
        let variable = || "id".to_owned();
        let sequence = |from, to| Feed::Sequence {
            variable: variable(),
            from,
            to,
        };
        let check = |text: &str, expect: Feed| assert_eq!(feed(text).unwrap(), expect, "{text}");
        check(
            "id=unique",
            Feed::Unique {
                variable: variable(),
            },
        );
        check("id=5..", sequence(5, None));
        check("id=1..9", sequence(1, Some(9)));
        let random = Feed::Random {
            variable: variable(),
            from: 1,
            to: 9,
        };
        check("id=random:1..9", random);
        for wrong in [
            "",
            "id",
            "id=",
            "1=unique",
            "id=9..1",
            "id=random:1..",
            "a,b=unique",
        ] {
            assert!(feed(wrong).is_err(), "{wrong}");
        }
    }
}
