use std::time::Duration;

use super::{Batch, Sizes};

/// Lets the automatic size run against a server whose calls take `fixed` and `each` a document.
fn settled(fixed_us: u64, each_us: impl Fn(usize) -> u64) -> usize {
    let mut sizes = Sizes::new(Batch::Auto);
    let mut used = [0_u32; 2_048];
    for _ in 0..20_000 {
        let size = sizes.next();
        used[size] += 1;
        sizes.took(
            size,
            Duration::from_micros(fixed_us + size as u64 * each_us(size)),
        );
    }
    let often = (0..used.len()).max_by_key(|size| used[*size]);
    often.unwrap()
}

#[test]
fn the_automatic_batch_grows_while_it_pays() {
    assert!(settled(1_000, |_| 10) >= 512);
}

#[test]
fn the_automatic_batch_shrinks_where_small_ones_are_faster() {
    assert_eq!(settled(0, |size| size as u64), 1);
}

#[test]
fn the_automatic_batch_stays_at_the_top_of_a_hill() {
    assert_eq!(settled(300, |size| 10 + (size / 256) as u64 * 10), 128);
}

#[test]
fn a_fixed_batch_stays_what_it_is() {
    let mut sizes = Sizes::new(Batch::Of(200));
    sizes.took(200, Duration::from_secs(1));
    assert_eq!(sizes.next(), 200);
}

#[test]
fn batches_are_written_as_numbers_or_auto() {
    assert_eq!("auto".parse(), Ok(Batch::Auto));
    assert_eq!("6".parse(), Ok(Batch::Of(6)));
    assert_eq!("0".parse::<Batch>(), Err(()));
    assert_eq!(Batch::Auto.to_string(), "auto");
}
