//! UNION: the rows of several SELECTs, one behind the other. A sub-select is a UNION of one.

use std::sync::Arc;

use engine::{Answer, Damaged, Keyword, Reason, Rows};
use language::meter::Unmetered;
use relation::expression::{Kept, type_of_union};
use relation::options::Options;
use relation::rows::DistinctRows;
use relation::schema::ColumnType;
use relation::value::Value;
use wire::sql::{Part, Shown, Statement, Union, UnionColumn};

use super::select::no_pages;
use super::{Execution, FoundRows, Outcome, join, unexpected};
use crate::budget::Grant;
use crate::errors::{self, Failure};
use crate::limits::{ROWS_INLINE_MAX, SHOWN_COLUMNS_MAX};
use crate::node::guarded;

/// Rows of a SELECT that gives all its rows, where the statement has no LIMIT.
pub(super) const ALL_ROWS: u64 = u64::MAX >> 1;

const MAX_MATCHES: &str = "max_matches";

/// Parts that are read in one turn of the event loop: others wait for some hundred microseconds.
const PARTS_A_TURN: usize = 16;

/// The rows of all SELECTs, and how many each of them has without LIMIT.
struct Found {
    columns: Columns,
    /// What is known of the values of each column.
    kept: Vec<Kept>,
    /// The types by which each column is sorted, see [`sort_as`]. Where they are several, as those of a time and a decimal, values sort
    /// as they are.
    sorted_as: Vec<Vec<ColumnType>>,
    answers: Vec<(Rows, u64)>,
    /// The damaged files that any of them meets.
    damaged: Damaged,
    /// Words of MATCH, where there is one SELECT.
    keywords: Vec<Keyword>,
    /// Why rows may be missing; `None`: nothing is.
    partial: Option<Reason>,
}

/// Headers and types of an answer.
pub(super) type Columns = Vec<(String, Option<ColumnType>)>;

