//! Notes and analyses, written in Markdown by people: rendered without letting any HTML of the
//! text onto the page.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Renders `text`; headings start at `<h3>`.
pub(super) fn render(text: &str) -> Markup {
    let mut html = String::new();
    let mut links = Vec::new();
    let events =
        Parser::new_ext(text, Options::ENABLE_TABLES).flat_map(|event| safe(event, &mut links));
    pulldown_cmark::html::push_html(&mut html, events);
    PreEscaped(html)
}

/// The event as it may stand on the page. `links` has an entry for each open link: whether it is
/// one on the page.
fn safe<'t>(event: Event<'t>, links: &mut Vec<bool>) -> Vec<Event<'t>> {
    let made = match event {
        // HTML of the text is shown as text.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lowered(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lowered(level))),
        // The page loads nothing, so an image is a link to it.
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            links.push(can_follow(&dest_url));
            match links.last() {
                Some(true) => Event::Html(opened(&dest_url)),
                _ => return Vec::new(),
            }
        }
        Event::End(TagEnd::Link | TagEnd::Image) => match links.pop() {
            Some(true) => Event::Html("</a>".into()),
            _ => return Vec::new(),
        },
        Event::Start(Tag::Table(columns)) => {
            let frame = Event::Html("<div class=\"scroll\">".into());
            return vec![frame, Event::Start(Tag::Table(columns))];
        }
        Event::End(TagEnd::Table) => {
            let frame = Event::Html("</div>\n".into());
            return vec![Event::End(TagEnd::Table), frame];
        }
        other => other,
    };
    vec![made]
}

fn lowered(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from(level as usize + 2).unwrap_or(HeadingLevel::H6)
}

/// Only addresses that a reader can follow without running anything: web pages, and files next to
/// the report.
fn can_follow(address: &str) -> bool {
    let first = address.split(['/', '?', '#']).next().unwrap_or_default();
    !first.contains(':') || address.starts_with("https://") || address.starts_with("http://")
}

fn opened<'t>(address: &str) -> CowStr<'t> {
    let link = html! { a href=(address) rel="noreferrer" {} };
    let link = link.into_string();
    link.trim_end_matches("</a>").to_owned().into()
}

#[cfg(test)]
mod tests {
    use super::render;

    #[track_caller]
    fn check(text: &str, html: &str) {
        assert_eq!(render(text).into_string().trim_end(), html);
    }

    #[test]
    fn the_usual_marks_are_rendered() {
        check(
            "# A\ntext *b* **c** `<d>`",
            "<h3>A</h3>\n<p>text <em>b</em> <strong>c</strong> \
            <code>&lt;d&gt;</code></p>",
        );
        check("- a\n- b\n  c", "<ul>\n<li>a</li>\n<li>b\nc</li>\n</ul>");
        check("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>");
        check(
            "```\n<x> *\n```\nend",
            "<pre><code>&lt;x&gt; *\n</code></pre>\n<p>end</p>",
        );
        check(
            "|a|b|\n|--|--|\n|1|`2`|",
            "<div class=\"scroll\"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n\
            <tr><td>1</td><td><code>2</code></td></tr>\n</tbody></table>\n</div>",
        );
        check(
            "[x](https://e.org/?a=1&b)",
            "<p><a href=\"https://e.org/?a=1&amp;b\" \
            rel=\"noreferrer\">x</a></p>",
        );
        check("###### deep", "<h6>deep</h6>");
    }

    #[test]
    fn nothing_of_the_text_becomes_markup() {
        check(
            "<script>alert(1)</script>",
            "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
        );
        check("a <b onclick=x>c", "<p>a &lt;b onclick=x&gt;c</p>");
        check("<div>\nx", "<p>&lt;div&gt;\nx</p>");
        check("[x](javascript:alert)", "<p>x</p>");
        check("<javascript:alert>", "<p>javascript:alert</p>");
        check(
            "[x](\"onclick=y)",
            "<p><a href=\"&quot;onclick=y\" rel=\"noreferrer\">x</a></p>",
        );
        check(
            "![x](https://e.org/i.png)",
            "<p><a href=\"https://e.org/i.png\" rel=\"noreferrer\">x</a></p>",
        );
        check("2 * 3 * 4 [a] `", "<p>2 * 3 * 4 [a] `</p>");
        check("```\nnever closed", "<pre><code>never closed</code></pre>");
    }
}
