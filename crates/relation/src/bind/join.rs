//! Binds a SELECT of several tables: which table is read first, what each is asked for, and how its rows join the others.
//!
//! Example: `SELECT * FROM posts p JOIN picked k USING (id) WHERE p.score > 3 AND k.n < p.score`, where `posts` has a million
//! rows and `picked` ten.
//!
//! ```text
//! slots   p: 0 id, 1 body, 2 score, 3 weight()    k: 4 id, 5 n, 6 weight()
//! step 1  picked, all rows
//! step 2  posts, rows with score > 3; key posts.id = picked.id, so id IN (the ten ids); then n < score
//! shown   0 (the id of both), 1, 2, 5
//! ```
//!
//! Invariants:
//! - Every condition of ON, USING and WHERE is used once: as a table's own, as a key, as the rest of a step, or at the end.
//! - A table behind LEFT JOIN is read behind all tables before it, and no condition of WHERE is used before the end if it names
//!   such a table: it sees the NULLs of rows without a partner. A table that MATCH searches is none of these: no row without a
//!   partner there fulfils MATCH.
//! - The order of steps changes neither the rows of the answer nor their order.

mod groups;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::aliases::Aliases;
use super::{
    AGGREGATE_IN_WHERE, BindError, IMPLICIT_LIMIT, ITEMS_OF_TAGS, Ids, Shown, TAGS_OF_STANDING,
    aliased, reads_items, with_ids,
};
use crate::expression::{
    BinaryOperator, Expression, GROUP_SLOT, Kept, Prepared, kept_as, shown_as,
};
use crate::limits::ALIASED_BYTES_MAX;
use crate::request::{Item, JoinedSelect, OrderBy, Output};
use crate::rows::{Groups, Key, Order};
use crate::schema::{ColumnType, TypeFamily};

/// Tables as bits.
type Tables = u32;

/// Of a table's rows, one in this many is expected to match a query text.
const ROWS_A_MATCH: u64 = 20;

/// Of a table's rows, one in this many is expected to fulfil a condition.
const ROWS_A_CONDITION: u64 = 10;

/// Name of the column of ids.
const ID_NAME: &str = "id";

/// Name of the slot behind a table's columns.
const WEIGHT: &str = "weight()";

/// A table that a join reads.
#[derive(Clone, Debug)]
pub struct JoinScope<'a> {
    /// The name before its columns.
    pub name: &'a str,
    /// All its columns; an `id` that the table implies is the first.
    pub columns: Vec<JoinColumn>,
    /// Number of leading columns that `*` shows.
    pub starred: usize,
    /// Whether rows have an implied `id`.
    pub has_id: bool,
    /// Number of its rows, or an estimate.
    pub rows: u64,
    /// Whether MATCH searches it, so that its rows have a weight.
    pub is_searched: bool,
    /// Whether its rows are standing queries: see [`TAGS_OF_STANDING`](super::TAGS_OF_STANDING).
    pub is_standing: bool,
}

/// A column of such a table.
#[derive(Clone, Debug)]
pub struct JoinColumn {
    /// Lower-case name.
    pub name: String,
    /// The type that its values are compared by.
    pub kind: ColumnType,
}

/// A SELECT of several tables, bound to them. Slots number the columns of all tables, one table behind the other; behind the
/// columns of a table is a slot for its weight.
#[derive(Clone, Debug)]
pub struct BoundJoin {
    /// Header and type of each column of the answer.
    pub headers: Vec<(String, Option<ColumnType>)>,
    /// What is known of the values of each column.
    pub kept: Vec<Kept>,
    /// The headers, with the table's name before each that does not tell which table's column it is: of the columns with one header
    /// the first has it alone, and `id` is the column that `id` alone means. Empty for one table.
    pub members: Vec<String>,
    /// The value of each column, over these slots.
    pub shown: Arc<[Shown]>,
    /// Whether the answer is the single row of COUNT(*).
    pub is_count: bool,
    /// How rows are grouped; `shown` and `order` are then over groups.
    pub groups: Option<Arc<Groups>>,
    /// ORDER BY. Empty: the rows of the first table in their order, for each the rows of the second, and so on.
    pub order: Arc<Order>,
    /// The tables in the order in which they are read.
    pub steps: Vec<JoinStep>,
    /// The conditions left for the end.
    pub filter: Option<Prepared>,
    /// First slot of each table in the order written, and the number of all slots.
    pub bases: Arc<[usize]>,
    /// Most rows of the answer; `None`: all.
    pub limit: Option<u64>,
    /// Whether nothing but the rule of a MATCH without LIMIT says so.
    pub is_implied: bool,
    /// Rows skipped first.
    pub offset: u64,
}