impl Execution<'_> {
    /// Does a UNION or a sub-select. All its SELECTs read the tables of one moment; each gives every row unless it says LIMIT.
    pub(super) async fn union(&mut self, union: Union) -> Result<Outcome, Failure> {
        let tables: Vec<&str> = union.parts.iter().flat_map(tables_of).collect();
        let options = options_of(&union.parts)?;
        let (shared, search) = self.shared_by(&tables, &options).await?;
        let table = tables
            .first()
            .map_or(String::new(), |table| (*table).to_owned());
        drop(tables);
        let held = Arc::clone(&shared.held);
        let outer = self.shared.replace(shared);
        let found = self.parts(union.parts, union.distinct_parts, &held).await;
        self.shared = outer;
        let found = found?;
        if let Some(search) = &search {
            search.found();
        }
        let shown = shown(&found.columns, &union.shown)?;
        let keys = union.order.iter().map(|key| {
            let place = place(&found.columns, &shown, &key.column)?;
            Ok(SortKey {
                place,
                falls: key.descending,
                kind: sorted_by(&found.kept, &found.sorted_as, place),
            })
        });
        let keys: Vec<SortKey> = keys.collect::<Result<_, Failure>>()?;
        let kept = shown.places.iter().map(|place| found.kept[*place]);
        let kept = kept.collect();
        let page = Page {
            offset: usize::try_from(union.offset).unwrap_or(usize::MAX),
            limit: usize::try_from(union.limit.unwrap_or(ALL_ROWS)).unwrap_or(usize::MAX),
            places: (union.shown != [Shown::All]).then_some(shown.places),
        };
        let total: u64 = found.answers.iter().map(|(_, total)| *total).sum();
        let rows = match keys.is_empty() {
            true => page.of(found.answers),
            false => {
                self.node.long(self.session).await;
                let rows = guarded(self.node, || sorted(found.answers, &keys, &held))?;
                let is_copied = page.places.is_some();
                let rows = page.cut(rows.into_iter().map(Ok));
                match is_copied {
                    true => Rows::reading(rows),
                    false => Rows::ready(rows.collect::<engine::Result<_>>()?),
                }
            }
        };
        let answer = Answer {
            columns: shown.columns,
            kept,
            rows: rows.noting(found.damaged),
            total_found: total,
            keywords: found.keywords,
            warnings: Vec::new(), // each SELECT has given its own to the session
            partial: found.partial,
            scroll: None,
        };
        Ok(self.counted(answer, table, search, Some(held)))
    }

    /// The columns of the first part, and the rows of all; the first `distinct` parts give equal rows once.
    async fn parts(
        &mut self,
        parts: Vec<Part>,
        distinct: usize,
        held: &Arc<Grant>,
    ) -> Result<Found, Failure> {
        let is_one = parts.len() == 1;
        let mut columns: Option<(Columns, Vec<Kept>)> = None;
        let mut sorted_as = Vec::new();
        let (mut answers, mut once) = (Vec::with_capacity(parts.len()), DistinctRows::default());
        let mut damaged = Vec::with_capacity(parts.len());
        let (mut keywords, mut partial) = (Vec::new(), None);
        for (at, part) in parts.into_iter().enumerate() {
            if at % PARTS_A_TURN == PARTS_A_TURN - 1 {
                tokio::task::yield_now().await;
            }
            let found = self.part(part).await?;
            let known = found.answer.known();
            partial = partial.or(found.answer.partial);
            damaged.push(found.answer.rows.damaged());
            if is_one {
                keywords = found.answer.keywords;
            }
            let given = found.answer.columns;
            sort_as(&mut sorted_as, &given);
            let kinds: Vec<_> = given.iter().map(|(_, kind)| *kind).collect();
            match &mut columns {
                None => columns = Some((given, known)),
                Some((columns, kept)) => unite(columns, kept, &given, &known, at)?,
            }
            match at < distinct {
                true => {
                    let Answer {
                        rows, total_found, ..
                    } = found.answer;
                    if !rows.is_ready() || total_found > ROWS_INLINE_MAX {
                        self.node.long(self.session).await;
                    }
                    once.begin(kinds);
                    guarded(self.node, || add(&mut once, rows, held))?;
                }
                false => answers.push((found.answer.rows, found.answer.total_found)),
            }
        }
        if distinct > 0 {
            let rows = once.into_rows();
            let total = rows.len() as u64;
            answers.insert(0, (Rows::ready(rows), total));
        }
        let (columns, kept) = columns.unwrap_or_default();
        Ok(Found {
            columns,
            kept,
            sorted_as,
            answers,
            damaged: Damaged::of_parts(damaged),
            keywords,
            partial,
        })
    }

    async fn part(&mut self, part: Part) -> Result<FoundRows, Failure> {
        match part {
            Part::Select(select) if select.options.iter().any(|(name, _)| name == "scroll") => {
                Err(no_pages())
            }
            Part::Select(select) => self.every_row(Statement::Select(*select), ALL_ROWS).await,
            Part::Joined(select) => self.every_row(Statement::Joined(select), ALL_ROWS).await,
            Part::Constants(items) => {
                let items = Statement::SelectConstants(items);
                self.every_row(items, ALL_ROWS).await
            }
            Part::Union(union) => rows_of(Box::pin(self.union(*union)).await?),
            Part::Each {
                select,
                column,
                constants,
            } => {
                let each = join::for_each(&select, &column);
                let outcome = Box::pin(self.joined_with(each, Some(constants))).await?;
                rows_of(outcome)
            }
        }
    }

    /// The rows of a SELECT of any kind, at most `most` where it says no LIMIT.
    pub(super) async fn every_row(
        &mut self,
        mut select: Statement,
        most: u64,
    ) -> Result<FoundRows, Failure> {
        if let Statement::Select(select) = &mut select
            && select.limit.is_none()
        {
            select.limit = Some(most);
            // A MATCH gives the best max_matches rows, unless the statement says how many.
            if !select.options.iter().any(|(name, _)| name == MAX_MATCHES) {
                select.options.push(every_match());
            }
        }
        // Groups of one table have a page of their own.
        if let Statement::Joined(select) = &mut select {
            select.limit = select.limit.or(Some(most));
        }
        rows_of(self.read_rows(select).await?)
    }
}

/// OPTION of a MATCH that finds all its rows, not the best.
pub(super) fn every_match() -> (String, String) {
    (MAX_MATCHES.to_owned(), u64::MAX.to_string())
}

fn rows_of(outcome: Outcome) -> Result<FoundRows, Failure> {
    match outcome {
        Outcome::Rows(found) => Ok(*found),
        _ => Err(unexpected()),
    }
}

/// The tables that a part reads.
fn tables_of(part: &Part) -> Vec<&str> {
    match part {
        Part::Select(select) | Part::Each { select, .. } => vec![&select.table],
        Part::Joined(select) => select.tables.iter().map(|table| &*table.table).collect(),
        Part::Constants(_) => Vec::new(),
        Part::Union(union) => union.parts.iter().flat_map(tables_of).collect(),
    }
}

