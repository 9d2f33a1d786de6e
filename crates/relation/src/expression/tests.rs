mod hostile;
mod units;

use proptest::prelude::*;

use super::*;
use crate::json::JsonStep;
use crate::lexer::TokenKind;
use crate::limits::EXPRESSION_DEPTH_MAX;
use crate::value::tests::value;

fn parsed(text: &str) -> Result<Expression, SyntaxError> {
    let mut lexer = Lexer::new(text.as_bytes());
    let expression = parse(&mut lexer)?;
    match lexer.peek().kind {
        TokenKind::End => Ok(expression),
        _ => Err(lexer.unexpected("the end")),
    }
}

/// The tree, every node in brackets.
fn shape(expression: &Expression) -> String {
    let negation = |negated: &bool| if *negated { "NOT " } else { "" };
    match expression {
        Expression::Literal(Value::Str(text)) => format!("'{text}'"),
        Expression::Literal(value) => value.to_string(),
        Expression::Column(name) => name.clone(),
        Expression::Variable(name) => format!("@{name}"),
        Expression::Path { .. } => expression.to_string(),
        Expression::Unary(operator, operand) => format!("({operator:?} {})", shape(operand)),
        Expression::Binary(operator, left, right) => {
            format!("({} {operator:?} {})", shape(left), shape(right))
        }
        Expression::In {
            needle,
            negated,
            list,
        } => {
            let list: Vec<String> = list.iter().map(|value| value.to_string()).collect();
            format!(
                "({} {}IN {})",
                shape(needle),
                negation(negated),
                list.join(",")
            )
        }
        Expression::InRows { .. }
        | Expression::Call(..)
        | Expression::Aggregate(..)
        | Expression::Truth(_)
        | Expression::Each { .. } => expression.to_string(),
        Expression::Between {
            needle,
            negated,
            low,
            high,
        } => {
            format!(
                "({} {}BETWEEN {} {})",
                shape(needle),
                negation(negated),
                shape(low),
                shape(high)
            )
        }
        Expression::IsNull { needle, negated } => {
            format!("({} IS {}NULL)", shape(needle), negation(negated))
        }
    }
}

#[track_caller]
fn check(text: &str, want: &str) {
    let got = parsed(text).map_or_else(|error| error.to_string(), |tree| shape(&tree));
    assert_eq!(got, want, "{text}");
}

/// The value where `a` is 1, `s` is 'x', `n` is NULL, by both evaluators.
#[track_caller]
fn check_value(text: &str, want: Value) {
    let row = |name: &str| match name {
        "a" => Some(Value::Int(1)),
        "s" => Some(Value::Str("x".into())),
        _ => None,
    };
    let tree = parsed(text).unwrap();
    assert_eq!(evaluate(&tree, &row), want, "{text}");
    let names = ["a", "s", "n"];
    let prepared =
        Prepared::new(&tree, &|name| names.iter().position(|known| *known == name)).unwrap();
    assert_eq!(
        prepared.evaluate(&Metered::new(&Unmetered, |slot: usize| row(names[slot])
            .unwrap_or(Value::Null))),
        want,
        "{text}"
    );
}

#[test]
fn operators_bind_as_in_mysql() {
    check("a OR b AND c", "(a Or (b And c))");
    check("a || b && NOT c = 1", "(a Or (b And (Not (c Equal 1))))");
    check("a + b * c - d", "((a Add (b Multiply c)) Subtract d)");
    check("a - b - c", "((a Subtract b) Subtract c)");
    check("-a * !b", "((Minus a) Multiply (Not b))");
    check("a = b < c", "((a Equal b) Less c)");
    check(
        "NOT a BETWEEN 1 AND 2 AND b",
        "((Not (a BETWEEN 1 2)) And b)",
    );
    check(
        "a NOT BETWEEN b + 1 AND 2 OR c IS NOT NULL",
        "((a NOT BETWEEN (b Add 1) 2) Or (c IS NOT NULL))",
    );
    check(
        "(a OR b) AND c % 2 <> 5 MOD 3",
        "((a Or b) And ((c Modulo 2) NotEqual (5 Modulo 3)))",
    );
    check("`Select` = 'it''s'", "(select Equal 'it's')");
    check("_utf8'a' = _binary'b'", "('a' Equal b)");
    check("-5 = TRUE", "(-5 Equal TRUE)");
    check("1 -1", "(1 Subtract 1)");
    check("a XOR b AND c OR d", "((a Xor (b And c)) Or d)");
    check(
        "a | b & c << 1 + d = 2",
        "((a BitOr (b BitAnd (c ShiftLeft (1 Add d)))) Equal 2)",
    );
    check(
        "~a ^ b * c DIV 2",
        "((((BitNot a) BitXor b) Multiply c) IntegerDivide 2)",
    );
    check("pow(a, b + 1) > 2", "((a Power (b Add 1)) Greater 2)");
    check(
        "a IS TRUE AND b IS NOT FALSE",
        "((IsTrue a) And (Not (IsFalse b)))",
    );
}

#[test]
fn conditions_of_queue_wait_read_hexadecimal_and_octal_numbers() {
    let read = |text: &str| parse_condition(&mut Lexer::new(text.as_bytes()));
    assert_eq!(
        shape(&read("a = 0x1F AND b & 017 AND c < 0").unwrap()),
        "(((a Equal 31) And (b BitAnd 15)) And (c Less 0))"
    );
    assert_eq!(
        read("a = 08").unwrap_err().to_string(),
        "malformed octal or hexadecimal number at byte 4"
    );
}