/// How one table joins those read before it.
#[derive(Clone, Debug)]
pub struct JoinStep {
    /// Index of the table in the order written.
    pub table: usize,
    /// Whether rows before it stay without a partner.
    pub is_left: bool,
    /// Condition on its rows alone; columns have no table before their name.
    pub own: Option<Expression>,
    /// Its columns whose values are needed, by index, rising.
    pub needed: Vec<usize>,
    /// Equalities with the tables before it.
    pub keys: Vec<JoinKey>,
    /// Conditions on its rows and those of the tables before it.
    pub rest: Option<Prepared>,
}

/// An equality of a step.
#[derive(Clone, Debug)]
pub struct JoinKey {
    /// The value of a row of the step's table.
    pub own: Prepared,
    /// The value of the rows before it.
    pub other: Prepared,
    /// Whether both values are texts; else one of them may be a number.
    pub are_texts: bool,
    /// The column whose values may be named to the table, so that it gives no other rows.
    pub column: Option<String>,
}

/// A condition and the tables that it names.
struct Conjunct {
    condition: Expression,
    tables: Tables,
}

struct Binder<'a> {
    select: &'a JoinedSelect,
    /// The SELECT list, with what aliases in its items stand for.
    items: Cow<'a, [Item]>,
    /// Bytes that aliases may still stand for.
    left: Cell<Option<usize>>,
    scopes: &'a [JoinScope<'a>],
    bases: Vec<usize>,
    /// Columns of USING, each with the first table that has it.
    using: Vec<(String, usize)>,
}

impl BoundJoin {
    /// Binds a SELECT to its tables, which are given in the order written. Cost: linear in the statement.
    ///
    /// # Errors
    /// `UnknownColumn`. `Invalid`: a name that several tables have, a table that is not in FROM, a weight without MATCH, an aggregate
    /// as a key of GROUP BY, or aliases that stand for too much.
    pub fn new(select: &JoinedSelect, scopes: &[JoinScope<'_>]) -> Result<BoundJoin, BindError> {
        let mut bases = vec![0];
        for scope in scopes {
            bases.push(bases[bases.len() - 1] + scope.columns.len() + 1);
        }
        let mut binder = Binder {
            select,
            items: Cow::Borrowed(&select.items),
            left: Cell::new(Some(ALIASED_BYTES_MAX)),
            scopes,
            bases,
            using: Vec::new(),
        };
        let on = binder.on()?;
        binder.items = binder.items_without_aliases()?;
        let (columns, order, groups) = match binder.groups()? {
            Some(bound) => (bound.columns, bound.order, Some(Arc::new(bound.groups))),
            None => (binder.shown()?, binder.order_by(&select.order)?, None),
        };
        let (headers, shown): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let (shown, kept): (Vec<Shown>, Vec<Kept>) = shown.into_iter().unzip();
        // The groups of one table have the page that its rows would have.
        let is_matching = matches!(&select.tables[..], [only] if only.matching.is_some());
        let is_page = groups.is_some() && is_matching;
        let (steps, filter) = binder.steps(on)?;
        let mut bound = BoundJoin {
            members: binder.members(&headers, &shown, groups.as_deref()),
            headers,
            kept,
            is_count: shown.iter().any(|shown| matches!(shown, Shown::Count)),
            shown: shown.into(),
            groups,
            order: Arc::new(order),
            steps,
            filter,
            bases: binder.bases.into(),
            limit: select.limit.or(is_page.then_some(IMPLICIT_LIMIT)),
            is_implied: is_page && select.limit.is_none(),
            offset: select.offset,
        };
        bound.note_needed();
        Ok(bound)
    }
}

/// The table of a slot, and its column there. `bases`: the first slot of each table, rising from 0.
pub(crate) fn table_of(bases: &[usize], slot: usize) -> (usize, usize) {
    let table = bases.partition_point(|base| *base <= slot) - 1;
    (table, slot - bases[table])
}

impl<'a> Binder<'a> {
    fn items_without_aliases(&self) -> Result<Cow<'a, [Item]>, BindError> {
        let select = self.select;
        let mut items = Cow::Borrowed(&*select.items);
        for (at, item) in select.items.iter().enumerate() {
            if let Item::Value {
                what: Output::Expression(expression),
                name,
            } = item
                && let Cow::Owned(replaced) = self.without_aliases(expression, at)?
            {
                items.to_mut()[at] = Item::Value {
                    what: Output::Expression(replaced),
                    name: name.clone(),
                };
            }
        }
        Ok(items)
    }
}

