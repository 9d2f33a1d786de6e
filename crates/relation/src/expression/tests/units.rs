//! Units beside the processor time that they stand for: work that grows without units is found by a ratio, never by a time.
//!
//! An ordinary run takes values of up to 16 kB. With `SEINE_UNITS=1` in the environment they are up to 16 MiB long, which takes some
//! minutes in a debug build.

use std::cell::Cell;

use language::meter::{Budget, Meter};
use rustix::time::{ClockId, clock_gettime};

use super::parsed;
use crate::expression::{Expression, Function, Metered, Prepared};
use crate::json::Json;
use crate::value::Value;

/// Nanoseconds of processor time that this thread has taken.
fn processor_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Lengths of the values, in bytes.
fn lengths() -> &'static [usize] {
    match std::env::var_os("SEINE_UNITS") {
        Some(_) => &[1 << 10, 1 << 15, 1 << 20, 16 << 20],
        None => &[1 << 10, 1 << 14],
    }
}

/// How many times dearer a unit may be than the middle one of all cases. Debug builds make our own loops some ten times slower than
/// those of the standard library.
const DEARER_MAX: u64 = 60;

/// What the column `a` holds.
#[derive(Clone, Copy, Debug)]
enum Holds {
    /// Words of small letters.
    Words,
    /// One letter again and again.
    Letters,
    /// `1,2,3,…`
    Digits,
    /// One number of as many digits.
    Number,
    /// Letters outside ASCII, a capital sigma among them.
    Greek,
    /// Bytes that are no UTF-8.
    Bytes,
    /// A set of numbers.
    Numbers,
    /// A JSON array of numbers and texts; at most a document's length.
    Document,
    /// A whole number, of whatever length.
    One,
}

fn value(holds: Holds, length: usize) -> Value {
    let repeated = |text: &str| text.repeat(length / text.len());
    match holds {
        Holds::Words => Value::Str(repeated("some words, of letters ")),
        Holds::Letters => Value::Str(repeated("a")),
        Holds::Digits => Value::Str(repeated("12,") + "1"),
        Holds::Number => Value::Str(repeated("9")),
        Holds::Greek => Value::Str(repeated("ΑΒΓΔΣ ß")),
        Holds::Bytes => Value::Bytes(vec![0xff; length]),
        Holds::Numbers => Value::Set((0..length as i64 / 8).collect()),
        Holds::Document => {
            let items = repeated("1,\"b\",");
            let text = format!("[{}0]", &items[..items.len().min(3 << 20) / 6 * 6]);
            Value::Json(Json::parse(text.as_bytes()).unwrap())
        }
        Holds::One => Value::Int(7),
    }
}