#[test]
fn bits_are_those_of_64_without_a_sign() {
    check_value("6 & 3 | 8", Value::Int(10));
    check_value("6 ^ 3", Value::Int(5));
    check_value("~0", Value::Int(u64::MAX.into()));
    check_value("-1 & 255", Value::Int(255));
    check_value("1 << 63 >> 62", Value::Int(2));
    check_value("1 << 64", Value::Int(0));
    check_value("1 >> -1", Value::Int(0));
    check_value("a | n", Value::Null);
}

#[test]
fn quotients_and_powers_stay_whole_where_they_can() {
    check_value("7 DIV 2", Value::Int(3));
    check_value("-7 DIV 2", Value::Int(-3));
    check_value("7.5 DIV 2", Value::Int(3));
    check_value("a DIV 0", Value::Null);
    check_value("pow(2, 10)", Value::Int(1024));
    check_value("pow(2, -1)", Value::Float(0.5));
    check_value("pow(n, 2)", Value::Null);
}

#[test]
fn truth_can_be_asked_for() {
    check_value("n IS TRUE", Value::Int(0));
    check_value("n IS NOT TRUE", Value::Int(1));
    check_value("a IS TRUE", Value::Int(1));
    check_value("a IS NOT FALSE", Value::Int(1));
    check_value("a XOR 1", Value::Int(0));
    check_value("a XOR n", Value::Null);
}

#[test]
fn in_lists_take_constants() {
    check(
        "a IN (1, -2, 'x', NULL, 1.5)",
        "(a IN 1,-2,x,NULL,1.500000)",
    );
    check("a NOT IN (1)", "(a NOT IN 1)");
    check("a IN ()", "expected a constant, found ')' at byte 6");
    check(
        "a IN (b)",
        "not yet: columns in the list of IN: write a = b OR a = c at byte 6",
    );
    check("a IN (1", "expected , or ), found the end at byte 7");
    check("a IN (-'x')", "expected a number, found ')' at byte 10");
}

#[test]
fn equalities_of_one_column_become_a_list() {
    check("a = 1 OR 2 = a OR a IN (3, 4)", "(a IN 1,2,3,4)");
    check("a = 1 OR b = 2 OR b = 3", "((a Equal 1) Or (b IN 2,3))");
    check("(a = 1 OR a = 2) OR (a = 3)", "(a IN 1,2,3)");
    check("a = 1 OR a NOT IN (2)", "((a Equal 1) Or (a NOT IN 2))");
    check("a = 1 AND a = 2", "((a Equal 1) And (a Equal 2))");
    check("a = b OR a = 1", "((a Equal b) Or (a Equal 1))");
}

#[test]
fn parsing_stops_where_an_expression_cannot_go_on() {
    let mut lexer = Lexer::new(b"a = 1 ORDER BY b");
    assert_eq!(shape(&parse(&mut lexer).unwrap()), "(a Equal 1)");
    assert!(lexer.at_word("order"));
}

#[test]
fn calls_are_the_callers_matter() {
    let mut seen = String::new();
    let mut lexer = Lexer::new(b"a > 1 AND match('b') OR c");
    let tree = parse_with_calls(&mut lexer, &mut |name, lexer| {
        let argument = lexer.next();
        seen = format!(
            "{name} {}",
            String::from_utf8_lossy(&lexer.string(&argument))
        );
        assert!(lexer.take(TokenKind::Close));
        Ok(Some(Expression::Column("call".into())))
    });
    assert_eq!(shape(&tree.unwrap()), "(((a Greater 1) And call) Or c)");
    assert_eq!(seen, "match b");
    check("a + sha1(b)", "not yet: the function sha1() at byte 4");
    check("a + frobnicate(b)", "no function 'frobnicate' at byte 4");
    check(
        "lenght(a)",
        "no function 'lenght', did you mean length()? at byte 0",
    );
    check("left(a)", "left() takes 2 arguments, there are 1 at byte 0");
    check(
        "remap(a, 0, (1, 2), (10))",
        "remap() needs lists of one length, these have 2 and 1 values at byte 0",
    );
    check(
        "remap(a, 0, (), (10))",
        "remap() needs lists of one length, these have 0 and 1 values at byte 0",
    );
    check(
        "remap(a, 0, (1, 'b'), (10, 20))",
        "remap() takes lists of numbers or of texts, this one has both: 1 and 'b' at byte 12",
    );
    check(
        "remap(a, 0, (1, 9007199254740993), (0.5, 9007199254740993))",
        "remap() takes numbers with and without fractions as doubles, which do not hold 9007199254740993 at byte 35",
    );
    check(
        "remap(a, 0, (1, b), (10, 20))",
        "expected a constant, found 'b' at byte 16",
    );
    check(
        "regex(a, '(')",
        "bad regular expression: unclosed group at byte 0",
    );
    check(
        "year(a, 'Mars/Utopia')",
        "no time zone 'Mars/Utopia' at byte 0",
    );
    check(
        "geodist(1, 2, 3, 4, {inn=deg})",
        "geodist() has no option 'inn', did you mean in? at byte 0",
    );
    check(
        "any(a) + 1",
        "expected a comparison with the items, found '+' at byte 7",
    );
    check("now() > 1", "now() cannot stand here at byte 0");
    let meant = "no function 'wieght', did you mean weight()? at byte 0";
    check("wieght() > 1", meant);
}

