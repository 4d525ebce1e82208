//! Connections of contenders to a PostgreSQL, as the server's processes show them: each serves one
//! connection and has the user and its activity in its title. The server is not queried, which
//! would cost it time.

use std::fs;

use bakeoff_model::measure::resource::DatabaseSessions;

use crate::services::databases::ROLE;

/// The connections of a server whose first process this is; `None` if it has none to show.
pub(super) fn read(server: u32) -> Option<DatabaseSessions> {
    let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).ok()?;
    let titles = children.split_whitespace().filter_map(|child| {
        let title = fs::read(format!("/proc/{child}/cmdline")).ok()?;
        Some(String::from_utf8_lossy(&title).into_owned())
    });
    Some(count(titles))
}

/// Titles are `postgres: ROLE DATABASE HOST(PORT) ACTIVITY`, padded with zero bytes.
fn count(titles: impl Iterator<Item = String>) -> DatabaseSessions {
    let prefix = format!("postgres: {ROLE} ");
    let mut sessions = DatabaseSessions::default();
    for title in titles {
        let Some(rest) = title.strip_prefix(&prefix) else {
            continue;
        };
        let activity = rest.splitn(3, ' ').nth(2).unwrap_or_default();
        sessions.open += 1;
        sessions.active += u64::from(activity.trim_end_matches(['\0', ' ']) != "idle");
    }
    sessions
}

#[cfg(test)]
mod tests {
    use bakeoff_model::measure::resource::DatabaseSessions;

    use super::count;

    #[test]
    fn titles_say_whose_and_whether_busy() {
        let titles = [
            "postgres: checkpointer ",
            "postgres: postgres postgres [local] SELECT",
            "postgres: bakeoff axum 127.0.0.1(40934) idle\0\0\0",
            "postgres: bakeoff axum 127.0.0.1(40935) INSERT waiting",
            "postgres: bakeoff axum 127.0.0.1(40936) idle in transaction",
            "postgres: bakeoff axum 127.0.0.1(40937) idle",
            "",
        ];
        let expect = DatabaseSessions { open: 4, active: 2 };
        assert_eq!(count(titles.iter().map(|&title| title.to_owned())), expect);
    }
}