impl Binder<'_> {
    /// The conditions of ON and USING, table by table.
    fn on(&mut self) -> Result<Vec<Vec<Conjunct>>, BindError> {
        let mut all = Vec::with_capacity(self.scopes.len());
        for (at, table) in self.select.tables.iter().enumerate() {
            let mut conditions = Vec::new();
            for column in &table.using {
                conditions.push(self.using(at, column)?);
            }
            conditions.extend(table.on.iter().cloned().flat_map(Expression::conjuncts));
            let conjuncts = conditions.into_iter().map(|it| self.conjunct(it));
            all.push(conjuncts.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(all)
    }

    /// The equality that a column of USING means: that of table `at` and of the first table that has the column.
    fn using(&mut self, at: usize, column: &str) -> Result<Expression, BindError> {
        let known = self.using.iter().find(|(name, _)| name == column);
        let first = match known {
            Some((_, first)) => *first,
            None => {
                let first = self.only(column, 0..at)?;
                self.using.push((column.to_owned(), first));
                first
            }
        };
        self.only(column, at..at + 1)?;
        let of = |table: usize| {
            let name = format!("{}.{column}", self.scopes[table].name);
            Box::new(Expression::Column(name))
        };
        Ok(Expression::Binary(BinaryOperator::Equal, of(at), of(first)))
    }

    /// The only one of these tables that has a column.
    fn only(&self, column: &str, tables: std::ops::Range<usize>) -> Result<usize, BindError> {
        let mut having = tables.filter(|table| self.place(*table, column).is_some());
        let first = having.next();
        match having.next() {
            Some(_) => Err(BindError::Invalid(format!(
                "column '{column}' is ambiguous: write the name of its table before it"
            ))),
            None => first.ok_or_else(|| BindError::UnknownColumn(column.to_owned())),
        }
    }

    /// Index of a column in a table.
    fn place(&self, table: usize, column: &str) -> Option<usize> {
        let scope = &self.scopes[table];
        match column {
            WEIGHT if scope.is_searched => Some(scope.columns.len()),
            _ => scope.columns.iter().position(|it| it.name == column),
        }
    }

    /// The table that a column without a table's name before it is of: the only one that has it; of several with an `id`, which all
    /// kinds of tables may have, the first, as in Manticore.
    fn table_with(&self, column: &str) -> Result<usize, BindError> {
        let all = 0..self.scopes.len();
        let first = || {
            all.clone()
                .find(|table| self.place(*table, ID_NAME).is_some())
        };
        match column {
            ID_NAME => first().ok_or_else(|| BindError::UnknownColumn(column.to_owned())),
            _ => self.only(column, all),
        }
    }

    /// Table and index of a column by its name, which may have that of its table before it.
    fn find(&self, name: &str) -> Result<(usize, usize), BindError> {
        for (table, scope) in self.scopes.iter().enumerate() {
            let rest = name.strip_prefix(scope.name);
            if let Some(column) = rest.and_then(|rest| rest.strip_prefix('.')) {
                if column == WEIGHT && !scope.is_searched {
                    let message = format!("weight({}) needs a MATCH on that table", scope.name);
                    return Err(BindError::Invalid(message));
                }
                let place = self.place(table, column);
                let place = place.ok_or_else(|| BindError::UnknownColumn(name.to_owned()))?;
                return Ok((table, place));
            }
        }
        let used = self.using.iter().find(|(used, _)| used == name);
        let table = match used {
            Some((_, first)) => *first,
            None => self.table_with(name)?,
        };
        let place = self.place(table, name);
        Ok((
            table,
            place.ok_or_else(|| BindError::UnknownColumn(name.to_owned()))?,
        ))
    }

    /// Slot and type of a column.
    fn slot(&self, name: &str) -> Result<(usize, ColumnType), BindError> {
        let (table, place) = self.find(name)?;
        let column = self.scopes[table].columns.get(place);
        let kind = column.map_or(ColumnType::Int, |column| column.kind);
        Ok((self.bases[table] + place, kind))
    }

    /// Whether rows have an id of their own: those of one table do, if it has ids.
    fn has_id(&self) -> bool {
        matches!(self.scopes, [scope] if scope.columns.iter().any(|column| column.name == "id"))
    }

    /// Prepares an expression over the slots of joined rows.
    fn prepare(&self, expression: &Expression) -> Result<Prepared, BindError> {
        self.refuse_tags(expression)?;
        self.resolve(expression)
    }

    /// Refuses what reads the items of standing queries' tags.
    fn refuse_tags(&self, expression: &Expression) -> Result<(), BindError> {
        let is_tags = |name: &str| match self.find(name) {
            Ok((table, _)) => {
                let bare = name.rsplit('.').next();
                self.scopes[table].is_standing && bare == Some(TAGS_OF_STANDING)
            }
            Err(_) => false,
        };
        match reads_items(expression, &is_tags) {
            true => Err(BindError::NotYet(ITEMS_OF_TAGS)),
            false => Ok(()),
        }
    }

    /// As [`Binder::prepare`], of a condition that the table itself may answer.
    fn resolve(&self, expression: &Expression) -> Result<Prepared, BindError> {
        let mut refused = None;
        expression.each_column(&mut |name| refused = refused.take().or(self.slot(name).err()));
        if let Some(error) = refused {
            return Err(error);
        }
        Prepared::typed(&with_ids(expression, self.has_id()), &|name| {
            self.slot(name).ok()
        })
        .map_err(BindError::from)
    }

    /// The expression with what aliases of items stand for, of those before `before`. A name of a column is no alias.
    fn without_aliases<'e>(
        &self,
        expression: &'e Expression,
        before: usize,
    ) -> Result<Cow<'e, Expression>, BindError> {
        let is_column = |name: &str| !matches!(self.slot(name), Err(BindError::UnknownColumn(_)));
        let aliases = Aliases::new(&self.select.items, &is_column, &self.left);
        aliases.before(before).replace(expression)
    }

    /// WHERE, with what aliases in it stand for.
    fn filter(&self) -> Result<Option<Expression>, BindError> {
        let Some(filter) = &self.select.filter else {
            return Ok(None);
        };
        let filter = self.without_aliases(filter, self.select.items.len())?;
        if filter.has_aggregate() {
            return Err(BindError::Invalid(AGGREGATE_IN_WHERE.to_owned()));
        }
        Ok(Some(filter.into_owned()))
    }

    fn conjunct(&self, condition: Expression) -> Result<Conjunct, BindError> {
        let prepared = self.resolve(&condition)?;
        Ok(Conjunct {
            condition,
            tables: self.tables(&prepared),
        })
    }

    fn tables(&self, prepared: &Prepared) -> Tables {
        let bits = prepared
            .slots()
            .iter()
            .map(|slot| 1 << table_of(&self.bases, *slot).0);
        bits.fold(0, |all, bit: Tables| all | bit)
    }
}

