//! Whether this CPU has what the compiler took for granted. A variant may be compiled for another
//! one, and would end at its first unknown instruction without a word.

/// Fails unless the program can run here.
pub fn check() -> anyhow::Result<()> {
    let missing = missing();
    anyhow::ensure!(
        missing.is_empty(),
        "compiled for a CPU with {}, which this one lacks",
        missing.join(", ")
    );
    Ok(())
}

#[cfg(target_arch = "x86_64")]
fn missing() -> Vec<&'static str> {
    macro_rules! wanted_and_here {
        ($($feature:tt)*) => {
            [$((
                $feature,
                cfg!(target_feature = $feature),
                std::arch::is_x86_feature_detected!($feature),
            )),*]
        };
    }
    let features = wanted_and_here![
        "adx" "aes" "avx" "avx2" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512vl" "bmi1" "bmi2"
        "cmpxchg16b" "f16c" "fma" "lzcnt" "movbe" "pclmulqdq" "popcnt" "rdrand" "rdseed" "sha"
        "sse3" "sse4.1" "sse4.2" "sse4a" "ssse3" "xsave" "xsavec" "xsaveopt" "xsaves"
    ];
    features
        .into_iter()
        .filter(|(_, wanted, here)| *wanted && !here)
        .map(|(feature, ..)| feature)
        .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn missing() -> Vec<&'static str> {
    Vec::new()
}
