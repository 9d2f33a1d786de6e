//! The steps of a search, each taken by several shards.

use super::*;
use crate::search::bounds;
use crate::search::exec;
use crate::search::plan::Plan;
use crate::search::statistics::Statistics;
use crate::search::terms::Terms;

fn sum<'s>(terms: &Terms<'_>, shards: impl Iterator<Item = &'s Arc<Snapshot>>) -> Statistics {
    let of_shard = |shard: &Arc<Snapshot>| {
        Statistics::of_shard(terms, shard, &Control::default())
            .unwrap()
            .0
    };
    let merged = shards.map(of_shard).reduce(|mut sum, more| {
        sum.merge(more);
        sum
    });
    merged.unwrap()
}

/// The rows of a shard with a plan made of the statistics of all shards: the total, and id, weight
/// and keys of each row kept.
fn found(
    shard: &Arc<Snapshot>,
    all: &Statistics,
    query: &Query,
    select: &BoundSelect<'_>,
) -> Facts {
    let terms = Terms::new(&query.root);
    let control = Control::default();
    let (_, words) = Statistics::of_shard(&terms, shard, &control).unwrap();
    let plan = Plan::new(
        terms,
        all.clone(),
        select,
        &OnceLock::new(),
        &control.memory,
    )
    .unwrap();
    let job = Job {
        snapshot: shard,
        ranked: true,
        words: words.of_plan(plan.texts()),
        plan: Some(plan),
        candidates: None,
        filter: None,
        order: Arc::clone(&select.order),
        keep: bounds(select).0,
        lists: Opened::new(shard),
        only: None,
        stops: false,
        in_blocks: false,
    };
    let top = || Top::new(Arc::clone(&job.order), job.keep);
    let (top, run) = exec::run(&job, &control, &top);
    run.unwrap();
    (top.total, facts(top.into_sorted(0, &Unmetered).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn shards_that_run_the_plan_of_all_find_what_one_table_finds(
        text in query(),
        ranker in any_ranker(),
        limit in 1..100u64,
    ) {
        let [one, _, other] = snapshots();
        let query = language::parse(&text, &["body"], &Analyzer::default()).unwrap();
        let terms = Terms::new(&query.root);
        let all = sum(&terms, [one, other].into_iter());
        prop_assert_eq!(&all, &sum(&terms, [other, one].into_iter()));
        let joined = Snapshot::join(&[Arc::clone(one), Arc::clone(other)]).unwrap();
        prop_assert_eq!(&all, &sum(&terms, [&joined].into_iter()));

        let select = select(&text, None, &[], Some(limit));
        let select = joined.bind(&select, &options(ranker)).unwrap();
        let shards = [one, other].map(|shard| found(shard, &all, &query, &select));
        let total = shards.iter().map(|(total, _)| total).sum();
        let mut rows: Vec<_> = shards.into_iter().flat_map(|(_, rows)| rows).collect();
        rows.sort_by_key(|(id, weight, _)| (std::cmp::Reverse(*weight), *id));
        rows.truncate(limit as usize);
        prop_assert_eq!((total, rows), found(&joined, &all, &query, &select));
    }
}
