//! Logarithm, exponential and log-gamma from IEEE additions, multiplications and divisions only: the same bits on
//! every machine, which a system's mathematical library does not promise; relative error below 1e-15.

/// ln 2 in two parts, the first with zeros at its end, so that a multiple of it is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Natural logarithm of a normal positive number: x = 2^e m with m in [√½, √2), then the series of artanh.
pub const fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let (mut series, mut term) = (0.0, 25.0);
    while term > 1.0 {
        series = (series + 1.0 / term) * z;
        term -= 2.0;
    }
    let e = exponent as f64;
    e * LN2_HIGH + (2.0 * s + (2.0 * s * series + e * LN2_LOW))
}

/// e^x: x = n ln 2 + r with |r| ≤ ½ ln 2, then Taylor's series; 0 below the normal numbers, infinite above them.
pub const fn exp(x: f64) -> f64 {
    if x < -708.0 {
        return 0.0;
    }
    if x > 709.0 {
        return f64::INFINITY;
    }
    let scaled = x * std::f64::consts::LOG2_E;
    let n = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i64;
    let r = (x - n as f64 * LN2_HIGH) - n as f64 * LN2_LOW;
    let (mut series, mut term) = (1.0, 14.0);
    while term > 0.0 {
        series = 1.0 + series * r / term;
        term -= 1.0;
    }
    series * f64::from_bits(((n + 1023) as u64) << 52)
}

/// ln Γ(x) for x > 0: moved above 10 by Γ(x + 1) = x Γ(x), then Stirling's series (Abramowitz and Stegun 6.1.41).
pub fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = [
        1.0 / 156.0,
        -691.0 / 360_360.0,
        1.0 / 1188.0,
        -1.0 / 1680.0,
        1.0 / 1260.0,
        -1.0 / 360.0,
        1.0 / 12.0,
    ];
    let tail = series.iter().fold(0.0, |sum, c| sum * z + c) / x;
    let half_ln_two_pi = 0.918_938_533_204_672_8;
    (x - 0.5) * ln(x) - x + half_ln_two_pi + tail - ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_the_system_within_rounding() {
        for i in 1..4000 {
            let x = f64::from(i) * 0.37;
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "ln {x}");
            let y = x / 3.0 - 250.0;
            assert!((exp(y) / y.exp() - 1.0).abs() < 2e-15, "exp {y}");
        }
        assert!((ln(1e-300) / 1e-300f64.ln() - 1.0).abs() < 1e-15);
        assert_eq!((exp(0.0), exp(-1e9), exp(1e9)), (1.0, 0.0, f64::INFINITY));
    }

    #[test]
    fn gamma_at_whole_and_half_numbers() {
        // Γ(5) = 24, Γ(½) = √π, Γ(1) = Γ(2) = 1.
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
        assert!(ln_gamma(1.0).abs() < 1e-14 && ln_gamma(2.0).abs() < 1e-14);
        assert!((ln_gamma(21.0) - 2_432_902_008_176_640_000f64.ln()).abs() < 1e-13);
    }
}
