//! core
pub mod attachments;
pub mod outcome;
pub mod port;
pub mod service;
pub mod url;