/// A column of the answer: its header and type; what is shown, and what is known of it.
type Column = ((String, Option<ColumnType>), (Shown, Kept));

impl Binder<'_> {
    fn shown(&self) -> Result<Vec<Column>, BindError> {
        let mut shown = Vec::new();
        for item in &*self.items {
            self.show(item, &mut shown)?;
        }
        Ok(shown)
    }

    fn show(&self, item: &Item, shown: &mut Vec<Column>) -> Result<(), BindError> {
        match item {
            Item::Star => shown.extend(self.star().into_iter().map(|slot| self.column(slot))),
            Item::TableStar(name) => {
                let table = self.scopes.iter().position(|scope| scope.name == name);
                let table = table
                    .ok_or_else(|| BindError::Invalid(format!("no table '{name}' in FROM")))?;
                let first = self.bases[table];
                let slots = first..first + self.scopes[table].starred;
                shown.extend(slots.map(|slot| self.column(slot)));
            }
            Item::Value { what, name } => {
                let (kind, shows) = self.value(what)?;
                shown.push(((name.clone(), kind), shows));
            }
        }
        Ok(())
    }

    fn column(&self, slot: usize) -> Column {
        let (table, place) = table_of(&self.bases, slot);
        let column = &self.scopes[table].columns[place];
        let kind = Some(column.kind);
        let shows = (Shown::Slot(slot), Kept::of(kind));
        ((column.name.clone(), kind), shows)
    }

    fn value(&self, what: &Output) -> Result<(Option<ColumnType>, (Shown, Kept)), BindError> {
        let (kind, shown) = match what {
            Output::Count => (Some(ColumnType::Bigint), Shown::Count),
            Output::Weight => (Some(ColumnType::Int), Shown::Slot(self.weight()?)),
            Output::Expression(Expression::Column(name)) => {
                let (slot, kind) = self.slot(name)?;
                (Some(kind), Shown::Slot(slot))
            }
            Output::Expression(expression) => {
                let columns = |name: &str| Some(self.slot(name).ok()?.1);
                let shown = Shown::Computed(self.prepare(expression)?.stored());
                let kind = shown_as(expression, &columns);
                let kept = kind.map_or_else(|| kept_as(expression, &columns), Kept::Of);
                return Ok((kind, (shown, kept)));
            }
        };
        Ok((kind, (shown, Kept::of(kind))))
    }

    /// The slot of `weight()`: the weight of the first table that MATCH searches.
    fn weight(&self) -> Result<usize, BindError> {
        let table = self.scopes.iter().position(|scope| scope.is_searched);
        let table = table.ok_or_else(|| BindError::Invalid("weight() needs a MATCH".to_owned()))?;
        Ok(self.bases[table + 1] - 1)
    }

    /// The slots of `*`: the columns of USING once, then the other columns of each table.
    fn star(&self) -> Vec<usize> {
        let used = self.using.iter();
        let used =
            used.filter_map(|(name, table)| Some(self.bases[*table] + self.place(*table, name)?));
        let mut slots: Vec<usize> = used.collect();
        slots.sort_unstable();
        for (table, scope) in self.scopes.iter().enumerate() {
            let is_used = |name: &String| {
                let is_first = self
                    .using
                    .iter()
                    .any(|(used, first)| used == name && *first == table);
                is_first || self.select.tables[table].using.contains(name)
            };
            let columns = scope.columns.iter().take(scope.starred).enumerate();
            let others = columns.filter(|(_, column)| !is_used(&column.name));
            slots.extend(others.map(|(at, _)| self.bases[table] + at));
        }
        slots
    }

    /// See [`BoundJoin::members`].
    fn members(
        &self,
        headers: &[(String, Option<ColumnType>)],
        shown: &[Shown],
        groups: Option<&Groups>,
    ) -> Vec<String> {
        if self.scopes.len() == 1 {
            return Vec::new();
        }
        let mut known: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
        let columns = headers.iter().zip(shown).map(|((header, _), shown)| {
            let column = self.column_of(shown, groups);
            let is_its_name = |(table, place): &(usize, usize)| {
                let column = self.scopes[*table].columns.get(*place);
                column.is_some_and(|column| column.name.eq_ignore_ascii_case(header))
            };
            let of = column.filter(is_its_name);
            let is_other = |of: (usize, usize)| header == ID_NAME && self.find(ID_NAME) != Ok(of);
            match of {
                Some(of) if is_other(of) || *known.entry(header).or_insert(of) != of => {
                    format!("{}.{header}", self.scopes[of.0].name)
                }
                Some(_) | None => header.clone(),
            }
        });
        columns.collect()
    }

    /// Table and index of the column that is shown, also as a key of GROUP BY; `None`: it is none.
    fn column_of(&self, shown: &Shown, groups: Option<&Groups>) -> Option<(usize, usize)> {
        let (Shown::Slot(slot) | Shown::Stored(slot, _)) = shown else {
            return None;
        };
        let slot = match slot.checked_sub(GROUP_SLOT) {
            None => *slot,
            Some(at) => {
                let key = groups?.keys.get(at)?;
                *key.slots().first().filter(|slot| key.is_slot(**slot))?
            }
        };
        Some(table_of(&self.bases, slot))
    }

    /// An order of rows.
    fn order_by(&self, written: &[OrderBy]) -> Result<Order, BindError> {
        let mut keys = Vec::with_capacity(written.len());
        for OrderBy { key, descending } in written {
            let prepared = match aliased(key, &self.items) {
                Output::Count => return Err(BindError::NotYet("count(*) as a key of ORDER BY")),
                Output::Weight => Prepared::of_slot(self.weight()?),
                Output::Expression(expression) => self.prepare(expression)?,
            };
            keys.push((Key::Computed(prepared), *descending));
        }
        Ok(Order::new(keys))
    }
}

