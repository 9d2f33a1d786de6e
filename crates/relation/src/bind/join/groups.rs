//! Binds GROUP BY, aggregates and HAVING: expressions over rows become expressions over groups.
//!
//! Example: `SELECT city, COUNT(*) + 1 FROM t GROUP BY city HAVING SUM(n) > 5` has the key `city` and the aggregates `count(*)` and
//! `sum(n)`.
//!
//! ```text
//! shown    slot GROUP_SLOT; slot GROUP_SLOT + 1 plus 1
//! having   slot GROUP_SLOT + 2 > 5
//! ```
//!
//! An expression that equals a key reads the key. Any other column is that of the group's first row, as in Sphinx. A key that may
//! be a list, of a set or in JSON, reads as the list of that row, but in a FACET as the item; GROUPBY() is the item.

use super::{Binder, Column, WEIGHT};
use crate::bind::{BindError, Shown, with_ids};
use crate::expression::{
    AggregateGives, AggregateKind, BinaryOperator, Expression, Function, GROUP_SLOT, Kept, Kind,
    MOVED_DATE, Prepared, given_kinds, kept_as, kind_of, read_beside, refuse_lost, shown_as,
    zone_of,
};
use crate::limits::{ALIASED_BYTES_MAX, EXPRESSION_DEPTH_MAX};
use crate::request::{Grouping, Item, OrderBy, Output};
use crate::rows::{Aggregate, Groups, Key, Order};
use crate::schema::{ColumnType, NumberForm, TypeFamily};
use crate::value::Value;
use std::sync::Arc;

/// Name of GROUPBY() inside an expression.
const GROUP_KEY: &str = "groupby()";

/// The columns of an answer of groups, their ORDER BY, and how the groups are made.
pub(super) struct BoundGroups {
    pub(super) columns: Vec<Column>,
    pub(super) order: Order,
    pub(super) groups: Groups,
}

/// A key of GROUP BY.
struct GroupKey {
    written: Expression,
    prepared: Prepared,
    kind: Option<ColumnType>,
    /// Whether its values are of several kinds, or moments. The key has lost that, so what means the key is worked out of the group's
    /// first row.
    is_mixed: bool,
}

impl GroupKey {
    /// Whether a row may belong to several groups by this key.
    fn is_list(&self) -> bool {
        self.kind.is_some_and(|kind| !kind.family().is_single())
            || matches!(self.written, Expression::Path { .. })
    }

    /// Whether an expression over groups means the key. `shows_items`: also where the key may be a list.
    fn stands_for(&self, of: &Expression, shows_items: bool) -> bool {
        !self.is_mixed && (shows_items || !self.is_list()) && self.written == *of
    }
}

/// The keys, and the aggregates found so far.
struct GroupBinder<'b, 'a> {
    of: &'b Binder<'a>,
    keys: Vec<GroupKey>,
    /// Whether a key that is a list means the item that the group is of.
    shows_items: bool,
    aggregates: Vec<(Expression, Aggregate)>,
    /// Memory that what aliases stand for may still take, in bytes.
    left: usize,
}

fn expression_of(output: &Output) -> Expression {
    match output {
        Output::Expression(expression) => expression.clone(),
        Output::Weight => Expression::Column(WEIGHT.to_owned()),
        Output::Count => Expression::Aggregate(AggregateKind::Rows, Vec::new()),
    }
}