const CASES: &[(Holds, &str)] = {
    use Holds as H;
    &[
        // Operators.
        (H::Words, "a = concat(left(a, 1), a)"),
        (H::Words, "a = a"),
        (H::Words, "a <> a or a < a or a >= a"),
        (H::Words, "upper(a) < a"),
        (H::Number, "a + a < a"),
        (H::Words, "a between a and a"),
        (H::Words, "a in ('x', 'y', 3)"),
        (H::Words, "(a, 1) in (('x', 1), ('y', 2))"),
        (H::Words, "a is null"),
        (H::Digits, "a + 1 - a * 2 / 3"),
        (H::Letters, "not a xor a and a"),
        (
            H::Numbers,
            "a = 3 or a > 5 or a in (-1) or a between -3 and -2",
        ),
        (H::Numbers, "a & 1 | ~a"),
        (H::Document, "a[3] = 1"),
        (H::Words, "case when a = 'x' then 1 else 2 end"),
        // Lists.
        (H::Numbers, "any(x < 0 for x in a)"),
        (H::Document, "all(x <> 7 for x in a)"),
        (H::Document, "indexof(x = 7 for x in a)"),
        (H::Numbers, "remap(3, 4, a, a)"),
        (H::Words, "least(a, a) = greatest(a, a)"),
        (H::Numbers, "least(a)"),
        (H::Document, "greatest(a)"),
        (H::Document, "min(a, 1) = max(a, 1)"),
        // Texts.
        (H::Words, "concat(a, a)"),
        (H::Bytes, "concat(a, 'x')"),
        (H::Document, "concat(a, 'x')"),
        (H::Numbers, "concat(a, 'x')"),
        (H::Words, "concat_ws(', ', a, a)"),
        (H::Greek, "char_length(a) + length(a)"),
        (H::Words, "crc32(a)"),
        (H::Words, "hex(a)"),
        (H::Bytes, "hex(a)"),
        (H::Words, "lower(a)"),
        (H::Greek, "lower(a)"),
        (H::Greek, "upper(a)"),
        (H::Words, "ltrim(a) = rtrim(a) or trim(a) = 'x'"),
        (H::Greek, "reverse(a)"),
        (H::Document, "to_string(a)"),
        (H::Greek, "left(a, 1000000)"),
        (H::Greek, "right(a, 1000000)"),
        (H::Words, "repeat(a, 3)"),
        (H::One, "space(4000000)"),
        (H::Words, "lpad(a, 1000000, 'xy') = rpad(a, 1000000, 'z')"),
        (H::Words, "replace(a, 'word', 'W')"),
        (H::Letters, "replace(a, 'aaaaaaab', 'W')"),
        (H::Letters, "replace(a, 'a', '')"),
        (H::Greek, "substring(a, 7, 1000000)"),
        (H::Words, "substring_index(a, 'letter', 1000000)"),
        (H::Words, "substring_index(a, 'letter', -1000000)"),
        (H::Words, "instr(a, 'nowhere')"),
        (H::Letters, "locate('aaaaaaab', a, 5)"),
        (H::Words, "a like '%nowhere%'"),
        (H::Letters, "a like '%aaaaaaaaaaaaaaab%c'"),
        (H::Letters, "levenshtein(left(a, 1000), repeat('b', 1000))"),
        (H::Words, "levenshtein(a, 'x')"),
        (H::Words, "regex(a, 'no[w]here')"),
        (H::Letters, "regex(a, '(a|aa)*b')"),
        (H::Greek, r"a regexp '\bnowhere\b'"),
        (H::Words, "regex(a, '[a-z ,]*e[a-z ,]{60}9')"),
        // Places.
        (H::Digits, "poly2d(a)"),
        (H::Digits, "contains(poly2d(a), 1, 1)"),
        (H::Digits, "contains(a, 1, 1)"),
        (H::Digits, "geodist(a, a, 1, 2)"),
        // Moments and numbers read the beginning of a text.
        (
            H::Digits,
            "year(a) + month(a) + day(a) + hour(a) + minute(a) + second(a) + quarter(a) + week(a)",
        ),
        (
            H::Words,
            "yearmonth(a) + yearmonthday(a) + yearweek(a) + weekday(a) + dayofweek(a) + dayofyear(a)",
        ),
        (
            H::Words,
            "concat(dayname(a), monthname(a), date(a), time(a))",
        ),
        (
            H::Words,
            "date_add(a, interval 1 day) = date_sub(a, interval 1 day)",
        ),
        (H::Words, "datediff(a, a) + unix_timestamp(a)"),
        (H::Words, "timediff(a, a)"),
        (H::Words, "date_format(a, '%Y')"),
        (H::Words, "date_format(0, a)"),
        (H::Words, "from_unixtime(a)"),
        (H::Words, "histogram(a, {hist_interval=10})"),
        (H::Words, "date_histogram(a, {calendar_interval='month'})"),
        (H::Words, "range(a, {range_to=10})"),
        (H::Words, "date_range(a, {range_to='2024'})"),
        (H::Words, "ranges(a, {range_to=10})"),
        (H::Words, "date_ranges(a, {range_to='2024'})"),
        (
            H::Digits,
            "abs(a) + ceil(a) + floor(a) + sign(a) + round(a) + bigint(a) + double(a) + sint(a) + uint(a)",
        ),
        (
            H::Digits,
            "sin(a) + cos(a) + tan(a) + asin(a) + acos(a) + atan(a) + atan2(a, a) + exp(a) + ln(a) + log2(a)",
        ),
        (
            H::Digits,
            "log10(a) + sqrt(a) + degrees(a) + radians(a) + fibonacci(a) + bitdot(a, a, a) + interval(a, 1, 2)",
        ),
        (H::Words, "if(a, 1, coalesce(a, nullif(a, a)))"),
    ]
};

/// The functions of a tree.
fn functions(of: &Expression, found: &mut Vec<Function>) {
    if let Expression::Call(function, _) = of {
        found.push(*function);
    }
    of.parts()
        .into_iter()
        .for_each(|part| functions(part, found));
}

