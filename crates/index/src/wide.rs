//! Loops compiled for what the processor can do: for any, and with the instructions that those of the last ten years have. One code
//! that goes through the compiler twice: counting bits takes one instruction where the common baseline needs a dozen, and bitmaps are
//! united 32 bytes at a time.

/// Declares a function that does what another one does, which must be `#[inline(always)]`, by the best code this processor has.
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
                if query::processor::has_avx2() {
                    // SAFETY: the processor has every feature that the function is compiled with, as was just asked.
                    return unsafe { newer($($argument),*) };
                }
            }
            $plain($($argument),*)
        }
    };
}

pub(crate) use wide;