/// The options that hold for the whole: those of the one SELECT of a sub-select. A UNION has none.
fn options_of(parts: &[Part]) -> Result<Options, Failure> {
    let options = match parts {
        [Part::Select(select)] => &select.options,
        [Part::Joined(select)] => &select.options,
        [Part::Union(union)] => return options_of(&union.parts),
        _ => return Ok(Options::default()),
    };
    Options::parse(options).map_err(|error| Failure::refused(error.to_string()))
}

/// Makes the types of the columns fit those of one more SELECT, the part with index `at`.
fn unite(
    columns: &mut Columns,
    kept: &mut [Kept],
    given: &Columns,
    known: &[Kept],
    at: usize,
) -> Result<(), Failure> {
    if columns.len() != given.len() {
        let message = format!(
            "the SELECTs of a UNION have different numbers of columns: the first has {}, number {} has {}",
            columns.len(),
            at + 1,
            given.len()
        );
        return Err(Failure::new(errors::WRONG_COLUMN_COUNT, message));
    }
    let columns = columns.iter_mut().zip(kept).zip(given.iter().zip(known));
    for (((_, kind), kept), ((_, other), known)) in columns {
        *kind = match (*kept, *known) {
            (_, Kept::Null) => *kind,
            (Kept::Null, _) => *other,
            (Kept::Of(_) | Kept::Unknown, Kept::Of(_) | Kept::Unknown) => kind
                .zip(*other)
                .and_then(|(one, other)| type_of_union(one, other)),
        };
        *kept = kept.and(*known);
    }
    Ok(())
}

/// The type by which a column is sorted where its values are kept as texts that sort wrongly.
fn sorted_by(kept: &[Kept], alike: &[Vec<ColumnType>], place: usize) -> Option<ColumnType> {
    match kept.get(place).copied().and_then(Kept::kind) {
        // Of numbers only those of a DECIMAL are kept as texts.
        Some(ColumnType::Double) => Some(ColumnType::WIDEST_DECIMAL),
        Some(kind) if kind.family().has_comparable() => Some(kind),
        Some(_) | None => match alike.get(place).map(Vec::as_slice) {
            Some([kind]) => Some(*kind),
            Some(_) | None => None,
        },
    }
}

/// Adds the types of one more SELECT whose values are kept as texts that sort wrongly: of types that are alike, one a column.
fn sort_as(known: &mut Vec<Vec<ColumnType>>, given: &Columns) {
    known.resize_with(given.len(), Vec::new);
    for (known, (_, kind)) in known.iter_mut().zip(given) {
        let new = kind.filter(|kind| kind.family().has_comparable());
        let new = new.filter(|new| !known.iter().any(|one| one.family().is_like(new.family())));
        known.extend(new);
    }
}

/// The columns of the answer, and the place of each in the rows of the SELECTs.
struct ShownColumns {
    columns: Columns,
    places: Vec<usize>,
}

fn shown(columns: &Columns, list: &[Shown]) -> Result<ShownColumns, Failure> {
    let mut shown = ShownColumns {
        columns: Vec::new(),
        places: Vec::new(),
    };
    for item in list {
        match item {
            Shown::All => {
                shown.columns.extend_from_slice(columns);
                shown.places.extend(0..columns.len());
            }
            Shown::Column { column, header } => {
                let place = named(columns, column).ok_or_else(|| {
                    let message = format!(
                        "the list around a sub-select takes * and names of its columns: it has no '{column}'"
                    );
                    Failure::new(errors::UNKNOWN_COLUMN, message)
                })?;
                shown.columns.push((header.clone(), columns[place].1));
                shown.places.push(place);
            }
        }
        // A `*` of a `*` would multiply them at each level.
        if list.len() > 1 && shown.places.len() > SHOWN_COLUMNS_MAX {
            let message = format!("around a sub-select stand at most {SHOWN_COLUMNS_MAX} columns");
            return Err(Failure::new(errors::LIMIT, message));
        }
    }
    Ok(shown)
}

/// The place of a column by its header.
fn named(columns: &Columns, name: &str) -> Option<usize> {
    columns
        .iter()
        .position(|(header, _)| header.eq_ignore_ascii_case(name))
}