#[test]
fn errors_say_what_was_wanted_and_where() {
    check("a =", "expected a value, found the end at byte 3");
    check("a = AND b", "expected a value, found 'AND' at byte 4");
    check("(a", "expected ), found the end at byte 2");
    check("a = 'x", "unclosed string at byte 4");
    check(
        "a IS 1",
        "expected NULL, TRUE or FALSE, found '1' at byte 5",
    );
    check("a NOT 1", "expected IN or BETWEEN, found '1' at byte 6");
    check(
        "(a, b) = 1",
        "expected a row in brackets, found '1' at byte 9",
    );
    check("t.[1] = 1", "expected a column name, found '[' at byte 2");
    check(
        "t[x] = 1",
        "expected a key in quotes or the number of an item, found 'x' at byte 2",
    );
}

#[test]
fn null_is_neither_true_nor_false() {
    check_value("n = 1", Value::Null);
    check_value("n = 1 OR a = 1", Value::Int(1));
    check_value("n = 1 AND a = 2", Value::Int(0));
    check_value("n = 1 AND a = 1", Value::Null);
    check_value("NOT n", Value::Null);
    check_value("n IS NULL", Value::Int(1));
    check_value("a IS NULL", Value::Int(0));
    check_value("a IN (2, NULL)", Value::Null);
    check_value("a IN (1, NULL)", Value::Int(1));
    check_value("a NOT IN (2, NULL)", Value::Null);
    check_value("n NOT IN (1)", Value::Null);
    check_value("a BETWEEN NULL AND 0", Value::Int(0));
    check_value("a BETWEEN NULL AND 2", Value::Null);
}

#[test]
fn arithmetic_is_exact_on_whole_numbers_and_null_by_nought() {
    check_value("7 % -4", Value::Int(3));
    check_value("-7 % 4", Value::Int(-3));
    check_value("7 / 2", Value::Float(3.5));
    check_value("1 / 0", Value::Null);
    check_value("1 % 0.0", Value::Null);
    check_value("18446744073709551615 + 1", Value::Int(1 << 64));
    check_value("'2' * '3'", Value::Int(6));
    check_value("a + n", Value::Null);
    check_value("1.5 + 1", Value::Float(2.5));
    check_value("-s", Value::Int(0));
    let big = i128::MAX;
    check_value(&format!("{big} + {big}"), Value::Float(big as f64 * 2.0));
}

#[test]
fn unknown_columns_are_named() {
    let tree = parsed("a = 1 AND b IN (2)").unwrap();
    let error = Prepared::new(&tree, &|name| (name == "a").then_some(0)).unwrap_err();
    assert_eq!(error, Unprepared::UnknownColumn("b".into()));
}

#[test]
fn a_million_terms_neither_overflow_the_stack_nor_slow_a_row_down() {
    let count = 1_000_000;
    let one_column: String = (0..count).map(|key| format!("OR a={key} ")).collect();
    let tree = parsed(&one_column[3..]).unwrap();
    assert!(matches!(&tree, Expression::In { list, .. } if list.len() == count));
    let prepared = Prepared::new(&tree, &|_| Some(0)).unwrap();
    assert!(
        prepared.accepts(&Metered::new(&Unmetered, |_| Value::Int(999_999)))
            && !prepared.accepts(&Metered::new(&Unmetered, |_| Value::Int(-1)))
    );

    let two_columns: String = (0..count / 20)
        .map(|key| format!("OR a={key} AND b={key} "))
        .collect();
    let tree = parsed(&two_columns[3..]).unwrap();
    assert_eq!(evaluate(&tree, &|_| Some(Value::Int(7))), Value::Int(1));
    let prepared = Prepared::new(&tree.clone(), &|_| Some(0)).unwrap();
    assert!(!prepared.accepts(&Metered::new(&Unmetered, |_| Value::Int(-1))));
    assert_eq!(tree, tree.clone());
}

#[test]
fn depth_is_limited_and_the_deepest_tree_fits_the_stack() {
    let depth = EXPRESSION_DEPTH_MAX as usize;
    let nested = |count: usize| "(".repeat(count) + "a" + &")".repeat(count);
    assert!(parsed(&nested(depth - 1)).is_ok());
    check(
        &nested(depth + 1),
        "expression is nested deeper than 100 at byte 101",
    );
    let error = parsed(&nested(1_000_000)).unwrap_err();
    assert!(error.message.contains("deeper"));
    for unit in ["NOT ", "!", "- ", "a - (", "NOT (a OR b AND "] {
        assert!(parsed(&unit.repeat(1_000_000)).is_err(), "{unit}");
        let deepest = (1..depth).rev().map(|count| {
            parsed(&(unit.repeat(count) + "a" + &")".repeat(unit.matches('(').count() * count)))
        });
        let tree = deepest.flatten().next().unwrap();
        assert_eq!(evaluate(&tree.clone(), &|_| None), Value::Null);
        assert!(
            !Prepared::new(&tree, &|_| Some(0))
                .unwrap()
                .accepts(&Metered::new(&Unmetered, |_| Value::Null))
        );
    }
    assert!(
        parsed(&("a".to_owned() + &" + a".repeat(1000)))
            .unwrap_err()
            .message
            .contains("deeper")
    );
}