impl Binder<'_> {
    /// The groups of the SELECT; `None` if it has none. COUNT(*) alone is no group.
    pub(super) fn groups(&self) -> Result<Option<BoundGroups>, BindError> {
        let is_aggregate = |output: &Output| match output {
            Output::Expression(expression) => expression.has_aggregate(),
            Output::Weight | Output::Count => false,
        };
        let items = &self.items;
        let outputs = || {
            let values = items.iter().filter_map(|item| match item {
                Item::Value { what, .. } => Some(what),
                Item::Star | Item::TableStar(_) => None,
            });
            values.chain(self.select.order.iter().map(|order| &order.key))
        };
        let counts = outputs().filter(|output| matches!(output, Output::Count));
        let counts = counts.count();
        let all = items.len() + self.select.order.len();
        let is_grouped = self.select.grouping.is_some()
            || outputs().any(is_aggregate)
            || counts > 0 && counts < all;
        match is_grouped {
            true => self.grouped().map(Some),
            false => Ok(None),
        }
    }

    fn grouped(&self) -> Result<BoundGroups, BindError> {
        let without = Grouping::default();
        let grouping = self.select.grouping.as_ref().unwrap_or(&without);
        let keys = grouping.keys.iter().map(|key| self.group_key(key));
        let mut binder = GroupBinder {
            of: self,
            keys: keys.collect::<Result<_, _>>()?,
            shows_items: grouping.shows_items,
            aggregates: Vec::new(),
            left: ALIASED_BYTES_MAX,
        };
        let columns = binder.columns()?;
        let mut order = Vec::with_capacity(self.select.order.len());
        let mut ordered_by: Vec<Prepared> = Vec::with_capacity(self.select.order.len());
        for OrderBy { key, descending } in &self.select.order {
            let key = self.without_any_alias(&expression_of(key))?;
            let key = binder.over_group(key, true)?;
            ordered_by.push(key.clone());
            order.push((Key::Computed(key), *descending));
        }
        let after = grouping.after.as_deref();
        let after = after.map(|after| binder.after(after)).transpose()?;
        let having = grouping.having.as_ref();
        let having = having.map(|having| {
            let having = self.without_any_alias(having)?;
            binder.over_group(having, true)
        });
        let having = having.transpose()?;
        let rows_each = grouping.rows_each.unwrap_or(1);
        let needs_firsts = binder.needs_firsts(&columns, &ordered_by, having.as_ref());
        let needs_weights = needs_firsts || binder.has_weights();
        Ok(BoundGroups {
            columns,
            order: Order::new(order),
            groups: Groups {
                having,
                after,
                within: Arc::new(self.order_by(&grouping.within)?),
                rows_each: usize::try_from(rows_each).unwrap_or(usize::MAX),
                keys: binder.keys.into_iter().map(|key| key.prepared).collect(),
                aggregates: binder.aggregates.into_iter().map(|(_, it)| it).collect(),
                needs_firsts,
                needs_weights,
            },
        })
    }

    fn without_any_alias(&self, written: &Expression) -> Result<Expression, BindError> {
        let replaced = self.without_aliases(written, self.items.len())?;
        Ok(replaced.into_owned())
    }

    /// A key as written, or the item of the SELECT list that it names. A column goes before an alias.
    fn group_key(&self, written: &Expression) -> Result<GroupKey, BindError> {
        let mut written = written.clone();
        if let Expression::Column(name) = &written
            && self.slot(name).is_err()
            && let Some(item) = named(&self.items, name)
        {
            written = expression_of(item);
        }
        let written = self.without_any_alias(&written)?;
        if written.has_aggregate() {
            let message = "GROUP BY cannot have an aggregate: it is made of groups";
            return Err(BindError::Invalid(message.to_owned()));
        }
        let (prepared, kind) = match &written {
            Expression::Column(name) => {
                let (slot, kind) = self.slot(name)?;
                (Prepared::of_slot(slot), Some(kind))
            }
            other => {
                let kind = kind_of(other, &|name| Some(self.slot(name).ok()?.1));
                (self.prepare(other)?, kind)
            }
        };
        let kinds = given_kinds(&written, &|name| Some(self.slot(name).ok()?.1));
        let is_moment = zone_of(&written).is_some();
        Ok(GroupKey {
            written,
            prepared,
            kind,
            is_mixed: kinds.is_some() || is_moment,
        })
    }
}

/// The item of an alias.
fn named<'i>(items: &'i [Item], wanted: &str) -> Option<&'i Output> {
    items.iter().find_map(|item| match item {
        Item::Value { what, name } => name.eq_ignore_ascii_case(wanted).then_some(what),
        Item::Star | Item::TableStar(_) => None,
    })
}

fn too_large() -> BindError {
    BindError::Invalid(format!(
        "aliases stand for expressions of more than {ALIASED_BYTES_MAX} bytes or {EXPRESSION_DEPTH_MAX} levels"
    ))
}

fn key_name(at: usize) -> String {
    format!("key({at})")
}

fn aggregate_name(at: usize) -> String {
    format!("aggregate({at})")
}