/// The place of a key of ORDER BY in the rows of the SELECTs: a number or header of the answer, or a column that is not shown.
fn place(columns: &Columns, shown: &ShownColumns, key: &UnionColumn) -> Result<usize, Failure> {
    let found = match key {
        UnionColumn::Numbered(number) => {
            let index = usize::try_from(*number).ok();
            let index = index.and_then(|number| number.checked_sub(1));
            index.and_then(|index| shown.places.get(index).copied())
        }
        UnionColumn::Named(name) => {
            let index = named(&shown.columns, name);
            let place = index.map(|index| shown.places[index]);
            place.or_else(|| named(columns, name))
        }
    };
    found.ok_or_else(|| {
        let key = match key {
            UnionColumn::Numbered(number) => number.to_string(),
            UnionColumn::Named(name) => format!("'{name}'"),
        };
        let message = format!("ORDER BY takes columns of the UNION or sub-select: it has no {key}");
        Failure::new(errors::UNKNOWN_COLUMN, message)
    })
}

/// The part of the rows that is sent.
struct Page {
    offset: usize,
    limit: usize,
    /// The places of the columns that are shown; `None`: all, as they stand.
    places: Option<Vec<usize>>,
}

impl Page {
    fn cut<I>(self, rows: I) -> impl Iterator<Item = engine::Result<Vec<Value>>>
    where
        I: Iterator<Item = engine::Result<Vec<Value>>>,
    {
        let rows = rows.skip(self.offset).take(self.limit);
        rows.map(move |row| match &self.places {
            None => row,
            Some(places) => row.map(|row| places.iter().map(|at| row[*at].clone()).collect()),
        })
    }

    /// The page of rows one behind the other.
    fn of(self, mut answers: Vec<(Rows, u64)>) -> Rows {
        let is_whole = self.offset == 0 && self.limit as u64 == ALL_ROWS && self.places.is_none();
        if is_whole && answers.len() == 1 {
            return answers.remove(0).0;
        }
        let rows = answers.into_iter().flat_map(|(rows, _)| rows);
        Rows::reading(self.cut(rows))
    }
}

/// A column by which rows are sorted.
struct SortKey {
    /// Its place in a row.
    place: usize,
    /// The greatest comes first.
    falls: bool,
    /// Its type, where values are kept as texts that sort wrongly: those of decimals and times.
    kind: Option<ColumnType>,
}

impl SortKey {
    /// The value that is compared where it is not the one in the row.
    fn comparable(&self, row: &[Value]) -> Option<Value> {
        Some(self.kind?.comparable(row.get(self.place)?.clone()))
    }
}

/// All rows by the keys; rows with equal keys keep their order.
fn sorted(
    answers: Vec<(Rows, u64)>,
    keys: &[SortKey],
    held: &Grant,
) -> Result<Vec<Vec<Value>>, Failure> {
    let mut all = Vec::new();
    for row in answers.into_iter().flat_map(|(rows, _)| rows) {
        let row = row?;
        let compared: Vec<Option<Value>> = keys.iter().map(|key| key.comparable(&row)).collect();
        let of_keys: usize = compared.iter().flatten().map(Value::memory).sum();
        let of_keys = of_keys + size_of_val(&*compared);
        held.take(memory(&row) + of_keys as u64)?;
        all.push((row, compared));
    }
    all.sort_by(|(a, of_a), (b, of_b)| {
        let keys = keys.iter().zip(of_a.iter().zip(of_b));
        let keys = keys.map(|(key, (of_a, of_b))| {
            let of_a = of_a.as_ref().unwrap_or(&a[key.place]);
            let of_b = of_b.as_ref().unwrap_or(&b[key.place]);
            let order = of_a.cmp_order(of_b);
            if key.falls { order.reverse() } else { order }
        });
        keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    Ok(all.into_iter().map(|(row, _)| row).collect())
}

fn memory(row: &[Value]) -> u64 {
    let values: usize = row.iter().map(Value::memory).sum();
    (size_of::<Vec<Value>>() + values) as u64
}

/// Adds the rows that are new.
fn add(once: &mut DistinctRows, rows: Rows, held: &Grant) -> Result<(), Failure> {
    for row in rows {
        let row = row?;
        let bytes = memory(&row);
        // In a turn; reading the next row looks at the switch.
        if let Some(more) = once.add(row, &Unmetered) {
            held.take(bytes + more)?;
        }
    }
    Ok(())
}