fn tree() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        value().prop_map(Expression::Literal),
        prop::sample::select(vec!["a", "b", "c"]).prop_map(|name| Expression::Column(name.into())),
    ];
    leaf.prop_recursive(4, 24, 3, |inside| {
        use BinaryOperator::*;
        let operator = prop::sample::select(vec![
            And,
            Or,
            Equal,
            NotEqual,
            Less,
            LessOrEqual,
            Greater,
            GreaterOrEqual,
            Add,
            Subtract,
            Multiply,
            Divide,
            Modulo,
        ]);
        let boxed = || inside.clone().prop_map(Box::new);
        prop_oneof![
            (operator, boxed(), boxed())
                .prop_map(|(operator, a, b)| Expression::Binary(operator, a, b)),
            boxed().prop_map(|a| Expression::Unary(UnaryOperator::Not, a)),
            boxed().prop_map(|a| Expression::Unary(UnaryOperator::Minus, a)),
            (boxed(), any::<bool>(), prop::collection::vec(value(), 1..5)).prop_map(
                |(needle, negated, list)| Expression::In {
                    needle,
                    negated,
                    list: list.into_iter().collect()
                }
            ),
            (
                prop::collection::vec(inside.clone(), 2..4),
                any::<bool>(),
                prop::collection::vec(prop::collection::vec(value(), 4), 1..5)
            )
                .prop_map(|(needles, negated, rows)| {
                    let place = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
                    Expression::InRows {
                        columns: (0..needles.len()).map(place).collect(),
                        needles,
                        negated,
                    }
                }),
            (boxed(), any::<bool>(), boxed(), boxed()).prop_map(|(needle, negated, low, high)| {
                Expression::Between {
                    needle,
                    negated,
                    low,
                    high,
                }
            }),
            (boxed(), any::<bool>())
                .prop_map(|(needle, negated)| Expression::IsNull { needle, negated }),
            call(inside.clone()),
            (
                prop::sample::select(vec![Over::Any, Over::All, Over::Index]),
                prop::sample::select(vec!["a", "x"]),
                boxed(),
                boxed()
            )
                .prop_map(|(over, variable, list, condition)| Expression::Each {
                    over,
                    variable: variable.to_owned(),
                    list,
                    condition,
                }),
        ]
    })
}

