//! Functions of places: distances on the Earth, and polygons.

use language::meter::Work;

use super::super::function::Function;
use super::number::finite;
use super::options::Options;
use super::text::text_of;
use crate::json::Json;
use crate::limits::POLYGON_NUMBERS_MAX;
use crate::value::{Number, Value};

/// Radius of the Earth in metres, by Sphinx's two methods.
const HAVERSINE_RADIUS_M: f64 = 6_384_000.0;
const ADAPTIVE_RADIUS_M: f64 = 6_371_000.0;

/// Up to this difference of latitude and of longitude, in degrees, the adaptive method takes the ground as flat.
const FLAT_DEGREES: f64 = 13.0;

/// Units of a number of a polygon that is read or written, and of an edge beside a point.
const NUMBER_UNITS: u64 = 80;
const EDGE_UNITS: u64 = 5;

/// The options of GEODIST.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    /// Degrees of one unit of the arguments.
    degrees: f64,
    /// Metres of one unit of the result.
    metres: f64,
    is_haversine: bool,
}

impl Default for Measure {
    /// Radians in, metres out, adaptive: as in Sphinx.
    fn default() -> Measure {
        Measure {
            degrees: 180.0 / std::f64::consts::PI,
            metres: 1.0,
            is_haversine: false,
        }
    }
}

impl Measure {
    pub(super) fn of(options: &Options) -> Result<Measure, String> {
        options.only(&["in", "out", "method"])?;
        let mut measure = Measure::default();
        match options.text("in").as_deref() {
            None | Some("rad" | "radians") => {}
            Some("deg" | "degrees") => measure.degrees = 1.0,
            Some(_) => return Err(options.bad("in", "degrees or radians")),
        }
        measure.metres = match options.text("out").as_deref() {
            None | Some("m" | "meter" | "meters") => 1.0,
            Some("km" | "kilometer" | "kilometers") => 1_000.0,
            Some("mi" | "mile" | "miles") => 1_609.344,
            Some("ft" | "foot" | "feet") => 0.304_8,
            Some(_) => return Err(options.bad("out", "m, km, mi or ft")),
        };
        measure.is_haversine = match options.text("method").as_deref() {
            None | Some("adaptive") => false,
            Some("haversine") => true,
            Some(_) => return Err(options.bad("method", "adaptive or haversine")),
        };
        Ok(measure)
    }

    /// The distance between two places; `None` where an angle is NULL.
    pub(super) fn value(self, arguments: &[Value]) -> Option<Value> {
        let mut angles = [0.0; 4];
        for (angle, argument) in angles.iter_mut().zip(arguments) {
            *angle = argument.number()?.real();
        }
        Some(finite(self.distance(angles)))
    }

    fn distance(self, [lat1, lon1, lat2, lon2]: [f64; 4]) -> f64 {
        let [lat1, lon1, lat2, lon2] = [lat1, lon1, lat2, lon2].map(|angle| angle * self.degrees);
        let apart = (lon1 - lon2).abs() % 360.0;
        let apart = apart.min(360.0 - apart);
        let is_flat = (lat1 - lat2).abs() < FLAT_DEGREES && apart < FLAT_DEGREES;
        let metres = match (self.is_haversine, is_flat) {
            (true, _) => haversine(HAVERSINE_RADIUS_M, lat1, lat2, apart),
            (false, true) => flat(lat1, lat2, apart),
            (false, false) => haversine(ADAPTIVE_RADIUS_M, lat1, lat2, apart),
        };
        metres / self.metres
    }
}

fn haversine(radius_m: f64, lat1: f64, lat2: f64, apart: f64) -> f64 {
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
    let cosines = lat1.to_radians().cos() * lat2.to_radians().cos();
    let chord = half(lat1 - lat2) + cosines * half(apart);
    2.0 * radius_m * chord.sqrt().min(1.0).asin()
}

