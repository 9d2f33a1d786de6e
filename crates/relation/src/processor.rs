//! The processor's newer instructions, and its prefetching.
#![expect(
    unsafe_code,
    reason = "the processor's instruction is behind a function that is unsafe to call"
)]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Whether the processor has AVX2, BMI1, BMI2, LZCNT and POPCNT, as most of the last ten years have.
#[cfg(target_arch = "x86_64")]
#[inline]
#[must_use]
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Prefetches these items, so that several reads wait for memory together. Does nothing on processors without the
/// instruction. No program can tell the difference but by time.
#[inline(always)]
pub fn fetch<T>(items: &[T]) {
    for at in (0..size_of_val(items)).step_by(LINE) {
        fetch_line(items.as_ptr().cast::<u8>().wrapping_add(at));
    }
}

/// Prefetches the cache line of an address, which may be any.
#[inline(always)]
pub fn fetch_line<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this kind has the instruction, which reads nothing that a program would see and may be
        // given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
