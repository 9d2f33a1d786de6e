//! SELECT of several tables: reads each table in the order that the bound join gives, and joins its rows.
//!
//! A search table is asked only for rows that can join: `big JOIN picked USING (id)` first reads `picked`, and then asks `big`
//! for `id IN (…)`. What holds the rows is a [`Source`]: those of search and temporary tables are read when they are compared or
//! sent; those of queues and pq tables are copied.

use std::sync::Arc;

use engine::{
    Answer, Command, Control, Error, JoinControl, Kind, Reason, Reply, Rows, Seen, TableSource,
    TemporarySource,
};
use relation::bind::{self, BindError, BoundJoin, JoinColumn, JoinScope, JoinStep};
use relation::expression::{BinaryOperator, Expression, List};
use relation::options::Options;
use relation::request::{Facet, Item, JoinedSelect, JoinedTable, Select};
use relation::rows::{Answered, BoxedRows, Groups, Join, JoinRows, Joined};
use relation::schema::ColumnType;
use relation::source::{Asked, Shape, Source};
use relation::value::Value;

use super::select::{Shared, may_take_long, no_pages};
use super::{Execution, Outcome, unexpected};
use crate::errors::{self, Failure};
use crate::limits::{INLINE_UNITS, ROWS_INLINE_MAX};
use crate::movable::is_on_loop;
use crate::node::{counted, guarded};
use crate::searches::Search;

/// A table is told the values that its rows must have, if there are at most this many for each of its rows.
const WANTED_A_ROW: u64 = 2;

/// Name of the list of constants in a join with one. No table and no column has such a name.
const CONSTANTS: &str = "constants()";

/// The constants that a UNION of equal SELECTs differs in: a table of one column.
struct Constants(Arc<List>);

impl Source for Constants {
    type Error = Error;
    type Control = Control;

    fn shape(&self) -> Shape {
        let kind = match self.0.whole() {
            Some(_) => ColumnType::Bigint,
            None => ColumnType::String,
        };
        let name = CONSTANTS.to_owned();
        Shape {
            columns: vec![JoinColumn { name, kind }],
            starred: 1,
            has_id: false,
            is_standing: false,
            takes_match: false,
        }
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }

    fn locate(&self, _: &Asked<'_>, _: &Control) -> Result<BoxedRows<Error>, Error> {
        Ok(Arc::new(Constants(Arc::clone(&self.0))))
    }
}

impl JoinRows for Constants {
    type Error = Error;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: u32, _: usize) -> Result<Value, Error> {
        Ok(self.0.get(row as usize))
    }
}

/// The join that gives, for each constant in turn, the rows of a SELECT in which `column` equals it.
pub(super) fn for_each(select: &Select, column: &str) -> JoinedSelect {
    let table = |name: &str| JoinedTable {
        table: name.to_owned(),
        name: name.to_owned(),
        is_left: false,
        using: Vec::new(),
        on: None,
        matching: None,
    };
    let sides = [format!("{}.{column}", select.table), CONSTANTS.to_owned()];
    let [own, constant] = sides.map(|name| Box::new(Expression::Column(name)));
    let items = select.items.iter().map(|item| match item {
        Item::Star => Item::TableStar(select.table.clone()),
        other => other.clone(),
    });
    JoinedSelect {
        tables: vec![
            table(CONSTANTS),
            JoinedTable {
                on: Some(Expression::Binary(BinaryOperator::Equal, own, constant)),
                ..table(&select.table)
            },
        ],
        items: items.collect(),
        filter: None,
        grouping: None,
        order: Vec::new(),
        limit: None,
        offset: 0,
        options: select.options.clone(),
    }
}

