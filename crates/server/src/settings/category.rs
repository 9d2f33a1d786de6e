//! What names the category of a syslog message.

/// What names the category of a syslog message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CategoryBy {
    /// Its program: `sshd`.
    Program,
    /// Its facility: `authpriv`.
    Facility,
    /// All messages have this category, a clean name.
    Name(String),
}

impl CategoryBy {
    /// Parses `program`, `facility` or `=NAME`.
    ///
    /// # Errors
    /// One line: another word, or a name that no category can have.
    pub fn parse(text: &str) -> Result<CategoryBy, String> {
        match (text, text.strip_prefix('=')) {
            ("program", _) => Ok(CategoryBy::Program),
            ("facility", _) => Ok(CategoryBy::Facility),
            (_, Some(name)) if collect::is_clean(name.as_bytes()) => {
                Ok(CategoryBy::Name(name.to_owned()))
            }
            (_, Some(name)) => Err(format!(
                "{name:?} can be no category: parts between / are 1 to {} bytes, and neither . nor ..",
                collect::PART_BYTES_MAX
            )),
            (_, None) => Err(format!("{text:?} is not one of: program, facility, =NAME")),
        }
    }
}
