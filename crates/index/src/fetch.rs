//! Asking for memory before it is needed, so that several reads wait for it together.
#![allow(
    unsafe_code,
    reason = "the processor's instruction is behind a function that is unsafe to call"
)]

/// Bytes of a line of the processor's cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Has the processor bring these items near; where it cannot be asked for that, nothing. No program can tell the difference.
#[inline(always)]
pub(crate) fn fetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..size_of_val(items)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = items.as_ptr().cast::<i8>().wrapping_add(at);
        // SAFETY: every processor of this kind has the instruction, which reads nothing that a program would see and may be
        // given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}