impl GroupBinder<'_, '_> {
    fn columns(&mut self) -> Result<Vec<Column>, BindError> {
        let mut columns = Vec::new();
        for item in &*self.of.items {
            match item {
                Item::Star | Item::TableStar(_) => self.of.show(item, &mut columns)?,
                Item::Value { what, name } => {
                    let (kind, shown, kept) = self.value(what)?;
                    let kept = kind.map_or(kept, Kept::Of);
                    columns.push(((name.clone(), kind), (shown, kept)));
                }
            }
        }
        Ok(columns)
    }

    fn value(&mut self, what: &Output) -> Result<(Option<ColumnType>, Shown, Kept), BindError> {
        let written = expression_of(what);
        let kind = if let Expression::Aggregate(kind, _) = &written {
            (kind.gives() == AggregateGives::Count).then_some(ColumnType::Bigint)
        } else if let Expression::Column(name) = &written {
            match name == WEIGHT {
                true => Some(ColumnType::Int),
                false => self.of.slot(name).ok().map(|(_, kind)| kind),
            }
        } else {
            None
        };
        let is_item = |key: &GroupKey| key.is_list() && key.stands_for(&written, self.shows_items);
        let of_column = |name: &str| Some(self.of.slot(name).ok()?.1);
        let (kind, kept) = match self.keys.iter().any(is_item) {
            true => (None, Kept::Unknown),
            false => (kind, kept_as(&written, &of_column)),
        };
        let extreme = self.extreme(&written).or(shown_as(&written, &of_column));
        let replaced = self.replaced(written, false)?;
        let Expression::Column(name) = &replaced else {
            let shown = Shown::Computed(self.prepare(&replaced)?.stored());
            return Ok((kind.or(extreme), shown, kept));
        };
        let slot = self.slot(name)?;
        Ok(match extreme {
            Some(kind) => (Some(kind), Shown::Stored(slot.0, kind), kept),
            None => (kind, Shown::Slot(slot.0), kept),
        })
    }

    /// The type of MIN and MAX of a column that is shown otherwise than it is compared: `10:11:12`, not 101112.
    fn extreme(&self, written: &Expression) -> Option<ColumnType> {
        let kind = match written.of_extreme()? {
            Expression::Column(name) => self.of.slot(name).ok()?.1,
            of => return shown_as(of, &|name| Some(self.of.slot(name).ok()?.1)),
        };
        let family = kind.family();
        let is_padded = family.number_form() == NumberForm::Year;
        (is_padded || family.moment().is_some() || family.has_comparable()).then_some(kind)
    }

    /// The values behind which a page of groups begins, one for each key, as the keys compare.
    ///
    /// # Errors
    /// `Constant`: no group of the key can have the value.
    fn after(&self, after: &[Value]) -> Result<Vec<Value>, BindError> {
        if self.keys.iter().any(|key| key.is_mixed) {
            let message = "after: pages of groups need keys whose values are of one kind";
            return Err(BindError::Invalid(message.to_owned()));
        }
        let values = self.keys.iter().zip(after);
        let values = values.map(|(key, value)| read_beside(value, &key.written, key.kind));
        values
            .collect::<Result<_, _>>()
            .map_err(|error| BindError::Constant(format!("after: {error}")))
    }

    /// Whether the answer shows which rows come first. It does not if keys and aggregates are all that is shown, if equal keys look
    /// equal in all rows, and if ORDER BY leaves no two groups equal.
    fn needs_firsts(
        &self,
        columns: &[Column],
        order: &[Prepared],
        having: Option<&Prepared>,
    ) -> bool {
        let of_group = |of: &Prepared| of.slots().iter().all(|slot| *slot >= GROUP_SLOT);
        let is_shown = |(_, (shown, _)): &Column| match shown {
            Shown::Slot(slot) | Shown::Stored(slot, _) => *slot >= GROUP_SLOT,
            Shown::Computed(value) => of_group(value),
            Shown::Weight | Shown::Count => false,
        };
        let is_key = |of: &Prepared, at: usize| of.is_slot(GROUP_SLOT + at);
        let ordered = |at: usize| order.iter().any(|of| is_key(of, at));
        !(columns.iter().all(is_shown)
            && order.iter().chain(having).all(of_group)
            && self.keys.iter().all(|key| self.is_of_integers(key))
            && (0..self.keys.len()).all(ordered))
    }