/// A condition that is used when the tables that it names are read, and not before step `from`.
struct Waiting {
    conjunct: Conjunct,
    from: usize,
}

impl Binder<'_> {
    /// The steps, and the conditions left for the end.
    fn steps(
        &self,
        on: Vec<Vec<Conjunct>>,
    ) -> Result<(Vec<JoinStep>, Option<Prepared>), BindError> {
        let written = self.filter()?.into_iter().flat_map(Expression::conjuncts);
        let written: Vec<Conjunct> = written
            .map(|it| self.conjunct(it))
            .collect::<Result<_, _>>()?;
        let is_left = |table: &usize| self.is_left(*table);
        let left: Tables = (0..self.scopes.len())
            .filter(is_left)
            .fold(0, |all, at| all | 1 << at);
        let leading = (0..self.scopes.len())
            .find(is_left)
            .unwrap_or(self.scopes.len());
        let (early, last): (Vec<_>, Vec<_>) = written
            .into_iter()
            .partition(|conjunct| conjunct.tables & left == 0);
        // ON of the leading inner joins is as good as WHERE; that of a later one is used at its own step.
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut own_on: Vec<Vec<Conjunct>> = Vec::new();
        waiting.extend(
            early
                .into_iter()
                .map(|conjunct| Waiting { conjunct, from: 0 }),
        );
        for (table, conjuncts) in on.into_iter().enumerate() {
            own_on.push(Vec::new());
            match table {
                _ if is_left(&table) => own_on[table] = conjuncts,
                _ if table < leading => waiting.extend(
                    conjuncts
                        .into_iter()
                        .map(|conjunct| Waiting { conjunct, from: 0 }),
                ),
                _ => waiting.extend(conjuncts.into_iter().map(|conjunct| Waiting {
                    conjunct,
                    from: table,
                })),
            }
        }
        let mut steps = Vec::with_capacity(self.scopes.len());
        let mut placed: Tables = 0;
        while steps.len() < self.scopes.len() {
            let table = match steps.len() < leading {
                true => self.next(leading, placed, &waiting),
                false => steps.len(),
            };
            let now = placed | 1 << table;
            let conjuncts = match is_left(&table) {
                true => std::mem::take(&mut own_on[table]),
                false => {
                    let is_ready =
                        |it: &mut Waiting| it.conjunct.tables & !now == 0 && it.from <= steps.len();
                    waiting
                        .extract_if(.., is_ready)
                        .map(|it| it.conjunct)
                        .collect()
                }
            };
            steps.push(self.step(table, placed, conjuncts)?);
            placed = now;
        }
        let filter = last
            .into_iter()
            .chain(waiting.into_iter().map(|it| it.conjunct));
        Ok((steps, self.all_of(filter.map(|it| it.condition).collect())?))
    }

    /// Whether rows without a partner in this table stay. Behind a MATCH of it none does, as behind any condition of WHERE that NULL
    /// does not fulfil: LEFT JOIN is then as good as JOIN.
    fn is_left(&self, table: usize) -> bool {
        self.select.tables[table].is_left && !self.scopes[table].is_searched
    }

    /// The table to read next, of the first `leading`: one that an equality joins to those placed, and of these the smallest.
    fn next(&self, leading: usize, placed: Tables, waiting: &[Waiting]) -> usize {
        let cost = |table: &usize| {
            let bit: Tables = 1 << table;
            let is_joined = placed != 0
                && waiting.iter().any(|it| {
                    let tables = it.conjunct.tables;
                    tables & bit != 0 && tables & placed != 0 && tables & !(placed | bit) == 0
                });
            let own = waiting.iter().filter(|it| it.conjunct.tables == bit);
            let rows = own.map(|it| self.rows_with(*table, &it.conjunct.condition));
            let rows = rows.min().unwrap_or(self.scopes[*table].rows);
            let rows = match self.scopes[*table].is_searched {
                true => rows / ROWS_A_MATCH,
                false => rows,
            };
            (!is_joined, rows, *table)
        };
        let left = (0..leading).filter(|table| placed >> table & 1 == 0);
        left.min_by_key(cost).unwrap_or(0)
    }

    /// An estimate of the rows of a table for which a condition is true.
    fn rows_with(&self, table: usize, condition: &Expression) -> u64 {
        let scope = &self.scopes[table];
        let ids = scope
            .has_id
            .then(|| Ids::of(&self.without_table(condition.clone())))
            .flatten();
        match ids {
            Some(ids) => ids.ids.len() as u64,
            None => scope.rows / ROWS_A_CONDITION,
        }
    }

    fn step(
        &self,
        table: usize,
        placed: Tables,
        conjuncts: Vec<Conjunct>,
    ) -> Result<JoinStep, BindError> {
        let bit: Tables = 1 << table;
        let (mut own, mut keys, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for Conjunct { condition, tables } in conjuncts {
            let weight = self.bases[table + 1] - 1;
            let is_own = tables == bit && !self.resolve(&condition)?.slots().contains(&weight);
            match self.key(table, placed, &condition)? {
                _ if is_own => own.push(self.without_table(condition)),
                Some(key) => keys.push(key),
                None => rest.push(condition),
            }
        }
        // The key that names ids comes first: its look-up is the cheapest.
        keys.sort_by_key(|key: &JoinKey| {
            (key.column.as_deref() != Some("id"), key.column.is_none())
        });
        Ok(JoinStep {
            table,
            is_left: self.is_left(table),
            own: (!own.is_empty()).then(|| Expression::all_of(own)),
            needed: Vec::new(),
            keys,
            rest: self.all_of(rest)?,
        })
    }

    /// The key that a condition gives: an equality of the table with those placed.
    fn key(
        &self,
        table: usize,
        placed: Tables,
        condition: &Expression,
    ) -> Result<Option<JoinKey>, BindError> {
        let Expression::Binary(BinaryOperator::Equal, left, right) = condition else {
            return Ok(None);
        };
        let Some([of_left, of_right]) = self.prepare(condition)?.sides() else {
            return Ok(None);
        };
        let ways = [
            (left, &of_left, right, &of_right),
            (right, &of_right, left, &of_left),
        ];
        for (own, prepared, other, beside) in ways {
            let (prepared, beside) = (prepared.clone(), beside.clone());
            let named = self.tables(&beside);
            if self.tables(&prepared) != 1 << table || named == 0 || named & !placed != 0 {
                continue;
            }
            let (kind, other_kind) = (self.kind(own), self.kind(other));
            let families = [kind, other_kind].map(|kind| kind.map(ColumnType::family));
            if families.contains(&Some(TypeFamily::Set)) {
                return Ok(None);
            }
            // A number beside a date is read as one.
            let is_text = |at: usize| {
                let number = families[at].and_then(TypeFamily::compares_as_number);
                number == Some(false) || families[1 - at] == Some(TypeFamily::Date)
            };
            // A column that is read as something else, such as numbers beside a moved date, is not looked up by its own values.
            let is_bare = prepared.slot().is_some();
            let column = match &**own {
                Expression::Column(_)
                    if is_bare && kind.is_some_and(|of| names_values(of, other_kind)) =>
                {
                    let (_, place) = table_of(&self.bases, prepared.slots()[0]);
                    self.scopes[table]
                        .columns
                        .get(place)
                        .map(|column| column.name.clone())
                }
                _ => None,
            };
            return Ok(Some(JoinKey {
                own: prepared,
                other: beside,
                are_texts: is_text(0) && is_text(1),
                column,
            }));
        }
        Ok(None)
    }

    /// The type of a column; `None` for another expression.
    fn kind(&self, of: &Expression) -> Option<ColumnType> {
        match of {
            Expression::Column(name) => self.slot(name).ok().map(|(_, kind)| kind),
            _ => None,
        }
    }

    /// A condition on one table, with its columns by their names alone.
    fn without_table(&self, condition: Expression) -> Expression {
        let bare = |name: String| match self.find(&name) {
            Ok((table, place)) => self.scopes[table]
                .columns
                .get(place)
                .map_or(name, |it| it.name.clone()),
            Err(_) => name,
        };
        condition.map_columns(&mut |column| match column {
            Expression::Column(name) => Expression::Column(bare(name)),
            Expression::Path { column, steps } => Expression::Path {
                column: bare(column),
                steps,
            },
            other => other,
        })
    }

    fn all_of(&self, conditions: Vec<Expression>) -> Result<Option<Prepared>, BindError> {
        if conditions.is_empty() {
            return Ok(None);
        }
        self.prepare(&Expression::all_of(conditions)).map(Some)
    }
}

