//! The small part of Markdown that notes and analyses are written in: headings, paragraphs, lists,
//! quotes, code, emphasis, links and tables. Everything else is shown as it stands, and no HTML of
//! the text reaches the page.

use crate::html::text::escape;

/// Renders `text`; headings begin at `<h3>`.
pub(crate) fn render(text: &str) -> String {
    let mut html = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_end();
        let block = lines[at..].iter();
        let length = if line.trim().is_empty() {
            1
        } else if line.starts_with("```") {
            code(&lines[at..], &mut html)
        } else if let Some((level, title)) = heading(line) {
            html.push_str(&format!("<h{level}>{}</h{level}>\n", inline(title)));
            1
        } else if list_item(line).is_some() {
            let length = block.take_while(|line| continues_list(line)).count();
            list(&lines[at..at + length], &mut html);
            length
        } else if line.starts_with('|') {
            let length = block.take_while(|line| line.starts_with('|')).count();
            table(&lines[at..at + length], &mut html);
            length
        } else {
            let length = 1 + block
                .skip(1)
                .take_while(|line| continues_paragraph(line))
                .count();
            let joined = lines[at..at + length].join("\n");
            html.push_str(&format!("<p>{}</p>\n", inline(&joined)));
            length
        };
        at += length;
    }
    html
}

/// A fenced block; one that is never closed goes to the end.
fn code(lines: &[&str], html: &mut String) -> usize {
    let inside = lines[1..]
        .iter()
        .take_while(|line| !line.starts_with("```"))
        .count();
    let body = lines[1..=inside].join("\n");
    html.push_str(&format!("<pre><code>{}</code></pre>\n", escape(&body)));
    (inside + 2).min(lines.len())
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let marks = line.chars().take_while(|c| *c == '#').count();
    let title = line[marks..].strip_prefix(' ')?;
    (1..=6)
        .contains(&marks)
        .then(|| ((marks + 2).min(6), title.trim()))
}

/// The text of a list item, and whether the list is numbered.
fn list_item(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some((false, item));
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let item = line[digits..].strip_prefix(". ")?;
    (digits > 0).then_some((true, item))
}

fn continues_list(line: &str) -> bool {
    list_item(line).is_some() || (line.starts_with("  ") && !line.trim().is_empty())
}

fn continues_paragraph(line: &str) -> bool {
    let begins_other = line.starts_with("```") || line.starts_with('|');
    !(line.trim().is_empty()
        || begins_other
        || heading(line).is_some()
        || list_item(line).is_some())
}

fn list(lines: &[&str], html: &mut String) {
    let mut items: Vec<String> = Vec::new();
    let numbered = lines
        .first()
        .and_then(|line| list_item(line))
        .is_some_and(|item| item.0);
    for line in lines {
        match (list_item(line), items.last_mut()) {
            (Some((_, item)), _) => items.push(item.to_owned()),
            (None, Some(last)) => {
                last.push('\n');
                last.push_str(line.trim());
            }
            (None, None) => items.push(line.trim().to_owned()),
        }
    }
    let tag = if numbered { "ol" } else { "ul" };
    let items: String = items
        .iter()
        .map(|item| format!("<li>{}</li>", inline(item)))
        .collect();
    html.push_str(&format!("<{tag}>{items}</{tag}>\n"));
}

fn table(lines: &[&str], html: &mut String) {
    html.push_str("<div class=\"scroll\"><table>");
    for (index, line) in lines.iter().enumerate() {
        let inside = line.trim().trim_matches('|');
        if index == 1 && inside.chars().all(|c| "-:| ".contains(c)) {
            continue;
        }
        let tag = if index == 0 { "th" } else { "td" };
        let cells: String = inside
            .split('|')
            .map(|cell| format!("<{tag}>{}</{tag}>", inline(cell.trim())))
            .collect();
        html.push_str(&format!("<tr>{cells}</tr>"));
    }
    html.push_str("</table></div>\n");
}

/// Code, strong and emphasised text, and links.
fn inline(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[']) {
        html.push_str(&escape(&rest[..at]));
        rest = &rest[at..];
        let marked = span(rest, "`", |inside| {
            format!("<code>{}</code>", escape(inside))
        })
        .or_else(|| {
            span(rest, "**", |inside| {
                format!("<strong>{}</strong>", inline(inside))
            })
        })
        .or_else(|| span(rest, "*", |inside| format!("<em>{}</em>", inline(inside))))
        .or_else(|| link(rest));
        match marked {
            Some((made, length)) => {
                html.push_str(&made);
                rest = &rest[length..];
            }
            None => {
                html.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    html + &escape(rest)
}

/// `mark` text `mark`, with its length.
fn span(text: &str, mark: &str, make: impl Fn(&str) -> String) -> Option<(String, usize)> {
    let after = text.strip_prefix(mark)?;
    let end = after.find(mark).filter(|end| *end > 0)?;
    let inside = &after[..end];
    (!inside.starts_with(' ')).then(|| (make(inside), end + 2 * mark.len()))
}

/// `[text](address)`, with its length. Only addresses that a reader can follow without running
/// anything: web pages and places beside the report.
fn link(text: &str) -> Option<(String, usize)> {
    let close = text.strip_prefix('[')?.find("](")? + 1;
    let address = &text[close + 2..];
    let end = address.find(')')?;
    let address = &address[..end];
    let scheme = address
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|first| first.contains(':'));
    if scheme && !address.starts_with("https://") && !address.starts_with("http://") {
        return None;
    }
    let shown = escape(&text[1..close]);
    let html = format!(
        "<a href=\"{}\" rel=\"noreferrer\">{shown}</a>",
        escape(address)
    );
    Some((html, close + 2 + end + 1))
}

#[cfg(test)]
mod tests {
    use super::render;

    #[track_caller]
    fn check(text: &str, html: &str) {
        assert_eq!(render(text).trim_end(), html);
    }

    #[test]
    fn the_usual_marks_are_rendered() {
        check(
            "# A\ntext *b* **c** `<d>`",
            "<h3>A</h3>\n<p>text <em>b</em> <strong>c</strong> \
            <code>&lt;d&gt;</code></p>",
        );
        check("- a\n- b\n  c", "<ul><li>a</li><li>b\nc</li></ul>");
        check("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>");
        check(
            "```\n<x> *\n```\nend",
            "<pre><code>&lt;x&gt; *</code></pre>\n<p>end</p>",
        );
        check(
            "|a|b|\n|--|--|\n|1|`2`|",
            "<div class=\"scroll\"><table><tr><th>a</th><th>b</th></tr>\
            <tr><td>1</td><td><code>2</code></td></tr></table></div>",
        );
        check(
            "[x](https://e.org/?a=1&b)",
            "<p><a href=\"https://e.org/?a=1&amp;b\" \
            rel=\"noreferrer\">x</a></p>",
        );
    }

    #[test]
    fn nothing_of_the_text_becomes_markup() {
        check(
            "<script>alert(1)</script>",
            "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
        );
        check("[x](javascript:alert)", "<p>[x](javascript:alert)</p>");
        check("2 * 3 * 4 [a] `", "<p>2 * 3 * 4 [a] `</p>");
        check("```\nnever closed", "<pre><code>never closed</code></pre>");
        check("**", "<p>**</p>");
        check("#", "<p>#</p>");
        check("- ", "<p>- </p>");
    }
}