    /// Whether keys or arguments of aggregates have the weights of rows.
    fn has_weights(&self) -> bool {
        let is_weight = |slot: &usize| self.of.bases.contains(&(slot + 1));
        let arguments = self.aggregates.iter().flat_map(|(_, of)| &of.arguments);
        let mut inputs = self.keys.iter().map(|key| &key.prepared).chain(arguments);
        inputs.any(|input| input.slots().iter().any(is_weight))
    }

    /// Whether a key is a whole number in every row.
    fn is_of_integers(&self, key: &GroupKey) -> bool {
        let mut are_integers = key.prepared.is_of_whole_numbers();
        key.written.each_column(&mut |name| {
            let kind = self.of.slot(name).map(|(_, kind)| kind);
            are_integers &= kind.is_ok_and(|kind| kind.family().is_integer());
        });
        are_integers
    }

    /// An expression over groups.
    fn over_group(&mut self, written: Expression, aliases: bool) -> Result<Prepared, BindError> {
        let replaced = self.replaced(written, aliases)?;
        self.prepare(&replaced)
    }

    /// The expression with names of slots for what groups give. `aliases`: a name may be that of an item, and is so before it is
    /// that of a column.
    fn replaced(&mut self, mut of: Expression, aliases: bool) -> Result<Expression, BindError> {
        let means = |key: &GroupKey| key.stands_for(&of, self.shows_items);
        if let Some(at) = self.keys.iter().position(means) {
            return Ok(Expression::Column(key_name(at)));
        }
        if let Expression::Column(name) = &of {
            if name == GROUP_KEY {
                return self.group_by();
            }
            let item = named(&self.of.items, name).map(expression_of);
            match item.filter(|item| aliases && *item != of) {
                None => return Ok(of),
                Some(item) => {
                    let left = self.left.checked_sub(item.memory());
                    self.left = left.ok_or_else(too_large)?;
                    return self.replaced(item, false);
                }
            }
        }
        if let Expression::Aggregate(..) = &of {
            return self.aggregate(of);
        }
        if matches!(of, Expression::Each { .. }) {
            self.of.refuse_tags(&of)?;
        }
        if let Expression::Each { list, .. } = &mut of {
            // The condition is about the items of the list.
            let taken = std::mem::replace(&mut **list, Expression::Literal(Value::Null));
            **list = self.replaced(taken, aliases)?;
            return Ok(of);
        }
        for part in of.parts_mut() {
            let taken = std::mem::replace(part, Expression::Literal(Value::Null));
            *part = self.replaced(taken, aliases)?;
        }
        Ok(of)
    }

    /// The keys, with commas between them if there are several.
    fn group_by(&self) -> Result<Expression, BindError> {
        let keys = self.keys.iter().enumerate();
        let mut keys = keys.map(|(at, key)| match key.is_mixed {
            true => key.written.clone(),
            false => Expression::Column(key_name(at)),
        });
        match self.keys.len() {
            0 => Err(BindError::Invalid("groupby() needs GROUP BY".to_owned())),
            1 => Ok(keys.next().unwrap_or(Expression::Literal(Value::Null))),
            _ => {
                let comma = Expression::Literal(Value::Str(",".to_owned()));
                let parts = std::iter::once(comma).chain(keys).collect();
                Ok(Expression::Call(Function::ConcatWs, parts))
            }
        }
    }

