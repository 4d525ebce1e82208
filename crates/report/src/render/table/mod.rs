//! Tables as data: the columns of each are defined once, and every document writes them.

pub(super) mod capacity;
mod cell;
pub(super) mod overhead;
pub(super) mod ranks;
pub(super) mod reasons;
pub(super) mod sets;
pub(super) mod starts;

pub(super) use cell::{Cell, Mark};

/// The side of a column on which its cells are aligned, if a document says so by column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The heading of a column in each document; `None` if a document leaves the column out.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    /// On the page.
    pub page: Option<String>,
    /// Meaning of the column, if the page must say more than its name.
    pub help: String,
    /// In Markdown.
    pub markdown: Option<String>,
    /// In the terminal, with the width of the cells.
    pub terminal: Option<(&'static str, usize)>,
    /// Where cells are aligned.
    pub align: Align,
}

impl Heading {
    /// Returns the heading of a column of numbers that is named by what was measured.
    pub(super) fn named(name: &str) -> Self {
        Self {
            page: Some(name.to_owned()),
            help: String::new(),
            markdown: Some(name.to_owned()),
            terminal: None,
            align: Align::Right,
        }
    }
}

/// A column: its headings, and what is in its cells.
pub(super) struct Column<R> {
    page: Option<&'static str>,
    help: &'static str,
    markdown: Option<&'static str>,
    terminal: Option<(&'static str, usize)>,
    align: Align,
    cell: fn(&R) -> Cell,
}

impl<R> Column<R> {
    /// Returns a column of numbers in all documents but the terminal.
    pub(super) const fn new(title: &'static str, cell: fn(&R) -> Cell) -> Self {
        Self {
            page: Some(title),
            help: "",
            markdown: Some(title),
            terminal: None,
            align: Align::Right,
            cell,
        }
    }

    /// Returns a column of words in all documents but the terminal.
    pub(super) const fn text(title: &'static str, cell: fn(&R) -> Cell) -> Self {
        Self {
            align: Align::Left,
            ..Self::new(title, cell)
        }
    }

    /// Says on the page what the title means.
    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// Has another title on the page.
    pub(super) const fn page(self, title: &'static str) -> Self {
        Self {
            page: Some(title),
            ..self
        }
    }

    /// Leaves the column out of Markdown.
    pub(super) const fn not_in_markdown(self) -> Self {
        Self {
            markdown: None,
            ..self
        }
    }

    /// Leaves the column out of the page.
    pub(super) const fn not_on_page(self) -> Self {
        Self { page: None, ..self }
    }

    /// Has the column in the terminal, too, with cells of that width.
    pub(super) const fn terminal(self, title: &'static str, width: usize) -> Self {
        Self {
            terminal: Some((title, width)),
            ..self
        }
    }

    fn heading(&self) -> Heading {
        Heading {
            page: self.page.map(str::to_owned),
            help: self.help.to_owned(),
            markdown: self.markdown.map(str::to_owned),
            terminal: self.terminal,
            align: self.align,
        }
    }
}

/// A table before any document lays it out.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// One for each column.
    pub headings: Vec<Heading>,
    /// Each has one cell for each heading.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Returns the table that the columns make of the rows.
    pub(super) fn of<'r, R: 'r>(
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = &'r R>,
    ) -> Self {
        let cells = |row| columns.iter().map(|column| (column.cell)(row)).collect();
        Self {
            headings: columns.iter().map(Column::heading).collect(),
            rows: rows.into_iter().map(cells).collect(),
        }
    }

    /// Has the columns of another table of the same rows behind its own.
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.headings.extend(other.headings);
        for (row, more) in self.rows.iter_mut().zip(other.rows) {
            row.extend(more);
        }
        self
    }

    /// Names what the columns are about in every heading of the page and of Markdown.
    pub(super) fn prefixed(mut self, prefix: &str, of: &str) -> Self {
        for heading in &mut self.headings {
            for title in [&mut heading.page, &mut heading.markdown]
                .into_iter()
                .flatten()
            {
                title.insert_str(0, prefix);
            }
            heading.help = format!("{} {of}", heading.help).trim_start().to_owned();
        }
        self
    }

    /// Returns the columns that a document has by `is_in` and in which any row has anything.
    pub(super) fn filled(&self, is_in: impl Fn(&Heading) -> bool) -> Vec<usize> {
        let has_any = |column: &usize| self.rows.iter().any(|row| !row[*column].is_empty());
        let columns = 0..self.headings.len();
        columns
            .filter(|column| is_in(&self.headings[*column]))
            .filter(has_any)
            .collect()
    }
}