impl Execution<'_> {
    pub(super) async fn joined(&mut self, select: JoinedSelect) -> Result<Outcome, Failure> {
        self.joined_with(select, None).await
    }

    /// Does a SELECT of several tables. `constants`: the rows of the table [`CONSTANTS`].
    pub(super) async fn joined_with(
        &mut self,
        select: JoinedSelect,
        constants: Option<List>,
    ) -> Result<Outcome, Failure> {
        let options = Options::parse(&select.options);
        let options = options.map_err(|error| Failure::refused(error.to_string()))?;
        if options.scroll.is_some() {
            return Err(no_pages());
        }
        self.is_costly |= may_take_long(&select.items);
        let constants = constants.map(|list| Arc::new(Constants(Arc::new(list))));
        let names: Vec<&str> = select.tables.iter().map(|it| &*it.table).collect();
        let (shared, search) = self.shared_by(&names, &options).await?;
        let mut sources = Vec::with_capacity(names.len());
        for name in &names {
            sources.push(match &constants {
                Some(constants) if *name == CONSTANTS => Arc::clone(constants) as Arc<TableSource>,
                _ => self.source(&shared.seen, name).await?,
            });
        }
        let scopes = select.tables.iter().zip(&sources);
        let scopes = scopes.map(|(table, source)| scope(table, &**source));
        let scopes: Vec<JoinScope<'_>> = scopes.collect::<Result<_, _>>()?;
        let mut bound = BoundJoin::new(&select, &scopes).map_err(|error| refused(&names, error))?;
        if let Some(most) = options.max_matches {
            let limit = bind::within_matches(bound.limit, bound.offset, most);
            bound.limit = Some(limit.map_err(|error| refused(&names, error))?);
        }
        let control = self.control(Arc::clone(&shared.interrupt), &options, &shared.held);
        let asked: Vec<OfTable<'_>> = (select.tables.iter().zip(&scopes).zip(&sources))
            .map(|((table, scope), source)| OfTable {
                table,
                scope,
                source: &**source,
                options: &options,
                control: &control,
            })
            .collect();
        self.begin_on_loop(&control);
        let joined = self.made(&bound, &asked).await?;
        control.interrupt.allow(None);
        if let Some(search) = &search {
            search.found();
        }
        let members = std::mem::take(&mut bound.members);
        let is_implied = bound.is_implied;
        let mut answer = answer_of(bound, joined);
        if is_implied && answer.total_found > bind::IMPLICIT_LIMIT {
            answer.warnings.push(bind::implied(answer.total_found));
        }
        let table = select.tables.into_iter().next();
        let table = table.map_or_else(String::new, |table| table.table);
        let mut outcome = self.counted(answer, table, search, Some(shared.held));
        if let Outcome::Rows(found) = &mut outcome {
            found.members = members;
        }
        if let Some(most) = options.max_matches {
            self.session.has_at_most(most);
        }
        Ok(outcome)
    }

    /// Gives the switch of a read that may begin on this thread its units: see [`Execution::piece`].
    fn begin_on_loop(&self, control: &Control) {
        // A piece that begins anew would note its step twice.
        if is_on_loop() && !self.is_large && self.profile.is_none() {
            control.interrupt.allow(Some(INLINE_UNITS));
        }
    }

    /// Does a piece of a read. One that has spent the units of a thread that serves sockets begins anew, in a turn: what pieces
    /// before it have made stays.
    async fn piece<T>(
        &mut self,
        control: &Control,
        mut work: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (node, session) = (self.node, &*self.session);
        match counted(session, &control.interrupt, || guarded(node, &mut work)) {
            Err(_) if control.interrupt.reason() == Some(Reason::Moved) => {
                node.long_within(session, &control.interrupt).await;
                counted(session, &control.interrupt, || guarded(node, work))
            }
            done => done,
        }
    }

    /// Reads the tables of a join and joins their rows.
    async fn made(
        &mut self,
        bound: &BoundJoin,
        asked: &[OfTable<'_>],
    ) -> Result<Joined<Error>, Failure> {
        let first = &asked[bound.steps[0].table];
        if asked.len() == 1 && bound.groups.is_some() {
            self.apart(first.control, first.scope.rows as usize).await;
            let bound = std::slice::from_ref(bound);
            let made = self.piece(first.control, || grouped(bound, first));
            let made = made.await?;
            return made.into_iter().next().ok_or_else(unexpected);
        }
        let mut join = Join::new(bound, bounds(first.control));
        for step in &bound.steps {
            self.step(&mut join, step, &asked[step.table]).await?;
        }
        let control = first.control;
        self.apart(control, join.len()).await;
        let answer = || {
            let answered = || Ok(for_piece(&mut join, control).answer(bound)?);
            control.step(
                "answer",
                answered,
                |answer: &Result<Joined<Error>, Failure>| {
                    let total = answer.as_ref().ok().map(|answer| answer.total);
                    (total, String::new())
                },
            )
        };
        self.piece(control, answer).await
    }

    /// The answers of the FACETs of a SELECT: see [`bind::facets`]. All of them are made in one pass over the rows.
    pub(super) async fn facets(
        &mut self,
        select: &Select,
        facets: Vec<Facet>,
        options: &Options,
        shared: &Shared,
    ) -> Result<Vec<Answer>, Failure> {
        let table = &*select.table;
        let source = self.source(&shared.seen, table).await?;
        let shape = source.shape();
        if !shape.takes_match {
            let message = format!("FACET needs a search table, '{table}' is none");
            return Err(Failure::new(errors::INVALID, message));
        }
        let is_column = |name: &str| shape.columns.iter().any(|column| column.name == name);
        let refused = |error| refused(&[table], error);
        let selects = bind::facets(select, facets, &is_column).map_err(refused)?;
        let Some(first) = selects.first().map(|select| &select.tables[0]) else {
            return Ok(Vec::new());
        };
        let scope = scope(first, &*source)?;
        let scopes = std::slice::from_ref(&scope);
        let bound = selects.iter().map(|select| BoundJoin::new(select, scopes));
        let bound: Vec<BoundJoin> = bound.collect::<Result<_, _>>().map_err(refused)?;
        let control = self.control(Arc::clone(&shared.interrupt), options, &shared.held);
        let asked = OfTable {
            table: first,
            scope: &scope,
            source: &*source,
            options,
            control: &control,
        };
        let is_long = self.is_large || self.profile.is_some() || scope.rows > ROWS_INLINE_MAX;
        let read = || grouped(&bound, &asked);
        let read = self
            .node
            .read(self.session, &control.interrupt, is_long, read);
        let made = read.await?;
        let answers = bound.into_iter().zip(made);
        Ok(answers
            .map(|(bound, made)| answer_of(bound, made))
            .collect())
    }

    /// Reads the table of a step and joins its rows.
    async fn step(
        &mut self,
        join: &mut Join<Error>,
        step: &JoinStep,
        asked: &OfTable<'_>,
    ) -> Result<(), Failure> {
        let most = asked.scope.rows.saturating_mul(WANTED_A_ROW);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let control = asked.control;
        self.apart(control, join.len()).await;
        let wanted = self.piece(control, || Ok(join.wanted(step, most)?));
        let wanted = wanted.await?;
        let rows = self.rows_of_step(asked, step, wanted).await?;
        let pairs = join.len().max(1).saturating_mul(rows.len());
        let count = rows.len();
        self.apart(control, pairs).await;
        let joined = || {
            let mut joined = for_piece(join, control);
            let step = || Ok(joined.step(step, Arc::clone(&rows))?);
            let made: Result<(), Failure> =
                control.step("join", step, |_| (None, format!("with {count} rows")));
            made.map(|()| joined)
        };
        *join = self.piece(control, joined).await?;
        Ok(())
    }

    /// Goes on in a turn if what comes reads more than [`ROWS_INLINE_MAX`] rows, or pairs of rows, or if the read has been in one
    /// before.
    async fn apart(&mut self, control: &Control, rows: usize) {
        let interrupt = &control.interrupt;
        if self.is_large || rows as u64 > ROWS_INLINE_MAX || interrupt.units_left().is_none() {
            self.node.long_within(self.session, interrupt).await;
        }
    }

    /// What the reads of these tables share. The search is listed as running, unless it belongs to a statement that is.
    pub(super) async fn shared_by(
        &mut self,
        tables: &[&str],
        options: &Options,
    ) -> Result<(Shared, Option<Search>), Failure> {
        if let Some(shared) = &self.shared {
            return Ok((shared.clone(), None));
        }
        let seen = self.seen(tables).await?;
        let search = self.begin_search(tables.first().unwrap_or(&""), options);
        let shared = Shared {
            seen,
            held: Arc::new(self.node.budget.grant()),
            interrupt: Arc::clone(&search.interrupt),
        };
        Ok((shared, Some(search)))
    }

    /// The tables of a statement, of one moment: with what the session's transaction has written, if it writes into one of them.
    pub(super) async fn seen(&mut self, tables: &[&str]) -> Result<Seen, Failure> {
        let (mut snapshot, mut read) = (None, Vec::new());
        for table in tables {
            if *table == CONSTANTS || self.session.temporary.has(table) {
                continue;
            }
            snapshot.get_or_insert(self.to_read(table)?);
            read.push((*table).to_owned());
        }
        if let Some(own) = self.own_tables(read, None).await? {
            return Ok(own);
        }
        match snapshot {
            Some(snapshot) => Ok(Seen::new(snapshot)),
            None => Ok(Seen::new(self.node.engine()?.snapshot())),
        }
    }

    /// A table as the statement reads it. The rows of a queue depend on the session, so the engine is asked for them.
    async fn source(&mut self, seen: &Seen, table: &str) -> Result<Arc<TableSource>, Failure> {
        if self.session.temporary.has(table) {
            let temporary = self.session.temporary.get(table)?;
            return Ok(Arc::new(TemporarySource(temporary)));
        }
        if !matches!(seen.definition(table)?.kind, Kind::Queue(_)) {
            return Ok(seen.source(table)?);
        }
        let table = table.to_owned();
        let command = match self.session.engine_has_part() {
            true => self.session.within(Command::Source { table }),
            false => Command::Source { table },
        };
        match self.submit(command).await? {
            Reply::Source(source) => Ok(source),
            _ => Err(unexpected()),
        }
    }

    /// The rows of a step's table. `wanted`: a column and the values that its rows must have there.
    async fn rows_of_step(
        &mut self,
        asked: &OfTable<'_>,
        step: &JoinStep,
        wanted: Option<(String, List)>,
    ) -> Result<BoxedRows<Error>, Failure> {
        let rows = match &wanted {
            Some((_, list)) if asked.scope.has_id => list.len(),
            _ => asked.scope.rows as usize, // of these no row is looked up
        };
        let listed = wanted.map(|(column, list)| {
            let named = asked.scope.columns.iter().find(|of| of.name == column);
            // No row equals a value that its column's type does not read.
            let fits = |value: &Value| named.is_none_or(|of| of.kind.constant(value).is_ok());
            let list = match list.whole() {
                Some(_) => list,
                None => list.iter().filter(fits).collect(),
            };
            Expression::In {
                needle: Box::new(Expression::Column(column)),
                negated: false,
                list,
            }
        });
        let conditions: Vec<Expression> = listed.into_iter().chain(step.own.clone()).collect();
        let condition = (!conditions.is_empty()).then(|| Expression::all_of(conditions));
        let select = asked.select(condition);
        self.apart(asked.control, rows).await;
        let asks = asked.asks(&select, step);
        let locate = || Ok(asked.source.locate(&asks, asked.control)?);
        self.piece(asked.control, locate).await
    }
}