    /// The slot of an aggregate, which is counted once however often it is written.
    fn aggregate(&mut self, written: Expression) -> Result<Expression, BindError> {
        let known = self.aggregates.iter().position(|(of, _)| *of == written);
        let at = match known {
            Some(at) => at,
            None => {
                let Expression::Aggregate(kind, arguments) = &written else {
                    return Ok(written);
                };
                let (is_text, adds) = (kind.gives() == AggregateGives::Text, kind.adds());
                let is_dated = |it: &Expression| {
                    let of_column = |name: &str| Some(self.of.slot(name).ok()?.1);
                    let kinds = given_kinds(it, &of_column).unwrap_or_default();
                    let mut kinds = kinds.into_iter().chain([kind_of(it, &of_column)]).flatten();
                    kinds.any(ColumnType::is_date)
                };
                let arguments = arguments.iter().map(|it| match it {
                    // The text that a client sees, `10:11:12` and not 101112.
                    Expression::Column(name) if is_text => {
                        self.of.slot(name).map(|(slot, _)| Prepared::of_slot(slot))
                    }
                    it if adds && is_dated(it) => {
                        // The sum of dates is that of the numbers of their digits.
                        let zero = Box::new(Expression::Literal(Value::Int(0)));
                        let number = Box::new(it.clone());
                        self.of
                            .prepare(&Expression::Binary(BinaryOperator::Add, number, zero))
                    }
                    it => self.of.prepare(it),
                });
                let aggregate = Aggregate {
                    kind: kind.clone(),
                    arguments: arguments.collect::<Result<_, _>>()?,
                };
                self.aggregates.push((written, aggregate));
                self.aggregates.len() - 1
            }
        };
        Ok(Expression::Column(aggregate_name(at)))
    }

    /// The type with which constants beside an aggregate are read; `None`: as they are.
    fn kind_of(&self, aggregate: &Expression) -> Option<ColumnType> {
        let Expression::Aggregate(kind, arguments) = aggregate else {
            return None;
        };
        match (kind.gives(), arguments.as_slice()) {
            (AggregateGives::Count, _) => Some(ColumnType::Bigint),
            (AggregateGives::Number, _) => Some(ColumnType::Double),
            (AggregateGives::Text, _) => Some(ColumnType::String),
            (AggregateGives::Argument, [Expression::Column(name)]) => {
                let (_, kind) = self.of.slot(name).ok()?;
                kind.family().is_single().then_some(kind)
            }
            (AggregateGives::Argument, [of]) => {
                kind_of(of, &|name| Some(self.of.slot(name).ok()?.1))
            }
            (AggregateGives::Argument, _) => None,
        }
    }

    /// The slot of a name, and its type if it has one.
    fn slot(&self, name: &str) -> Result<(usize, Option<ColumnType>), BindError> {
        if name == WEIGHT {
            return Ok((self.of.weight()?, Some(ColumnType::Int)));
        }
        let number = |prefix: &str| -> Option<usize> {
            let rest = name.strip_prefix(prefix)?.strip_suffix(')')?;
            rest.parse().ok()
        };
        if let Some(at) = number("key(") {
            let kind = self.keys.get(at).and_then(|key| key.kind);
            let kind = kind.filter(|kind| kind.family() != TypeFamily::Set);
            return Ok((GROUP_SLOT + at, kind));
        }
        if let Some(at) = number("aggregate(") {
            let kind = self.aggregates.get(at).and_then(|(of, _)| self.kind_of(of));
            return Ok((GROUP_SLOT + self.keys.len() + at, kind));
        }
        let (slot, kind) = self.of.slot(name)?;
        Ok((slot, Some(kind)))
    }

    fn prepare(&self, of: &Expression) -> Result<Prepared, BindError> {
        if of.depth() > EXPRESSION_DEPTH_MAX {
            return Err(too_large());
        }
        let mut refused = None;
        of.each_column(&mut |name| refused = refused.take().or(self.slot(name).err()));
        if let Some(error) = refused {
            return Err(error);
        }
        refuse_lost(of, &|name| self.kinds(name))?;
        Prepared::resolved(&with_ids(of, self.of.has_id()), &|name| {
            self.slot(name).ok()
        })
        .map_err(BindError::from)
    }

    /// The kinds of the values of MIN and MAX that are of several, or are moments.
    fn kinds(&self, name: &str) -> Option<Vec<Kind>> {
        let mut aggregates = self.aggregates.iter().enumerate();
        let (_, (written, _)) = aggregates.find(|(at, _)| aggregate_name(*at) == name)?;
        let mut of = written.of_extreme()?;
        if zone_of(of).is_some() {
            return Some([MOVED_DATE, ColumnType::Timestamp].map(Some).to_vec());
        }
        while let Expression::Call(Function::DateAdd | Function::DateSub, moved) = of {
            of = moved.first()?;
        }
        given_kinds(of, &|name| Some(self.of.slot(name).ok()?.1))
    }
}
