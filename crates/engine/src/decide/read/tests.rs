use super::*;

#[test]
fn an_answer_ends_with_an_error_before_it_fills_memory() {
    let row = || Ok(vec![Value::Str("x".repeat(1 << 20))]);
    let rows = ANSWER_BYTES_MAX >> 20;
    let few = std::iter::repeat_with(row).take(rows as usize - 1);
    assert!(bounded(few).all(|row| row.is_ok()));
    let many = std::iter::repeat_with(row).take(rows as usize + 1);
    let refused = bounded(many).find_map(Result::err);
    assert!(matches!(refused, Some(Error::Limit { .. })), "{refused:?}");
}
