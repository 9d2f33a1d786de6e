//! CALL ATTRIBUTION: the rows of a search table → touches and orders → what each channel contributed.
//!
//! ```text
//! settings   'markov,linear' AS model, 30 AS window           options by name, as flags of `seine attribution report`
//! read       rows of one snapshot by rising id, one behind the other     events: 16 bytes each, and names of visitors
//! count      the touches of each order, models                 figures
//! rows       channel, model, transactions, revenue, …          the answer
//! ```
//!
//! The events, and what is made of them, take memory of the budget before they take it of the machine. Each row, visitor, path and
//! pass looks at the switch, so KILL, a client that is gone and `max_query_time` end the statement, which then has no answer: a part
//! of the orders would have figures that look whole.

use std::cell::RefCell;
use std::sync::Arc;

use engine::{Control, Interrupt, Kind, Reason, Seen};
use relation::options::Options;
use relation::request::{Item, Select};
use relation::schema::ColumnType;
use relation::value::Value;
use study::attribution::bounds::Bounds;
use study::attribution::events::Events;
use study::attribution::figures::{Figures, Places, figures};
use study::attribution::input::{Lines, ReadColumns, TableRows, TouchOptions};
use study::attribution::settings::{Form, SETTINGS, Setting, Settings};
use study::attribution::tally::{Detail, Earned};
use wire::sql::AttributionCall;

use super::select::hold;
use super::{Execution, FoundRows, Outcome, ready};
use crate::budget::Grant;
use crate::errors::{self, Failure};
use crate::faults::ReadFault;
use crate::node::guarded;

/// Name of the row of totals, as in the report.
const TOTAL: &str = "(total)";

/// Most digits of a sum of money: see [`study::attribution::amount::Sum`].
const DIGITS: u8 = 30;

/// Bytes of a row of the answer, with its names.
const ROW_BYTES: usize = 6 * size_of::<Value>() + 512;

/// The memory and the switch of a statement, as the study asks for them.
struct Held<'a> {
    held: &'a Grant,
    interrupt: &'a Interrupt,
    failure: RefCell<Option<Failure>>,
}

impl Held<'_> {
    /// Keeps the failure, whose code a message would lose.
    fn keep(&self, result: Result<(), Failure>) -> Result<(), String> {
        result.map_err(|failure| {
            let message = failure.message.clone();
            self.failure.replace(Some(failure));
            message
        })
    }

    /// The failure behind a message of the study.
    fn failure(&self, message: String) -> Failure {
        let kept = self.failure.take();
        kept.unwrap_or_else(|| Failure::refused(message))
    }
}

impl Bounds for Held<'_> {
    fn cover(&self, bytes: usize) -> Result<(), String> {
        self.keep(self.held.cover(bytes))
    }

    fn check(&self) -> Result<(), String> {
        self.keep(engine::goes_on(self.interrupt).map_err(Failure::from))
    }
}

/// The options of a call.
///
/// # Errors
/// An option that is not known, or a bad value.
fn settings_of(call: &AttributionCall) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for (name, values) in &call.options {
        let row = Setting::find(name).ok_or_else(|| {
            let known = SETTINGS.map(|row| row.name).join(", ");
            Failure::refused(format!(
                "CALL ATTRIBUTION has no option {name}: there are {known}"
            ))
        })?;
        if row.form != Form::Names && values.len() != 1 {
            return Err(Failure::refused(format!("option {name} takes one value")));
        }
        let set = settings.set(row.setting, values);
        set.map_err(|why| Failure::refused(format!("option {name}: {why}")))?;
    }
    let checked = settings.check(|name| format!("option {name}"));
    checked.map_err(Failure::refused)?;
    Ok(settings)
}

/// Reads a table within the bounds of its statement.
struct Reading<'a> {
    table: &'a str,
    settings: &'a Settings,
    seen: &'a Seen,
    columns: ReadColumns,
    kinds: Vec<Option<ColumnType>>,
    now_ms: i64,
    bounds: Held<'a>,
    /// Fault of this read that a test asked for.
    fault: Option<ReadFault>,
    control: Control,
}

