//! The table `touches`: touches and orders as rows. The server makes it and fills it; reports read it.
//!
//! ```text
//! visitor  time        source      medium  subcat  value   order_id  currency  confirmed  first_source …
//! 5b1e…    1719652001  newsletter  email   june    NULL                        0
//! 5b1e…    1719652678                              129.90  1042      EUR       0          newsletter
//! 5b1e…    1719652681                              129.90  1042      EUR       1          newsletter
//! ```
//!
//! - A row with a value is an order; one without is a touch.
//! - Rows are inserted, never replaced. The id of a row keeps a repeated one out: of a page's row it is drawn by the page, of a back
//!   end's order it is made of the order's id.
//! - An order that a page told and a back end confirmed is two rows. Reports count the confirmed one.
//! - Of a table of another making, reports need `visitor`, `time`, and `source` or `channel`.

/// The name of the table.
pub const TABLE: &str = "touches";

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// As SQL names it, in lower case.
    pub name: &'static str,
    /// Its type in SQL.
    pub kind: &'static str,
    /// What a row has in it, for the documents.
    pub text: &'static str,
}

macro_rules! columns {
    ($($key:ident $name:literal $kind:literal $text:literal;)*) => {
        /// A column, as an index of [`COLUMNS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the text of each row says what it holds")]
        pub enum Key { $($key,)* }

        /// The columns beside `id`, in the order of [`Key`].
        pub const COLUMNS: &[Column] = &[$(Column { name: $name, kind: $kind, text: $text },)*];
    };
}

columns! {
    Visitor "visitor" "string" "random id of the visitor, one for each site";
    Time "time" "timestamp" "seconds since 1970, by the clock of the visitor or of the back end";
    Source "source" "string" "of a touch, where the visitor came from: utm_source, a search engine, a site, (direct)";
    Medium "medium" "string" "of a touch, how: utm_medium, organic, referral, (none)";
    Subcat "subcat" "string" "of a touch, what the page added by multitouch()";
    Value "value" "decimal(19,6)" "of an order, its money, negative for a refund; NULL: the row is a touch";
    OrderId "order_id" "string" "of an order, its id";
    Currency "currency" "string" "of an order, the name of its currency, if one was given";
    Confirmed "confirmed" "bool" "1: an order of a back end; 0: what a page told";
    FirstSource "first_source" "string" "of an order, the source of the visitor's first touch in the 45 days before it";
    FirstMedium "first_medium" "string" "of an order, the medium of that touch";
    FirstSubcat "first_subcat" "string" "of an order, the subcategory of that touch";
    Site "site" "string" "the origin of the page, as https://shop.example";
}

/// Columns by which the server looks rows up.
pub const KEYS: [Key; 2] = [Key::Visitor, Key::OrderId];

impl Key {
    /// Name, type and meaning.
    pub fn column(self) -> &'static Column {
        &COLUMNS[self as usize]
    }
}

/// The statement that makes the table unless it is there.
pub fn create() -> String {
    let columns = COLUMNS
        .iter()
        .map(|column| format!("{} {}", column.name, column.kind));
    let keys = KEYS
        .iter()
        .map(|key| format!("KEY ({})", key.column().name));
    let all: Vec<String> = columns.chain(keys).collect();
    format!("CREATE TABLE IF NOT EXISTS {TABLE} ({})", all.join(", "))
}

#[cfg(test)]
mod tests;