/// Metres of a degree at the middle latitude, by the formula of 47 CFR 73.208.
fn flat(lat1: f64, lat2: f64, apart: f64) -> f64 {
    let middle = ((lat1 + lat2) / 2.0).to_radians();
    let cos = |times: f64| (middle * times).cos();
    let north = 111_132.09 - 566.05 * cos(2.0) + 1.20 * cos(4.0);
    let east = 111_415.13 * cos(1.0) - 94.55 * cos(3.0) + 0.12 * cos(5.0);
    (north * (lat1 - lat2)).hypot(east * apart)
}

/// The corners of a polygon, in order.
pub(crate) type Polygon = Vec<(f64, f64)>;

/// The value of a function of places without prepared constants; `None`: it is another kind of function.
pub(super) fn value(function: Function, arguments: &[Value], work: &Work<'_>) -> Option<Value> {
    match function {
        Function::Poly2d => made(arguments, work),
        Function::Contains => {
            let polygon = polygon(arguments.first()?, work)?;
            contains(&polygon, arguments, work)
        }
        _ => None,
    }
}

/// A polygon as a JSON array of its numbers: from numbers, a text `'x1,y1,x2,y2,…'`, or such an array.
fn made(arguments: &[Value], work: &Work<'_>) -> Option<Value> {
    let numbers = match arguments {
        [single] => numbers_of(single, work)?,
        several => several
            .iter()
            .map(|number| number.number().map(Number::real))
            .collect::<Option<Vec<f64>>>()?,
    };
    let is_polygon = numbers.len() >= 6 && numbers.len().is_multiple_of(2);
    work.begin(NUMBER_UNITS * numbers.len() as u64)?;
    is_polygon.then(|| Value::Json(Json::of_reals(&numbers)))
}

/// Adds a number of a polygon; `None`: it has too many.
fn push(numbers: &mut Vec<f64>, number: f64) -> Option<()> {
    let has_room = numbers.len() < POLYGON_NUMBERS_MAX;
    has_room.then(|| numbers.push(number))
}

fn numbers_of(list: &Value, work: &Work<'_>) -> Option<Vec<f64>> {
    match list.items() {
        Some(mut items) => items.try_fold(Vec::new(), |mut numbers, item| {
            work.begin(NUMBER_UNITS)?;
            push(&mut numbers, item.number()?.real())?;
            Some(numbers)
        }),
        None => {
            let text = text_of(list, work)?;
            text.split(',').try_fold(Vec::new(), |mut numbers, number| {
                work.begin(NUMBER_UNITS + number.len() as u64)?;
                push(&mut numbers, number.trim().parse().ok()?)?;
                Some(numbers)
            })
        }
    }
}

/// The corners of a polygon that [`made`] gave.
pub(super) fn polygon(of: &Value, work: &Work<'_>) -> Option<Polygon> {
    let numbers = numbers_of(of, work)?;
    let (corners, rest) = numbers.as_chunks::<2>();
    let is_polygon = corners.len() >= 3 && rest.is_empty();
    is_polygon.then(|| corners.iter().map(|[x, y]| (*x, *y)).collect())
}

/// Whether a point lies inside: a ray to the right crosses an odd number of edges. A corner belongs to the edge below it, so that
/// of two polygons that share an edge exactly one holds a point on it.
pub(super) fn contains(
    polygon: &[(f64, f64)],
    arguments: &[Value],
    work: &Work<'_>,
) -> Option<Value> {
    let x = arguments.get(1)?.number()?.real();
    let y = arguments.get(2)?.number()?.real();
    let mut is_inside = false;
    let mut from = *polygon.last()?;
    for to in polygon {
        work.begin(EDGE_UNITS)?;
        if (from.1 > y) != (to.1 > y) {
            let crossing = (to.0 - from.0) * (y - from.1) / (to.1 - from.1) + from.0;
            is_inside ^= x < crossing;
        }
        from = *to;
    }
    Some(Value::Int(is_inside.into()))
}
