/// As "1 file" or "3 files".
pub fn count(number: usize, singular: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {singular}{plural}")
}

/// As "1 byte", "1.5 KiB" or "512 MiB": in the largest unit that has a digit before the point.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return count(usize::try_from(bytes).unwrap_or_default(), "byte");
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = format!("{value:.1}");
    format!("{} {}", number.strip_suffix(".0").unwrap_or(&number), UNITS[unit])
}

/// Two lower-case hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_in_the_unit_a_person_would_choose() {
        let table = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (512 << 20, "512 MiB"),
            (2 << 30, "2 GiB"),
            (u64::MAX, "16777216 TiB"),
        ];
        for (amount, shown) in table {
            assert_eq!(bytes(amount), shown);
        }
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn hexadecimal_digits_are_two_a_byte() {
        assert_eq!(hex(&[0, 0x0a, 0xff]), "000aff");
    }
}