/// What a table says.
struct Contributed {
    channels: Vec<String>,
    figures: Vec<Figures>,
    total: Earned,
    places: Places,
    warnings: Vec<String>,
}

impl Reading<'_> {
    /// Adds all rows.
    fn read(&self, rows: &mut TableRows<'_>) -> Result<(), Failure> {
        let panics = self.fault == Some(ReadFault::Panic);
        assert!(!panics, "SEINE_FAULTS asked for a panic in this read");
        if self.fault == Some(ReadFault::Hold) {
            hold(self.bounds.interrupt);
        }
        let names = self.columns.names.iter();
        let items = names.map(|name| Item::column(name)).collect();
        let select = Select::new(self.table, items);
        let answer = (self.seen).select(&select, &Options::default(), &self.control)?;
        if answer.partial == Some(Reason::Time) {
            return Err(engine::Error::OutOfTime.into());
        }
        let mut scratch = Vec::new();
        for row in answer.rows {
            let row = row?;
            let added = self.bounds.check();
            let added = added.and_then(|()| self.add(rows, &row, &mut scratch));
            added.map_err(|why| self.bounds.failure(why))?;
        }
        Ok(())
    }

    fn add(
        &self,
        rows: &mut TableRows<'_>,
        values: &[Value],
        scratch: &mut Vec<u8>,
    ) -> Result<(), String> {
        scratch.clear();
        let mut ends = Vec::with_capacity(values.len());
        for (value, kind) in values.iter().zip(&self.kinds) {
            value.write_text(*kind, scratch);
            ends.push(scratch.len());
        }
        let begins = std::iter::once(&0).chain(&ends);
        let texts = begins.zip(&ends).map(|(begin, end)| &scratch[*begin..*end]);
        let texts: Vec<&[u8]> = texts.collect();
        self.bounds.cover(rows.bytes(1, scratch.len()))?;
        rows.add(&texts)
    }

    fn contributed(&self) -> Result<Contributed, Failure> {
        let mut events = Events::new(self.settings.naming());
        let mut places = Places::default();
        let options = TouchOptions {
            currency: self.settings.currency.clone(),
            now_ms: self.now_ms,
        };
        let columns = self.columns.clone();
        let mut rows = TableRows::new(self.table, columns, &mut events, &mut places, &options);
        self.read(&mut rows)?;
        let (lines, other_currencies) = rows.finish();
        let refused = |why| self.bounds.failure(why);
        let (window, models) = (&self.settings.window, &self.settings.models);
        let rule = |channels: &[String]| self.settings.rule(channels);
        let counted = events.attribute(window, models, Detail::Figures, rule, &self.bounds);
        let counted = counted.map_err(refused)?;
        let figures = figures(
            models,
            &counted.tally,
            counted.paths.as_ref(),
            &counted.channels,
            places,
            &self.bounds,
        );
        let mut warnings = self.settings.unmet(&counted.channels, str::to_owned);
        warnings.extend(said(&lines, other_currencies, places));
        Ok(Contributed {
            figures: figures.map_err(refused)?,
            channels: counted.channels,
            total: counted.tally.total,
            places,
            warnings,
        })
    }
}

/// What of the rows did not count.
fn said(lines: &Lines, other_currencies: u64, places: Places) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(example) = lines.examples.first() {
        said.push(format!(
            "{} of {} rows do not count, such as row {} by id: {}",
            lines.unknown, lines.count, example.line, example.why
        ));
    }
    if other_currencies > 0 {
        said.push(format!(
            "{other_currencies} orders in other currencies do not count"
        ));
    }
    if places.rounded_amounts > 0 {
        said.push(format!(
            "{} amounts have more than six digits behind the point and are rounded to a millionth",
            places.rounded_amounts
        ));
    }
    said
}

impl Contributed {
    fn columns(&self) -> Vec<(String, Option<ColumnType>)> {
        let decimal = |scale| ColumnType::Decimal {
            digits: DIGITS,
            scale,
        };
        let columns = [
            ("channel", ColumnType::String),
            ("model", ColumnType::String),
            ("transactions", decimal(self.places.conversions)),
            ("revenue", decimal(self.places.value)),
            ("transactions_exact", ColumnType::Double),
            ("revenue_exact", ColumnType::Double),
        ];
        columns
            .map(|(name, kind)| (name.to_owned(), Some(kind)))
            .into()
    }

