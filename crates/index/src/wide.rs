//! Compiles a loop twice: for any processor, and with the instructions of the last ten years.
//!
//! Both forms come from one source. With the newer instructions, counting bits takes one
//! instruction instead of a dozen, and bitmaps are united 32 bytes at a time.

/// Declares a function that calls another one, which must be `#[inline(always)]`, in the best form
/// that this processor can run.
macro_rules! wide {
    ($(#[$doc:meta])* $seen:vis fn $name:ident ( $($argument:ident : $kind:ty),* ) $(-> $result:ty)? = $plain:path) => {
        $(#[$doc])*
        #[allow(unsafe_code, reason = "functions compiled for a processor that was asked for are unsafe to call")]
        $seen fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn newer($($argument: $kind),*) $(-> $result)? {
                    $plain($($argument),*)
                }
                if relation::processor::has_avx2() {
                    // SAFETY: the processor has every feature that the function is compiled with, as was just asked.
                    return unsafe { newer($($argument),*) };
                }
            }
            $plain($($argument),*)
        }
    };
}

pub(crate) use wide;
