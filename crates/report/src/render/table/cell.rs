//! The contents of the cells of tables, before any document words it.

use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::{range, significant, significant_or_dash, spread};
use bakeoff_analysis::tables::comparison::rank_text;
use bakeoff_model::validity::Validity;
use bakeoff_stats::{Estimate, Tie};

/// A verdict on a number that is not fair.
#[derive(Debug, Clone)]
pub(in crate::render) struct Mark {
    /// The verdict.
    pub validity: Validity,
    /// The reason in words.
    pub reason: String,
}

impl Mark {
    /// Returns the mark of a verdict; `None` if it is fair.
    pub(in crate::render) fn of(validity: &Validity, reason: String) -> Option<Self> {
        (!validity.is_fair()).then(|| Self {
            validity: validity.clone(),
            reason,
        })
    }

    /// Returns the mark of a metric, which names the steps behind it.
    pub(in crate::render) fn of_metric(metric: &Metric) -> Option<Self> {
        let validity = &metric.validity;
        Self::of(validity, format!("{} {validity}", metric.steps_text()))
    }
}

/// The content of a cell.
#[derive(Debug, Clone)]
pub(in crate::render) enum Cell {
    /// A rank with the sign of its tie.
    Rank(String),
    /// The name of a row, with remarks on it for the page.
    Name(String, Vec<String>),
    /// Words.
    Text(String),
    /// A short word among numbers.
    Word(String),
    /// A number to significant digits; a dash without one.
    Number(Option<f64>, Option<Mark>),
    /// A mean, which the page shows with half of its interval.
    Mean(Option<Estimate>, Option<Mark>),
    /// A mean, which Markdown shows with half of its interval, too.
    Spread(Option<Estimate>, Option<Mark>),
    /// The mean that the rows are ranked by, which the page shows with a bar; the verdict on it is
    /// the title of the table elsewhere.
    Ranked(Estimate, Option<Mark>),
    /// The interval of a mean.
    Interval(Option<Estimate>),
    /// A share of something else.
    Share {
        /// Percent.
        percent: String,
        /// Interval of the share; empty if there is none.
        interval: String,
        /// The two numbers that were divided, for the page.
        means: String,
        /// The verdict on what was divided.
        mark: Option<Mark>,
    },
    /// A count of a total.
    Fraction(usize, usize),
    /// Failures, and their share of all.
    Errors(u64, f64),
}

impl Cell {
    /// Returns a rank.
    pub(in crate::render) fn rank(rank: Option<usize>, tie: Tie) -> Self {
        Self::Rank(rank_text(rank, tie))
    }

    /// Returns the name of a row.
    pub(in crate::render) fn name(name: &str) -> Self {
        Self::Name(name.to_owned(), Vec::new())
    }

    /// Returns words.
    pub(in crate::render) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Returns what is written as it is.
    pub(in crate::render) fn word(word: impl ToString) -> Self {
        Self::Word(word.to_string())
    }

    /// Returns a number without a verdict.
    pub(in crate::render) fn number(value: impl Into<Option<f64>>) -> Self {
        Self::Number(value.into(), None)
    }

    /// Returns a percentage with the given decimals.
    pub(in crate::render) fn percent(percent: f64, decimals: usize) -> Self {
        Self::Word(format!("{percent:.decimals$} %"))
    }

    /// Returns the mean of a metric with the verdict on its steps.
    pub(in crate::render) fn metric(metric: Option<&Metric>) -> Self {
        let mark = metric.and_then(Mark::of_metric);
        Self::Mean(metric.map(|metric| metric.estimate), mark)
    }

    /// Returns the interval of a metric.
    pub(in crate::render) fn interval(metric: Option<&Metric>) -> Self {
        Self::Interval(metric.map(|metric| metric.estimate))
    }

    /// Returns the mark, if the number has one.
    pub(in crate::render) fn mark(&self) -> Option<&Mark> {
        match self {
            Self::Number(_, mark)
            | Self::Mean(_, mark)
            | Self::Spread(_, mark)
            | Self::Share { mark, .. } => mark.as_ref(),
            _ => None,
        }
    }

    /// Returns the content as bare text, without marks.
    pub(in crate::render) fn plain(&self) -> String {
        match self {
            Self::Rank(text) | Self::Name(text, _) | Self::Text(text) | Self::Word(text) => {
                text.clone()
            }
            Self::Number(value, _) => significant_or_dash(*value),
            Self::Mean(estimate, _) => significant_or_dash(estimate.map(|mean| mean.point)),
            Self::Spread(None, _) => "–".to_owned(),
            Self::Spread(Some(mean), _) => {
                let text = format!("{} {}", significant(mean.point), spread(mean));
                text.trim_end().to_owned()
            }
            Self::Share {
                percent, interval, ..
            } => match interval.as_str() {
                "" => format!("{percent} %"),
                interval => format!("{percent} % ({interval})"),
            },
            Self::Ranked(estimate, _) => significant_or_dash(Some(estimate.point)),
            Self::Interval(estimate) => estimate.as_ref().map_or_else(String::new, range),
            Self::Fraction(_, 0) => "–".to_owned(),
            Self::Fraction(good, total) => format!("{good}/{total}"),
            Self::Errors(count, _) => count.to_string(),
        }
    }

    /// Returns whether there is nothing, or only a dash.
    pub(in crate::render) fn is_empty(&self) -> bool {
        self.mark().is_none() && matches!(self.plain().as_str(), "" | "–")
    }
}
