//! The exact values of a picture, as a table.

use super::{Bars, Column, Curves, Drawing, Matrix, Multiples, Picture, Table, Unit};
use crate::document::Cell;

impl Picture {
    /// The values, under the picture's name and title.
    ///
    /// | picture | rows | columns |
    /// |---|---|---|
    /// | curves | a value across each, rising; last, with none, the levels | `x`, then each curve |
    /// | bars | a group each | `group`, then each series |
    /// | matrix | a row each | the name of the rows, then each column |
    /// | multiples | a point each | `panel`, `x`, `y` |
    #[must_use]
    pub fn values(&self) -> Table {
        let (columns, rows) = match &self.drawing {
            Drawing::Curves(curves) => of_curves(curves),
            Drawing::Bars(bars) => of_bars(bars),
            Drawing::Matrix(matrix) => of_matrix(matrix),
            Drawing::Multiples(multiples) => of_multiples(multiples),
        };
        Table {
            rows,
            ..Table::new(&self.name, &self.title, columns)
        }
    }
}

type Content = (Vec<Column>, Vec<Vec<Cell>>);

fn column(name: &str, unit: Unit) -> Column {
    Column::new(name, name, unit)
}

fn of_curves(curves: &Curves) -> Content {
    let mut columns = vec![Column::new("x", &curves.across.title, curves.across.unit)];
    columns.extend(
        curves
            .curves
            .iter()
            .map(|curve| column(&curve.name, curves.upward.unit)),
    );
    let points = curves.curves.iter().flat_map(|curve| &curve.points);
    let mut across: Vec<f64> = points
        .map(|point| point.0)
        .filter(|x| x.is_finite())
        .collect();
    across.sort_by(f64::total_cmp);
    across.dedup();
    // Each curve is read once, since its points rise.
    let mut next = vec![0; curves.curves.len()];
    let mut rows: Vec<Vec<Cell>> = Vec::with_capacity(across.len() + 1);
    for x in across {
        let mut row = vec![Cell::Decimal(x)];
        for (curve, next) in curves.curves.iter().zip(&mut next) {
            let rest = curve.points.get(*next..).unwrap_or_default();
            let point = rest.iter().find(|point| point.0 >= x);
            *next += rest
                .iter()
                .take_while(|point| point.0 < x || point.0.is_nan())
                .count();
            row.push(
                point
                    .filter(|point| point.0 == x)
                    .map(|point| point.1)
                    .into(),
            );
        }
        rows.push(row);
    }
    if curves.curves.iter().any(|curve| curve.level.is_some()) {
        let mut row = vec![Cell::Nothing];
        row.extend(curves.curves.iter().map(|curve| curve.level.into()));
        rows.push(row);
    }
    (columns, rows)
}

fn of_bars(bars: &Bars) -> Content {
    let mut columns = vec![column("group", Unit::Text)];
    columns.extend(bars.series.iter().map(|name| column(name, bars.unit)));
    let rows = bars.groups.iter().map(|group| {
        let mut row = vec![Cell::from(group.name.as_str())];
        row.extend(group.values.iter().copied().map(Cell::from));
        row
    });
    (columns, rows.collect())
}

fn of_matrix(matrix: &Matrix) -> Content {
    let mut columns = vec![column(&matrix.down, Unit::Text)];
    columns.extend(matrix.columns.iter().map(|name| column(name, matrix.unit)));
    let rows = matrix.rows.iter().enumerate().map(|(number, name)| {
        let mut row = vec![Cell::from(name.as_str())];
        row.extend(
            matrix
                .values
                .get(number)
                .into_iter()
                .flatten()
                .copied()
                .map(Cell::from),
        );
        row
    });
    (columns, rows.collect())
}

fn of_multiples(multiples: &Multiples) -> Content {
    let columns = vec![
        column("panel", Unit::Text),
        Column::new("x", &multiples.across.title, multiples.across.unit),
        Column::new("y", &multiples.upward.title, multiples.upward.unit),
    ];
    let points = multiples
        .panels
        .iter()
        .flat_map(|panel| panel.points.iter().map(move |point| (panel, point)));
    let rows = points.map(|(panel, (x, y))| {
        vec![
            Cell::from(panel.title.as_str()),
            Cell::Decimal(*x),
            Cell::Decimal(*y),
        ]
    });
    (columns, rows.collect())
}

#[cfg(test)]
mod tests {
    use super::{Cell, Picture, Unit};
    use crate::document::{Axis, Curve, CurveKind, Curves, Drawing, Scale};

    #[test]
    fn curves_with_other_values_across_share_a_table() {
        let axis = || Axis::new("x", Unit::Whole, Scale::Linear);
        let level = Curve {
            level: Some(9.0),
            ..Curve::new("b", vec![(f64::NAN, 1.0), (2.0, 20.0), (3.0, 30.0)])
        };
        let curves = Curves {
            kind: CurveKind::Points,
            across: axis(),
            upward: axis(),
            curves: vec![Curve::new("a", vec![(1.0, 10.0), (3.0, 31.0)]), level],
        };
        let table = Picture::new("p", "P", Drawing::Curves(curves)).values();
        let rows: Vec<Vec<Option<f64>>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::number).collect())
            .collect();
        let expected = [
            [Some(1.0), Some(10.0), None],
            [Some(2.0), None, Some(20.0)],
            [Some(3.0), Some(31.0), Some(30.0)],
            [None, None, Some(9.0)],
        ];
        assert_eq!(rows, expected);
    }
}