#[test]
fn every_function_has_a_case() {
    let mut found = Vec::new();
    for (_, text) in CASES {
        functions(
            &parsed(text).unwrap_or_else(|error| panic!("{text}: {error}")),
            &mut found,
        );
    }
    // What is of the moment reads nothing.
    found.extend(Function::all().filter(|it| it.is_of_the_moment()));
    found.push(Function::LocalMoment); // nobody writes it, and it reads a text as UNIX_TIMESTAMP does
    let missing: Vec<&str> = Function::all()
        .filter(|it| !found.contains(it))
        .map(Function::name)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Thousandths of a nanosecond for a unit of work. The work is done once for what later rounds use again. Then it is measured several
/// times, and the least counts: other processes empty the caches now and then.
fn price(work: &dyn Fn(&dyn Meter)) -> u64 {
    let budget = Budget::new(u64::MAX);
    work(&budget);
    let began = processor_ns();
    let mut least = u64::MAX;
    for _ in 0..MEASURED_MAX {
        least = least.min(measured(work));
        if processor_ns() - began > MEASURED_MAX * MEASURED_NS {
            break;
        }
    }
    least
}

/// How often work is measured at most, and how long each time at least.
const MEASURED_MAX: u64 = 5;
const MEASURED_NS: u64 = 100_000;

/// Thousandths of a nanosecond for a unit of work that is done again and again.
fn measured(work: &dyn Fn(&dyn Meter)) -> u64 {
    let budget = Budget::new(u64::MAX);
    let began = processor_ns();
    while processor_ns() - began < MEASURED_NS {
        work(&budget);
    }
    let units = u64::MAX - budget.left();
    assert!(!budget.is_stopped() && units > 0);
    (processor_ns() - began) * 1_000 / units
}

/// The prices of a case, by length.
fn prices(holds: Holds, text: &str) -> Vec<u64> {
    let prepared = Prepared::new(&parsed(text).unwrap(), &|_| Some(0)).unwrap();
    let of_length = |length: &usize| {
        let value = value(holds, *length);
        price(&|meter| {
            let _ = prepared.evaluate(&Metered::new(meter, |_| value.clone()));
        })
    };
    lengths().iter().map(of_length).collect()
}

/// The middle one of all prices.
fn middle_of(prices: &[Vec<u64>]) -> u64 {
    let mut all = prices.concat();
    all.sort_unstable();
    all[all.len() / 2].max(1)
}

fn is_dear(prices: &[u64], middle: u64) -> bool {
    prices.iter().any(|price| price / middle > DEARER_MAX)
}

/// Notes the longest time between two looks.
struct Gaps {
    last: Cell<u64>,
    longest: Cell<u64>,
}

impl Meter for Gaps {
    fn spend(&self, _: u64) {
        let now = processor_ns();
        self.longest
            .set(self.longest.get().max(now - self.last.replace(now)));
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

/// Longest time of work without a look at the meter, in units. The end of the work is a look.
fn longest_piece(middle: u64, work: impl FnOnce(&dyn Meter)) -> u64 {
    let gaps = Gaps {
        last: Cell::new(processor_ns()),
        longest: Cell::new(0),
    };
    work(&gaps);
    gaps.spend(0);
    gaps.longest.get() * 1_000 / middle
}

/// Longest piece of work, in units of the middle price. That is 0.15 ns in a release build, so such a piece takes 30 ms. A debug
/// build's own loops are dearer than the middle.
const PIECE_UNITS_MAX: u64 = if cfg!(debug_assertions) {
    400_000_000
} else {
    200_000_000
};

#[test]
fn time_that_grows_without_units_is_found() {
    let prices: Vec<Vec<u64>> = CASES
        .iter()
        .map(|(holds, text)| prices(*holds, text))
        .collect();
    let middle = middle_of(&prices);
    let dear: Vec<_> = CASES
        .iter()
        .zip(&prices)
        .filter(|(_, prices)| is_dear(prices, middle))
        .collect();
    assert!(dear.is_empty(), "the middle price is {middle}: {dear:#?}");
    let mut long = Vec::new();
    for (holds, text) in CASES {
        let prepared = Prepared::new(&parsed(text).unwrap(), &|_| Some(0)).unwrap();
        let value = value(*holds, lengths()[lengths().len() - 1]);
        let units = longest_piece(middle, |meter| {
            let _ = prepared.evaluate(&Metered::new(meter, |_| value.clone()));
        });
        if units > PIECE_UNITS_MAX {
            long.push((holds, text, units));
        }
    }
    assert!(long.is_empty(), "the middle price is {middle}: {long:#?}");
}

/// Takes some nanoseconds a byte.
fn busy(bytes: usize) {
    for byte in 0..bytes {
        std::hint::black_box(byte);
    }
}

#[test]
fn a_function_that_does_not_count_its_bytes_is_found() {
    let counted = |bytes: usize| {
        price(&|meter| {
            meter.spend(bytes as u64);
            busy(bytes);
        })
    };
    let silent = |bytes: usize| {
        price(&|meter| {
            meter.spend(60);
            busy(bytes);
        })
    };
    let lengths = [1 << 10, 1 << 15, 1 << 20];
    let prices = [lengths.map(counted).to_vec(), lengths.map(silent).to_vec()];
    let middle = middle_of(&prices[..1]);
    assert!(!is_dear(&prices[0], middle), "{prices:?}");
    assert!(is_dear(&prices[1], middle), "{prices:?}");
    // A function that looks only before its work is found by the longest piece.
    let bytes = 2 * PIECE_UNITS_MAX as usize / 100;
    let price = middle / 100;
    let units = longest_piece(price.max(1), |meter| {
        meter.spend(bytes as u64);
        busy(bytes);
    });
    assert!(units > PIECE_UNITS_MAX, "{units}");
}