/// A table of a statement, as it is bound.
fn scope<'a>(table: &'a JoinedTable, source: &TableSource) -> Result<JoinScope<'a>, Failure> {
    let (shape, is_searched) = (source.shape(), table.matching.is_some());
    if is_searched && !shape.takes_match {
        let message = format!("MATCH needs a search table, '{}' is none", table.name);
        return Err(Failure::new(errors::INVALID, message));
    }
    Ok(shape.scope(&table.name, source.count(), is_searched))
}

/// The answers of SELECTs with groups over one table. They find the rows that the first of them tells. Groups that can be made
/// from blocks of rows are made in one pass; the others are made of the rows one by one.
fn grouped(bound: &[BoundJoin], asked: &OfTable<'_>) -> Result<Vec<Joined<Error>>, Failure> {
    let Some(step) = bound.first().and_then(|bound| bound.steps.first()) else {
        return Ok(Vec::new());
    };
    let (source, control) = (asked.source, asked.control);
    let select = asked.select(step.own.clone());
    let asks = asked.asks(&select, step);
    let groupings = bound.iter().filter_map(|bound| bound.groups.clone());
    let groupings: Vec<Arc<Groups>> = groupings.collect();
    let made = match step.rest {
        None => source.group(&asks, &groupings, control)?,
        Some(_) => groupings.iter().map(|_| None).collect(),
    };
    let (mut all_rows, mut answers) = (None, Vec::with_capacity(bound.len()));
    for (bound, made) in bound.iter().zip(made) {
        let mut join = Join::new(bound, bounds(control));
        answers.push(match made {
            Some(groups) => {
                join.step(step, groups.rows)?;
                join.answer_blocks(bound, groups.made)?
            }
            None => {
                let rows = match all_rows.take() {
                    Some(rows) => rows,
                    None => source.locate(&asks, control)?,
                };
                join.step(step, Arc::clone(&rows))?;
                all_rows = Some(rows);
                join.answer(bound)?
            }
        });
    }
    Ok(answers)
}

