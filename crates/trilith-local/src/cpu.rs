//! Whether this CPU can run the instructions the engine was compiled to.
//!
//! The native engine takes its instruction set from the compiler flags of the build and does not look again
//! at run time: on an older CPU the first matrix product would end the process with SIGILL. The standard
//! library's detection macro cannot tell, since it answers `true` at compile time for every feature the
//! build assumes; so the CPUID leaves are read directly.

/// The instruction-set extensions this build assumes and the running CPU lacks; empty when all is well.
pub(crate) fn missing_features() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        missing_of(&x86::REQUIRED, x86::read())
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        Vec::new()
    }
}

/// One extension: its name, whether this build uses it, and where CPUID reports it.
#[derive(Clone, Copy)]
struct Feature {
    name: &'static str,
    compiled_in: bool,
    word: usize,
    bit: u32,
}

/// The CPUID registers that name the extensions: leaf 1 ECX, leaf 7 EBX, leaf 0x8000_0001 ECX.
type Words = [u32; 3];

fn missing_of(features: &[Feature], words: Words) -> Vec<&'static str> {
    features
        .iter()
        .filter(|feature| feature.compiled_in)
        .filter(|feature| words.get(feature.word).is_none_or(|word| word >> feature.bit & 1 == 0))
        .map(|feature| feature.name)
        .collect()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Feature, Words};
    use core::arch::x86_64::{__cpuid, __cpuid_count};

    macro_rules! feature {
        ($name:tt, $word:expr, $bit:expr) => {
            Feature { name: $name, compiled_in: cfg!(target_feature = $name), word: $word, bit: $bit }
        };
    }

    /// The x86-64-v3 level, in which the engine's kernels are written.
    pub(super) const REQUIRED: [Feature; 8] = [
        feature!("avx", 0, 28),
        feature!("f16c", 0, 29),
        feature!("fma", 0, 12),
        feature!("movbe", 0, 22),
        feature!("bmi1", 1, 3),
        feature!("avx2", 1, 5),
        feature!("bmi2", 1, 8),
        feature!("lzcnt", 2, 5),
    ];

    pub(super) fn read() -> Words {
        let leaf_one = __cpuid(1).ecx;
        let leaf_seven = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0).ebx } else { 0 };
        let extended = if __cpuid(0x8000_0000).eax >= 0x8000_0001 { __cpuid(0x8000_0001).ecx } else { 0 };
        [leaf_one, leaf_seven, extended]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_that_runs_the_tests_can_run_the_engine() {
        assert_eq!(missing_features(), Vec::<&str>::new());
    }

    #[test]
    fn only_extensions_of_this_build_are_asked_for() {
        let features = [
            Feature { name: "present", compiled_in: true, word: 0, bit: 3 },
            Feature { name: "absent", compiled_in: true, word: 1, bit: 5 },
            Feature { name: "unused", compiled_in: false, word: 2, bit: 0 },
        ];
        assert_eq!(missing_of(&features, [1 << 3, 0, 0]), ["absent"]);
    }
}
