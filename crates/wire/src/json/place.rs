//! Places in a JSON search, in degrees: `geo_distance` of `query`, `_geo_distance` of `sort`.
//!
//! Example: `{"geo_distance": {"location_anchor": {"lat": 53.5, "lon": 10}, "location_source": "lat, lon", "distance": "5 km"}}` is
//! `GEODIST(lat, lon, 53.5, 10.0, {in=degrees, out=m, method=adaptive}) <= 5000`.

use relation::expression::{self, BinaryOperator, Expression};
use relation::lexer::Lexer;
use relation::value::Value;
use serde_json::{Map, Value as Json};

use super::clause::field;
use super::error::JsonError;
use super::member::{object, only, string};

type Result<T> = std::result::Result<T, JsonError>;

/// Units of `distance` by their names in lower case, in metres.
const UNITS: [(&[&str], f64); 9] = [
    (&["m", "meter", "meters", ""], 1.0),
    (&["km", "kilometer", "kilometers"], 1_000.0),
    (&["cm", "centimeter", "centimeters"], 0.01),
    (&["mm", "millimeter", "millimeters"], 0.001),
    (&["mi", "mile", "miles"], 1_609.344),
    (&["yd", "yard", "yards"], 0.914_4),
    (&["ft", "foot", "feet"], 0.304_8),
    (&["in", "inch", "inches"], 0.025_4),
    (&["nm", "nmi", "nauticalmile", "nauticalmiles"], 1_852.0),
];

/// Members that name two places and how to measure between them.
const PLACES: [&str; 3] = ["location_anchor", "location_source", "distance_type"];

/// Parses the body of `geo_distance`: documents within a distance.
pub(super) fn within(json: &Json, path: &str) -> Result<Expression> {
    let body = object(json, path)?;
    let [anchor, source, method] = PLACES;
    only(body, &[anchor, source, method, "distance"], path)?;
    let at = format!("{path}.distance");
    let distance = body.get("distance");
    let distance = distance.ok_or_else(|| JsonError::new(&at, "expected a distance, as 5 km"))?;
    let metres = Expression::Literal(Value::Float(metres(distance, &at)?));
    Ok(Expression::Binary(
        BinaryOperator::LessOrEqual,
        Box::new(distance_of(body, path)?),
        Box::new(metres),
    ))
}

/// Parses the body of `_geo_distance`: the key, and the direction if there is one.
pub(super) fn key<'j>(json: &'j Json, path: &str) -> Result<(Expression, Option<&'j str>)> {
    let body = object(json, path)?;
    let [anchor, source, method] = PLACES;
    only(body, &[anchor, source, method, "order"], path)?;
    let order = body.get("order");
    let order = order.map(|order| string(order, &format!("{path}.order")));
    Ok((distance_of(body, path)?, order.transpose()?))
}

/// The distance between the place of a document and a fixed one, in metres.
fn distance_of(body: &Map<String, Json>, path: &str) -> Result<Expression> {
    let part = |name: &str| {
        let at = format!("{path}.{name}");
        match body.get(name) {
            Some(json) => pair(json, &at).map(|pair| (pair, at)),
            None => Err(JsonError::new(&at, "expected a latitude and a longitude")),
        }
    };
    let ([anchor_lat, anchor_lon], anchor) = part("location_anchor")?;
    let ([lat, lon], source) = part("location_source")?;
    let (anchor_lat, anchor_lon) = (
        angle(&anchor_lat, 90.0, &anchor)?,
        angle(&anchor_lon, 180.0, &anchor)?,
    );
    let (lat, lon) = (field(&lat, &source)?, field(&lon, &source)?);
    let method = match body.get("distance_type") {
        None => "adaptive",
        Some(method) => string(method, &format!("{path}.distance_type"))?,
    };
    if !["adaptive", "haversine"].contains(&method) {
        let at = format!("{path}.distance_type");
        return Err(JsonError::new(&at, "expected adaptive or haversine"));
    }
    let call = format!(
        "GEODIST(lat, lon, {anchor_lat:?}, {anchor_lon:?}, {{in=degrees, out=m, method={method}}})"
    );
    let parsed = expression::parse(&mut Lexer::new(call.as_bytes()));
    let parsed = parsed.map_err(|error| JsonError::new(path, error.message))?;
    Ok(parsed.map_columns(&mut |column| match column.column() {
        Some("lat") => lat.clone(),
        _ => lon.clone(),
    }))
}

/// Latitude and longitude: `{"lat": …, "lon": …}`, `"lat, lon"` or `[lon, lat]`, as texts.
fn pair(json: &Json, path: &str) -> Result<[String; 2]> {
    let text = |json: &Json| match json {
        Json::String(text) => Some(text.trim().to_owned()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let found = match json {
        Json::Object(parts) if parts.len() == 2 => {
            let [lat, lon] = ["lat", "lon"].map(|name| parts.get(name).and_then(text));
            lat.zip(lon)
        }
        Json::Array(parts) => match &parts[..] {
            [lon, lat] => text(lat).zip(text(lon)),
            _ => None,
        },
        Json::String(written) => match written.split(',').collect::<Vec<_>>()[..] {
            [lat, lon] => Some((lat.trim().to_owned(), lon.trim().to_owned())),
            _ => None,
        },
        _ => None,
    };
    let message = r#"expected {"lat": …, "lon": …}, "lat, lon" or [lon, lat]"#;
    let (lat, lon) = found.ok_or_else(|| JsonError::new(path, message))?;
    Ok([lat, lon])
}

fn angle(text: &str, most: f64, path: &str) -> Result<f64> {
    let angle = text.parse().ok().filter(|angle: &f64| angle.abs() <= most);
    let message = || format!("'{text}' is no angle from -{most} to {most} degrees");
    angle.ok_or_else(|| JsonError::new(path, message()))
}

/// A number of metres, or a text with a unit.
fn metres(json: &Json, path: &str) -> Result<f64> {
    let message = || JsonError::new(path, "expected a distance from 0, as 5 km, 300 m or 2.5 mi");
    let metres = match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => {
            let begin = text.find(|letter: char| letter.is_ascii_alphabetic());
            let (number, unit) = text.split_at(begin.unwrap_or(text.len()));
            let unit = unit.trim().to_ascii_lowercase();
            let unit = UNITS.iter().find(|(names, _)| names.contains(&&*unit));
            let number: Option<f64> = number.trim().parse().ok();
            number
                .zip(unit)
                .map(|(number, (_, metres))| number * metres)
        }
        _ => None,
    };
    let metres = metres.filter(|metres| metres.is_finite() && *metres >= 0.0);
    metres.ok_or_else(message)
}