/// The join for a piece of its work: a copy, where the piece may begin anew.
fn for_piece(join: &mut Join<Error>, control: &Control) -> Join<Error> {
    match control.interrupt.units_left() {
        Some(_) => join.clone(),
        None => join.take(),
    }
}

/// The bounds of a join: those of its searches.
fn bounds(control: &Control) -> Arc<JoinControl> {
    Arc::new(JoinControl {
        memory: Arc::clone(&control.memory),
        interrupt: Arc::clone(&control.interrupt),
    })
}

pub(super) fn answer_of(bound: BoundJoin, joined: Joined<Error>) -> Answer {
    let rows = match joined.rows {
        Answered::Ready(rows) => Rows::ready(rows),
        Answered::Reading(rows) => Rows::reading(rows),
    };
    Answer {
        columns: bound.headers,
        kept: bound.kept,
        rows,
        total_found: joined.total,
        keywords: Vec::new(),
        warnings: Vec::new(),
        partial: None,
        scroll: None,
    }
}

/// What a step asks its table.
struct OfTable<'a> {
    table: &'a JoinedTable,
    scope: &'a JoinScope<'a>,
    source: &'a TableSource,
    options: &'a Options,
    control: &'a Control,
}

impl OfTable<'_> {
    /// The SELECT of a step: every row of a condition, in the table's order.
    fn select(&self, filter: Option<Expression>) -> Select {
        Select {
            matching: self.table.matching.clone(),
            filter,
            ..Select::new(&*self.table.table, Vec::new())
        }
    }

    /// The rows of that SELECT.
    fn asks<'s>(&'s self, select: &'s Select, step: &'s JoinStep) -> Asked<'s> {
        Asked {
            select,
            options: self.options,
            needed: &step.needed,
        }
    }
}

/// The failure of a join that does not bind.
pub(super) fn refused(tables: &[&str], error: BindError) -> Failure {
    match error {
        BindError::UnknownColumn(column) => {
            let table = tables.join(", ");
            Error::UnknownColumn { column, table }.into()
        }
        BindError::Constant(what) => Failure::new(errors::BAD_CONSTANT, what),
        BindError::NotYet(what) => super::translate::not_yet(what),
        BindError::Invalid(what) => Failure::new(errors::INVALID, what),
    }
}