/// Whether the values of a column are those that it is compared by with one of another type, so that its rows are found by them.
fn names_values(kind: ColumnType, other: Option<ColumnType>) -> bool {
    let named = kind.family().names_values(other.map(ColumnType::family));
    named.unwrap_or(other == Some(kind))
}

impl BoundJoin {
    /// Notes for each step which columns of its table anything but its own condition reads.
    fn note_needed(&mut self) {
        let mut slots = BTreeSet::new();
        for shown in self.shown.iter() {
            match shown {
                Shown::Slot(slot) | Shown::Stored(slot, _) => _ = slots.insert(*slot),
                Shown::Computed(prepared) => slots.extend(prepared.slots()),
                Shown::Weight | Shown::Count => {}
            }
        }
        slots.extend(self.order.slots());
        if let Some(groups) = &self.groups {
            let aggregates = groups.aggregates.iter().flat_map(|of| &of.arguments);
            let over_rows = groups.keys.iter().chain(aggregates).chain(&groups.having);
            slots.extend(over_rows.flat_map(|prepared| prepared.slots()));
            slots.extend(groups.within.slots());
        }
        for step in &self.steps {
            let keys = step.keys.iter().flat_map(|key| [&key.own, &key.other]);
            slots.extend(keys.chain(&step.rest).flat_map(|prepared| prepared.slots()));
        }
        slots.extend(self.filter.iter().flat_map(|prepared| prepared.slots()));
        for step in &mut self.steps {
            let (first, weight) = (self.bases[step.table], self.bases[step.table + 1] - 1);
            step.needed = slots
                .range(first..weight)
                .map(|slot| slot - first)
                .collect();
        }
    }
}
