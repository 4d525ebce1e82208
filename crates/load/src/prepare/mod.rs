//! The work before the window opens: a spec is checked, and its requests and its scenario are
//! prepared.

mod call;
pub(crate) mod request;
pub(crate) mod scenario;
pub(crate) mod validate;
