use proptest::prelude::*;

use super::{Detail, Tally};
use crate::attribution::amount::Amount;
use crate::attribution::bounds::Unbounded;
use crate::attribution::channels::ChannelId;
use crate::attribution::figures::{Figures, Places, figures};
use crate::attribution::model::{MODELS, Model, Rule};
use crate::attribution::paths::{PathCount, PathTable};

fn rule() -> Rule {
    Rule {
        position: [4_000, 2_000, 4_000],
        half_life_ms: 1,
        is_direct: vec![false; 4],
    }
}

type Row = (Vec<u16>, i64, i64, i64);

fn all_figures(rows: &[Row]) -> Result<Vec<Figures>, String> {
    let models: Vec<Model> = MODELS
        .iter()
        .map(|row| row.model)
        .filter(|model| *model != Model::TimeDecay)
        .collect();
    let mut paths = PathTable::default();
    for (path, conversions, value, nulls) in rows {
        let path: Vec<ChannelId> = path.iter().map(|channel| ChannelId(*channel)).collect();
        let count = PathCount {
            conversions: Amount(*conversions * 1_000_000),
            value: Amount(*value),
            nulls: Amount(*nulls * 1_000_000),
        };
        paths.add(&path, count).unwrap();
    }
    let mut tally = Tally::new(&models, rule(), Detail::Report { rows: 20 });
    tally.add_paths(&paths);
    let channels: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    figures(
        &models,
        &tally,
        Some(&paths),
        &channels,
        Places::default(),
        &Unbounded,
    )
}

proptest! {
    #[test]
    fn channels_add_up_to_the_cent_and_no_figure_depends_on_the_order_of_rows(
        mut rows in prop::collection::vec(
            (prop::collection::vec(0_u16..4, 1..8), 1_i64..9, 0_i64..1_000_000_000, 0_i64..9), 1..30),
    ) {
        let figures = all_figures(&rows).unwrap();
        for figures in &figures {
            for column in [&figures.conversions, &figures.value] {
                let sum: i128 = column.units.iter().sum();
                match figures.model == Model::AllTouches {
                    true => prop_assert!(sum >= column.total),
                    false => prop_assert_eq!(sum, column.total, "{:?}", figures.model),
                }
                for (exact, units) in column.exact.iter().zip(&column.units) {
                    prop_assert!((exact * 100.0 - *units as f64).abs() < 1.0 + 1e-6);
                }
            }
        }
        rows.reverse();
        for (turned, figures) in all_figures(&rows).unwrap().iter().zip(&figures) {
            prop_assert_eq!(&turned.value.exact, &figures.value.exact, "{:?}", figures.model);
            prop_assert_eq!(&turned.value.units, &figures.value.units);
            prop_assert_eq!(&turned.conversions.exact, &figures.conversions.exact);
        }
    }
}

#[test]
fn a_refund_takes_money_from_its_path() {
    let rows = vec![
        (vec![0, 1], 2, 10_000_000, 0),
        (vec![0, 1], 0, -4_000_000, 0),
    ];
    let figures = all_figures(&rows).unwrap();
    let linear = figures
        .iter()
        .find(|figures| figures.model == Model::Linear);
    assert_eq!(linear.unwrap().value.units, [300, 300, 0, 0]);
    assert_eq!(linear.unwrap().conversions.units, [100, 100, 0, 0]);
}

#[test]
fn zero_conversions_are_named_by_the_models_that_need_one() {
    let refused = all_figures(&[(vec![0], 0, 0, 3)]).unwrap_err();
    assert_eq!(refused, "markov: no path converts");
}