    /// The channels of each model, then its totals.
    fn rows(&self) -> Vec<Vec<Value>> {
        let mut rows = Vec::with_capacity(self.row_count());
        for of in &self.figures {
            for (at, channel) in self.channels.iter().enumerate() {
                let [transactions, revenue] = [&of.conversions, &of.value].map(|of| of.units[at]);
                let exact = [&of.conversions, &of.value].map(|of| of.exact[at]);
                rows.push(self.row(channel, of, [transactions, revenue], exact));
            }
            let totals = [of.conversions.total, of.value.total];
            let exact = [self.total.conversions.value(), self.total.value.value()];
            rows.push(self.row(TOTAL, of, totals, exact));
        }
        rows
    }

    fn row(&self, channel: &str, of: &Figures, units: [i128; 2], exact: [f64; 2]) -> Vec<Value> {
        let text = |text: &str| Value::Str(text.to_owned());
        let places = [self.places.conversions, self.places.value];
        let shown = [0, 1].map(|at| Value::Str(decimal(units[at], places[at])));
        let [transactions, revenue] = shown;
        let [transactions_exact, revenue_exact] = exact.map(Value::Float);
        vec![
            text(channel),
            text(of.model.name()),
            transactions,
            revenue,
            transactions_exact,
            revenue_exact,
        ]
    }

    fn row_count(&self) -> usize {
        self.figures.len() * (self.channels.len() + 1)
    }
}

/// `12.50` of 1,250 units with two digits behind the point.
fn decimal(units: i128, places: u8) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let (digits, places) = (units.unsigned_abs(), usize::from(places));
    let unit = 10_u128.pow(places as u32);
    format!("{sign}{}.{:0places$}", digits / unit, digits % unit)
}

impl Execution<'_> {
    pub(super) async fn call_attribution(
        &mut self,
        call: AttributionCall,
    ) -> Result<Outcome, Failure> {
        let settings = settings_of(&call)?;
        let table = &*call.table;
        let options = Options::default();
        let (shared, search) = self.shared_by(&[table], &options).await?;
        let definition = match self.session.temporary.has(table) {
            true => None,
            false => Some(shared.seen.definition(table)?),
        };
        let definition = definition.filter(|of| matches!(of.kind, Kind::Search(_)));
        let definition = definition.ok_or_else(|| {
            let message = format!("'{table}' is not a search table: CALL ATTRIBUTION reads these");
            Failure::new(errors::INVALID, message)
        })?;
        let names: Vec<String> = definition
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let columns = ReadColumns::among(table, &names).map_err(Failure::refused)?;
        let kind_of = |name: &String| {
            let column = definition.columns.iter().find(|of| of.name == *name);
            column.map(|column| column.kind)
        };
        let interrupt = &shared.interrupt;
        self.node.long_within(self.session, interrupt).await;
        let reading = Reading {
            table,
            settings: &settings,
            seen: &shared.seen,
            kinds: columns.names.iter().map(kind_of).collect(),
            columns,
            now_ms: self.node.now().unix_us / 1_000,
            bounds: Held {
                held: &shared.held,
                interrupt,
                failure: RefCell::new(None),
            },
            fault: self.fault,
            control: self.control(Arc::clone(interrupt), &options, &shared.held),
        };
        let contributed = guarded(self.node, || reading.contributed())?;
        shared.held.keep(0);
        shared.held.cover(contributed.row_count() * ROW_BYTES)?;
        if let Some(search) = &search {
            search.found();
        }
        for warning in &contributed.warnings {
            self.session.warn(warning.clone());
        }
        Ok(Outcome::Rows(Box::new(FoundRows {
            answer: ready(contributed.columns(), contributed.rows()),
            table: String::new(),
            counted: false,
            search,
            held: Some(shared.held),
            is_costly: false,
            members: Vec::new(),
        })))
    }
}