/// A call of any function with as many arguments as it takes, and constants where it wants them.
fn call(
    inside: impl Strategy<Value = Expression> + Clone + 'static,
) -> impl Strategy<Value = Expression> {
    let is_written = |it: &Function| !it.is_of_the_moment() && *it != Function::LocalMoment;
    let functions: Vec<Function> = Function::all().filter(is_written).collect();
    let arguments = prop::collection::vec(inside, 6);
    (prop::sample::select(functions), arguments, 0..3_usize).prop_map(
        |(function, mut arguments, more)| {
            let text = |text: &str| Expression::Literal(Value::Str(text.to_owned()));
            let constants: &[(usize, &str)] = match function {
                Function::Regex | Function::Regexp => &[(1, "^a.*|[0-9]")],
                Function::DateAdd | Function::DateSub => &[(2, "month")],
                Function::Histogram => &[(1, r#"{"hist_interval":3,"hist_offset":1}"#)],
                Function::DateHistogram => &[(
                    1,
                    r#"{"calendar_interval":"week","time_zone":"Europe/Berlin"}"#,
                )],
                Function::Range | Function::Ranges => &[
                    (1, r#"{"range_to":2}"#),
                    (2, r#"{"range_from":2}"#),
                    (3, "{}"),
                ],
                Function::DateRange | Function::DateRanges => &[
                    (1, r#"{"range_to":"2024-01-31||+1M/d"}"#),
                    (2, "{}"),
                    (3, "{}"),
                ],
                Function::Like => &[(2, "|")],
                Function::Levenshtein => &[(2, r#"{"normalize":1}"#)],
                Function::Geodist => &[(4, r#"{"in":"deg","out":"km"}"#)],
                Function::DateFormat | Function::FromUnixtime => &[(1, "%H:%M"), (2, "+02:00")],
                Function::DateDiff => &[(2, "America/New_York")],
                _ if function.takes_zone() => &[(1, "Asia/Kolkata")],
                _ => &[],
            };
            for (at, constant) in constants {
                arguments[*at] = text(constant);
            }
            let (least, most) = function.arity();
            arguments.truncate((least + more).min(most).max(least).min(6));
            Expression::Call(function, arguments)
        },
    )
}

/// A constant as written.
fn constant_text() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => (0..5_000_000_u64).prop_map(|number| number.to_string()),
        1 => any::<i128>().prop_map(|number| (number >> 50).to_string()),
        1 => (-9_i8..0).prop_map(|number| number.to_string()),
        4 => "'[a-c ]{0,3}'",
        1 => r"'(a|\\'|''|\\n|ä){0,3}'",
        1 => Just("NULL".to_owned()),
        1 => Just("1.5".to_owned()),
    ]
}

/// The value of a constant, read alone.
fn literal(text: &str) -> Value {
    constant(&mut Lexer::new(text.as_bytes())).unwrap()
}

/// The verdict of a condition on a row, if it decides.
fn decide(condition: &Simple, row: &[Value]) -> Option<bool> {
    match condition {
        Simple::Whole {
            slot,
            path,
            low,
            high,
            negated,
        } => match if path.is_empty() {
            row[*slot].clone()
        } else {
            row[*slot].at_path(path)
        } {
            Value::Int(number) => {
                let number = i64::try_from(number).ok()?;
                Some((*low..=*high).contains(&number) != *negated)
            }
            _ => None,
        },
        Simple::Texts {
            slot,
            hashes,
            negated,
        } => match &row[*slot] {
            Value::Str(text) => (!hashes.contains(&text_hash(text))).then_some(*negated),
            _ => None,
        },
    }
}

proptest! {
    #[test]
    fn an_expression_read_back_from_its_text_means_the_same(tree in tree(), row in prop::collection::vec(value(), 3)) {
        let names = ["a", "b", "c"];
        let slot = |name: &str| names.iter().position(|known| *known == name);
        let meant = |tree: &Expression| evaluate(tree, &|name| Some(row[slot(name)?].clone()));
        let text = tree.to_string();
        // An endless number has no text: a filter with one stays as it was written.
        prop_assume!(!text.contains("inf"));
        let read = parsed(&text).unwrap();
        prop_assert_eq!(format!("{:?}", meant(&read)), format!("{:?}", meant(&tree)), "{}", text);
    }

    #[test]
    fn the_prepared_form_means_what_the_tree_means(tree in tree(), row in prop::collection::vec(value(), 3)) {
        let names = ["a", "b", "c"];
        let slot = |name: &str| names.iter().position(|known| *known == name);
        let is_no_number = |part: &Expression| {
            part.constant().is_some_and(|value| value.text_bytes().is_some() && value.spelled().is_none())
        };
        let prepared = match Prepared::new(&tree, &slot) {
            Ok(prepared) => prepared,
            // A text beside a number that is worked out.
            Err(error) => {
                prop_assert!(tree.has(&mut |part| is_no_number(part)), "{}: {}", tree, error);
                return Ok(());
            }
        };
        let slow = evaluate(&tree, &|name| Some(row[slot(name)?].clone()));
        let fast = prepared.evaluate(&Metered::new(&Unmetered, |slot: usize| row[slot].clone()));
        // Debug text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
    }

    #[test]
    fn numbers_in_quotes_beside_a_number_mean_what_the_tree_means(
        needle in prop_oneof![(-3..9_i128).prop_map(Value::Int), (-3..9).prop_map(|it| Value::Float(f64::from(it) / 2.0)), Just(Value::Null)],
        list in prop::collection::vec(
            prop_oneof![
                6 => (-3..9_i128).prop_map(Value::Int),
                20 => (-3..9_i128).prop_map(|it| Value::Str(it.to_string())),
                1 => "[-+ ]?[0-9]{0,2}[.ex]?[0-9]?".prop_map(Value::Str),
                1 => value(),
            ],
            1..6,
        ),
        negated: bool,
    ) {
        let list: List = list.into_iter().collect();
        let tree = Expression::In { needle: Box::new(Expression::Column("n".into())), negated, list };
        let column = |_: &str| Some((0, crate::schema::ColumnType::Bigint));
        let Ok(prepared) = Prepared::typed(&tree, &column) else {
            let Expression::In { list, .. } = &tree else { unreachable!("as made") };
            let is_refused = |value: Value| value.text_bytes().is_some() && value.spelled().is_none();
            prop_assert!(list.iter().any(is_refused), "{tree}");
            return Ok(());
        };
        let fast = prepared.evaluate(&Metered::new(&Unmetered, |_| needle.clone()));
        prop_assert_eq!(fast, evaluate(&tree, &|_| Some(needle.clone())));
    }

    #[test]
    fn a_value_of_a_document_beside_constants_means_what_the_tree_means(
        document in prop::sample::select(vec![
            "{}", r#"{"k":null}"#, r#"{"k":0}"#, r#"{"k":1.0}"#, r#"{"k":2.5}"#, r#"{"k":false}"#, r#"{"k":true}"#, r#"{"k":"0"}"#,
            r#"{"k":"Red"}"#, r#"{"k":["red",1]}"#, r#"{"k":{"a":1}}"#, r#"{"k":18446744073709551615}"#,
        ]),
        constants in prop::collection::vec(
            prop::sample::select(vec!["0", "1", "2.5", "'0'", "'red'", "TRUE", "FALSE", "NULL", "18446744073709551615"]), 1..4,
        ),
        form in prop::sample::select(vec!["j.k = {}", "{} <> j.k", "j.k < {}", "j.k >= {}", "j.k <=> {}", "j.k BETWEEN {} AND {}", "j.k IN ({list})", "j.k NOT IN ({list})"]),
    ) {
        let mut text = form.replace("{list}", &constants.join(","));
        for constant in constants.iter().cycle().take(2) {
            text = text.replacen("{}", constant, 1);
        }
        let tree = parsed(&text).unwrap();
        let document = Value::Json(crate::json::Json::parse(document.as_bytes()).unwrap());
        let column = |_: &str| Some((0, crate::schema::ColumnType::Json));
        let prepared = Prepared::typed(&tree, &column).unwrap();
        let fast = prepared.evaluate(&Metered::new(&Unmetered, |_| document.clone()));
        prop_assert_eq!(&fast, &evaluate(&tree, &|_| Some(document.clone())), "{}", &text);
        // What a conjunction of ranges says of a whole number is what the tree says.
        let kind = document.at_path(&[crate::json::JsonStep::Key("k".to_owned()), crate::json::JsonStep::Itself]);
        if let (Some(simple), Value::Int(_)) = (prepared.simple(), &kind) {
            let row = [kind];
            let simple: Option<Vec<bool>> = simple.iter().map(|condition| decide(condition, &row)).collect();
            if let Some(decided) = simple {
                prop_assert_eq!(decided.iter().all(|it| *it), fast.as_bool() == Some(true), "{}", &text);
            }
        }
    }

    #[test]
    fn conditions_that_decide_a_row_decide_it_as_the_tree_does(row in prop::collection::vec(prop_oneof![value(), (-5..9_i128).prop_map(Value::Int)], 3)) {
        let texts = [
            "a > 3", "2 >= a", "a <> 1 and 1 < b", "a not between -1 and 4", "a between 5 and 2", "c in ('x', 'Y') and a = 1",
            "c <> 'a'", "'A' = c and c not in ('b', 'a') and b <= 7",
        ];
        for text in texts {
            let names = ["a", "b", "c"];
            let slot = |name: &str| names.iter().position(|known| *known == name);
            let prepared = Prepared::new(&parsed(text).unwrap(), &slot).unwrap();
            let decided: Option<Vec<bool>> = prepared.simple().unwrap().iter().map(|condition| decide(condition, &row)).collect();
            if let Some(decided) = decided {
                let accepts = decided.iter().all(|is_true| *is_true);
                prop_assert_eq!(accepts, prepared.accepts(&Metered::new(&Unmetered, |slot: usize| row[slot].clone())), "{}", text);
            }
        }
        let others = ["a", "a > b", "a = 1 or b = 1", "a in (1, 'x')", "a > 1.5", "not a = 1", "c < 'x'"];
        for text in others {
            let prepared = Prepared::new(&parsed(text).unwrap(), &|name| Some(name.len())).unwrap();
            prop_assert_eq!(prepared.simple(), None, "{}", text);
        }
    }

    #[test]
    fn a_list_is_a_chain_of_equalities(needle in value(), list in prop::collection::vec(value(), 1..5)) {
        let literal = |value: &Value| Box::new(Expression::Literal(value.clone()));
        let equalities = list.iter().map(|one| Expression::Binary(BinaryOperator::Equal, literal(&needle), literal(one)));
        let chain = Expression::any_of(equalities.collect());
        let list = Expression::In { needle: literal(&needle), negated: false, list: list.into_iter().collect() };
        prop_assert_eq!(evaluate(&chain, &|_| None), evaluate(&list, &|_| None));
    }

    /// Rows that differ in their constants alone are read by their bytes, the others by tokens.
    #[test]
    fn lists_are_read_alike_however_they_are_written(
        rows in prop::collection::vec((constant_text(), constant_text(), 0..9_usize), 1..30),
    ) {
        let blank = |style: &usize| if *style == 8 { "  " } else { " " };
        let joined = |text: &dyn Fn(&(String, String, usize)) -> String| {
            rows.iter().map(text).collect::<Vec<_>>()
        };
        let listed = joined(&|(a, _, style)| format!("{}{a}", blank(style))).join(",");
        let or = joined(&|(a, _, style)| format!("k ={}{a}", blank(style))).join(" OR ");
        let boxed = joined(&|(a, _, style)| format!("({}k={a} )", blank(style))).join(" OR ");
        let list: List = rows.iter().map(|(a, ..)| literal(a)).collect();
        let needle = || Expression::Column("k".into());
        let wanted = Expression::In { needle: Box::new(needle()), negated: false, list: list.clone() };
        prop_assert_eq!(&parsed(&format!("k IN ({listed})")).unwrap(), &wanted);
        if rows.len() > 1 {
            prop_assert_eq!(&parsed(&or).unwrap(), &wanted);
            prop_assert_eq!(&parsed(&format!("(({boxed}))")).unwrap(), &wanted);
        }
        let pairs = joined(&|(a, b, style)| format!("({a},{}{b})", blank(style))).join(", ");
        let ands = joined(&|(a, b, style)| format!("(k={a} AND m{}= {b})", blank(style))).join(" or ");
        let wanted = Expression::InRows {
            needles: vec![needle(), Expression::Column("m".into())],
            negated: false,
            columns: vec![list, rows.iter().map(|(_, b, _)| literal(b)).collect()],
        };
        prop_assert_eq!(&parsed(&format!("(k, m) IN ({pairs})")).unwrap(), &wanted);
        if rows.len() > 1 {
            prop_assert_eq!(&parsed(&ands).unwrap(), &wanted);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in r"([ab1'(),=<>!+*/%-]| |IN|NOT|AND|OR|BETWEEN|IS NULL|\PC){0,30}") {
        if let Err(error) = parsed(&text) {
            prop_assert!(error.position <= text.len());
        }
    }
}

#[test]
fn an_expression_is_written_in_one_way_that_reads_back() {
    for (text, written) in [
        ("price  >  5", "price>5"),
        ("`price` <> -5 and `or` = 1", "price!=-5 AND `or`=1"),
        ("a=1 or a=2 or b is not null", "a IN (1,2) OR b IS NOT NULL"),
        ("(a or b) and not (c and d)", "(a OR b) AND NOT (c AND d)"),
        ("a and b and c and d and e", "a AND b AND c AND d AND e"),
        (
            "a not in (1, 'it''s', x'4D', null)",
            "a NOT IN (1,'it\\'s',x'4d',NULL)",
        ),
        ("x not between 1+1 and 5.50", "x NOT BETWEEN 1+1 AND 5.5"),
        ("1 - (2 - 3) - -4 * (5 + 6)", "1 - (2 - 3) - -4*(5+6)"),
        ("(a = b) = c", "(a=b)=c"),
        ("-(a) + ~b mod 3 div 2", "-a+~b%3 DIV 2"),
        ("pow(a + 1, 2) is true", "pow(a+1,2) IS TRUE"),
        ("a | b & c ^ d << 1 xor 'x\\\\y'", "a|b&c^d<<1 XOR 'x\\\\y'"),
    ] {
        let tree = parsed(text).unwrap();
        assert_eq!(tree.to_string(), written);
        assert_eq!(parsed(written).unwrap(), tree, "{written}");
    }
}

#[test]
fn a_column_may_stand_behind_the_name_of_its_table() {
    let tables = ["t".to_owned(), "posts".to_owned()];
    let read = |text: &str| {
        let mut lexer = Lexer::new(text.as_bytes());
        parse_of_tables(&mut lexer, &tables, &mut |_, _| Ok(None)).map_err(|error| error.message)
    };
    let column = Expression::Column("price".to_owned());
    for text in ["t.price", "T.`price`", "`db`.posts.Price"] {
        assert_eq!(read(text).as_ref(), Ok(&column), "{text}");
    }
    // Any other name is a JSON column: keys have a case.
    let path = |column: &str, steps: Vec<JsonStep>| Expression::Path {
        column: column.to_owned(),
        steps,
    };
    let key = |key: &str| JsonStep::Key(key.to_owned());
    assert_eq!(read("U.Price"), Ok(path("u", vec![key("Price")])));
    assert_eq!(
        read("t.j.a[2]"),
        Ok(path("j", vec![key("a"), JsonStep::Item(2)]))
    );
    assert_eq!(read("db.t.j['a b']"), Ok(path("j", vec![key("a b")])));
    assert_eq!(
        read("j[0].x").map(|read| read.to_string()),
        Ok("j[0]['x']".to_owned())
    );
    assert_eq!(
        read("t.(").unwrap_err(),
        "expected a column name, found '('"
    );
}

#[test]
fn functions_give_what_their_documents_say() {
    let cases = include_str!("tests/functions.txt");
    for line in cases
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
    {
        let (text, want) = line.split_once(" => ").expect(line);
        let tree = parsed(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown = |value: &Value| match value {
            Value::Float(number) => format!("{number:?}"),
            other => other.to_string(),
        };
        assert_eq!(shown(&evaluate(&tree, &|_| None)), want, "{text}");
        let prepared = Prepared::new(&tree, &|_| None).unwrap();
        assert_eq!(
            shown(&prepared.evaluate(&Metered::new(&Unmetered, |_: usize| Value::Null))),
            want,
            "{text}"
        );
        let again = parsed(&tree.to_string()).unwrap_or_else(|error| panic!("{tree}: {error}"));
        assert_eq!(again, tree, "{tree}");
    }
}

proptest! {
    #[test]
    fn buckets_of_a_histogram_repeat_whatever_its_offset(
        number: i32,
        width in 1..100_000_i64,
        offset: i64,
    ) {
        let begin = |offset: i128| {
            let number = i128::from(number);
            number - (number - offset).rem_euclid(width.into())
        };
        let bucket = |offset: &dyn std::fmt::Debug| {
            let text = format!("histogram({number}, {{hist_interval={width}, hist_offset={offset:?}}})");
            evaluate(&parsed(&text).unwrap(), &|_| None)
        };
        prop_assert_eq!(bucket(&offset), Value::Int(begin(offset.into())));
        let real = offset as f64;
        prop_assert_eq!(bucket(&real), Value::Float(begin(real as i128) as f64));
    }
}

#[test]
fn every_function_is_in_its_document() {
    let document = include_str!("../../../../docs/functions.md");
    for name in Function::names() {
        let heading = format!("`{}(", name.to_uppercase());
        assert!(
            document.contains(&heading),
            "docs/functions.md lacks {heading}"
        );
    }
}

#[test]
fn items_of_lists_are_no_columns() {
    let first = |text: &str| parsed(text).unwrap().first_column().map(str::to_owned);
    let nested = "any(all(x + y > 1 for y in (1, 2)) for x in (3, 4))";
    assert_eq!(first(nested), None);
    assert_eq!(first(&nested.replace("y >", "z >")), Some("z".to_owned()));
    assert_eq!(first("any(x > 1 for x in x)"), Some("x".to_owned()));
    assert_eq!(first("1 + rand(5)"), Some("rand()".to_owned()));
}

/// Arithmetic and conditions of the columns `a` and `b`, and a bitwise operation that blocks do not have.
fn arithmetic() -> impl Strategy<Value = String> {
    let number = prop_oneof![Just(0_i64), -3..4_i64, Just(i64::MAX)];
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        number.prop_map(|number| format!("({number})")),
    ];
    let operators = vec![
        "+", "-", "*", "DIV", "MOD", "=", "<>", "<", "<=", ">", ">=", "AND", "OR",
    ];
    let weighted = prop_oneof![20 => prop::sample::select(operators), 1 => Just("|")];
    let conditions = [
        "(NOT {a})",
        "({a} IN (-2, 0, 3))",
        "({a} NOT IN (1, '2', NULL))",
        "({a} BETWEEN {b} AND 3)",
        "({a} NOT BETWEEN -1 AND {b})",
        "(({a}, {b}) IN ((0, 1), (-2, 3), (4, 4)))",
        "(({a}, {b}) NOT IN ((0, 1), (2, NULL)))",
    ];
    let conditions = prop::sample::select(conditions.to_vec());
    leaf.prop_recursive(3, 8, 2, move |inner| {
        let binary = (inner.clone(), weighted.clone(), inner.clone());
        let binary = binary.prop_map(|(a, of, b)| format!("({a} {of} {b})"));
        let condition = (conditions.clone(), inner.clone(), inner);
        let condition =
            condition.prop_map(|(text, a, b)| text.replace("{a}", &a).replace("{b}", &b));
        prop_oneof![2 => binary, 1 => condition]
    })
}

proptest! {
    #[test]
    fn a_block_of_whole_numbers_has_the_values_of_its_rows(
        text in arithmetic(),
        rows in prop::collection::vec((-5..6_i64, prop_oneof![9 => -5..6_i64, 1 => Just(i64::MIN)]), 1..9),
    ) {
        let expression = parsed(&text).unwrap();
        let slot = |name: &str| ["a", "b"].iter().position(|known| *known == name);
        let prepared = Prepared::new(&expression, &slot).unwrap();
        let column = |slot: usize| rows.iter().map(|row| [row.0, row.1][slot]).collect();
        let block = prepared.evaluate_whole(rows.len(), &mut |slot| Some(column(slot)), &Unmetered);
        let by_row = rows.iter().map(|row| {
            prepared.evaluate(&Metered::new(&Unmetered, |slot: usize| Value::Int([row.0, row.1][slot].into())))
        });
        let by_row: Vec<Value> = by_row.collect();
        if let Some(block) = block {
            let block: Vec<Value> = block.into_iter().map(|number| Value::Int(number.into())).collect();
            prop_assert_eq!(block, by_row, "{}", text);
        }
    }
}

#[test]
fn a_block_ends_where_a_row_has_no_whole_number() {
    let block = |text: &str, numbers: [i64; 2]| {
        let expression = parsed(text).unwrap();
        let prepared = Prepared::new(&expression, &|_| Some(0)).unwrap();
        prepared.evaluate_whole(2, &mut |_| Some(numbers.to_vec()), &Unmetered)
    };
    assert_eq!(block("a DIV 2 + (a > 5) * 10", [5, 8]), Some(vec![2, 14]));
    assert_eq!(block("7", [5, 8]), Some(vec![7, 7]));
    assert_eq!(block("1 DIV a", [5, 0]), None);
    assert_eq!(block("a * 2", [5, i64::MAX]), None);
    assert_eq!(block("a / 2", [5, 8]), None);
    assert_eq!(block("a | 2", [5, 8]), None);
    assert_eq!(block("a IN (8, 9) AND a > 5", [5, 8]), Some(vec![0, 1]));
    assert_eq!(
        block("NOT (a, 1) IN ((5, 1), (8, 2))", [5, 8]),
        Some(vec![0, 1])
    );
    assert_eq!(block("a IN (8, NULL)", [5, 8]), None);
}

#[test]
fn statements_share_the_list_of_a_variable() {
    let list = List::from(vec![7, 1, 5]).shared().unwrap();
    let moment = Moment {
        unix_us: 0,
        database: Some("d".to_owned()),
        zone: None,
        variable: &|name| (name == "ids").then(|| Variable::List(list.clone())),
    };
    let settled = |text: &str| {
        let tree =
            &mut parse_of_tables(&mut Lexer::new(text.as_bytes()), &[], &mut |_, _| Ok(None));
        let tree = tree.as_mut().unwrap();
        moment.settle(tree).map(|count| (count, tree.clone()))
    };
    let (count, tree) = settled("1 AND id NOT IN @IDS").unwrap();
    assert_eq!(count, 3);
    let mut shares = false;
    tree.has(&mut |part| {
        if let Expression::In { list: found, .. } = part {
            shares = found.whole().unwrap().as_ptr() == list.whole().unwrap().as_ptr();
        }
        false
    });
    assert!(shares);
    assert_eq!(tree.to_string(), "1 AND id NOT IN (7,1,5)");
    let unsettled = |text| settled(text).map(|_| ()).unwrap_err();
    assert_eq!(
        unsettled("id IN @other"),
        Unsettled::Unknown("other".to_owned())
    );
    assert_eq!(unsettled("id = @ids"), Unsettled::IsList("ids".to_owned()));
}

#[test]
fn parts_that_read_no_column_are_worked_out_once() {
    // `1` is read in the place of the column n.
    let read = |text: &str| {
        let prepared =
            Prepared::new(&parsed(text).unwrap(), &|name| (name == "n").then_some(1)).unwrap();
        prepared.simple().map(|conditions| conditions.len())
    };
    assert_eq!(read("n > 1 + 2 * 3"), Some(1));
    assert_eq!(read("n = LENGTH(UPPER(CONCAT('a', 'b')))"), Some(1));
    assert_eq!(read("n BETWEEN ABS(-(1 + 1)) AND 2 * 3"), Some(1));
    assert_eq!(read("n > n * 2"), None, "it reads the row");
    let time = |text: &str| {
        let typed = |name: &str| {
            (name == "t").then_some((0, crate::schema::ColumnType::Time { fraction_digits: 0 }))
        };
        let prepared = Prepared::typed(&parsed(text).unwrap(), &typed).unwrap();
        prepared.accepts(&Metered::new(&Unmetered, |_: usize| {
            Value::Str("10:11:12".to_owned())
        }))
    };
    assert!(
        time("t = LOWER(UPPER('10:11:12'))"),
        "as the constant itself"
    );
}
