//! decimal.

use crate::spec;

macro_rules! decimal {
    ($source:literal) => {
        concat!("import \"decimal\"\n;; ", $source)
    };
}

spec! {
    new_takes_ints_floats_and_text: decimal!("[decimal.new(3).string, decimal.new(2.2).string, decimal.new(\"1.10\").string, decimal.new(decimal.new(5)).string]") => "[\"3\", \"2.2\", \"1.10\", \"5\"]";
    new_takes_exponents: decimal!("decimal.new(\"1.1234E+400\").string") => "\"1.1234E+400\"";
    new_of_other_text_is_an_error: decimal!("decimal.new(\"abc\")") => "error: was given `abc`, which is not a decimal number";
    new_of_null_is_an_error: decimal!("decimal.new(null)") => "error: `decimal.new` needs a number, a string or a decimal, not null";
    parts_of_a_number: "import \"decimal\"\nd = decimal.new(1.5) ;; [d.sign, d.coefficient, d.exponent, d.float, d.int]" => "[1, 15, -1, 1.5, 1]";
    parts_of_a_negative_number: "import \"decimal\"\nd = decimal.new(-1.5) ;; [d.sign, d.coefficient, d.exponent, d.int]" => "[-1, 15, -1, -1]";
    tenths_add_exactly: decimal!("decimal.new(0.1).add(0.2).is(0.3)") => "true";
    arithmetic: decimal!("[decimal.new(1.5).add(1).string, decimal.new(1.5).subtract(1).string, decimal.new(1.5).multiply(2).string, decimal.new(3.0).divide(1.5).string, decimal.new(1.5).modulo(1).string]")
        => "[\"2.5\", \"0.5\", \"3.0\", \"2\", \"0.5\"]";
    short_names: decimal!("[decimal.new(7).sub(2).string, decimal.new(7).mul(2).string, decimal.new(7).div(2).string, decimal.new(7).mod(4).string, decimal.new(7).rem(4).string, decimal.new(2).pow(10).string]")
        => "[\"5\", \"14\", \"3.5\", \"3\", \"3\", \"1024\"]";
    a_remainder_has_the_sign_of_the_dividend: decimal!("[decimal.new(-7).mod(4).string, decimal.new(7).mod(-4).string]") => "[\"-3\", \"3\"]";
    a_quotient_has_a_hundred_digits: decimal!("[length(decimal.new(1).div(3).string), decimal.new(2).div(3).string[-1]]") => "[102, \"7\"]";
    comparison: decimal!("[decimal.new(1.5).is(1), decimal.new(1.5).is_not(1), decimal.new(1.5).less_than(1), decimal.new(1.5).lte(1.5), decimal.new(1.5).greater_than(\"1.4\"), decimal.new(1).gte(2)]")
        => "[false, true, false, true, true, false]";
    trailing_zeros_do_not_matter_in_comparison: decimal!("decimal.new(\"1.50\").is(\"1.5\")") => "true";
    rounding: decimal!("[decimal.new(1.5).ceiling().string, decimal.new(1.5).floor().string, decimal.new(-1.5).ceil().string, decimal.new(-1.5).floor().string]") => "[\"2\", \"1\", \"-1\", \"-2\"]";
    absolute_and_negated: decimal!("[decimal.new(-1.5).absolute().string, decimal.new(1.5).abs().string, decimal.new(1.5).negate().string, decimal.new(-1.5).neg().string]") => "[\"1.5\", \"1.5\", \"-1.5\", \"1.5\"]";
    powers: decimal!("[decimal.new(1.5).power(2).string, decimal.new(2).pow(-2).string, decimal.new(4).pow(0.5).float]") => "[\"2.25\", \"0.25\", 2]";
    exponential: decimal!("decimal.new(1.5).exp().string[0:12]") => "\"4.4816890703\"";
    the_exponential_of_one_is_e: decimal!("decimal.new(1).exp().string[0:52]") => "\"2.71828182845904523536028747135266249775724709369995\"";
    natural_logarithm: decimal!("decimal.new(1.5).loge().string[0:12]") => "\"0.4054651081\"";
    the_logarithm_of_ten: decimal!("decimal.new(10).ln().string[0:52]") => "\"2.30258509299404568401799145468436420760110148862877\"";
    decimal_logarithm: decimal!("[decimal.new(1.5).log10().string[0:12], decimal.new(1000).log().string, decimal.new(\"0.01\").log10().string]") => "[\"0.1760912590\", \"3\", \"-2\"]";
    square_root: decimal!("[decimal.new(1.5).square_root().string[0:12], decimal.new(9).sqrt().string, decimal.new(\"0.25\").sqrt().string]") => "[\"1.2247448713\", \"3\", \"0.5\"]";
    exp_and_ln_are_inverse: decimal!("decimal.new(\"12.34567\").ln().exp().sub(\"12.34567\").abs().lt(\"1e-95\")") => "true";
    infinities: decimal!("[decimal.infinity(1).string, decimal.inf(-1).string, decimal.infinity(1).greater_than(\"1e1000\"), decimal.infinity(-1).lt(0)]") => "[\"Infinity\", \"-Infinity\", true, true]";
    is_infinite: decimal!("[decimal.is_infinite(100), decimal.is_infinite(\"Infinity\"), decimal.is_inf(decimal.inf(-1)), decimal.isinf(1), decimal.isinfinite(1)]") => "[false, true, true, false, false]";
    is_nan: decimal!("[decimal.is_nan(\"NaN\"), decimal.isnan(1), decimal.is_nan(decimal.nan)]") => "[true, false, true]";
    nan_is_not_itself: decimal!("[decimal.nan.is(decimal.nan), decimal.nan.is_not(decimal.nan), decimal.nan.lt(1)]") => "[false, true, false]";
    what_makes_nan: decimal!("[decimal.new(-1).sqrt().string, decimal.new(0).mul(decimal.inf(1)).string, decimal.new(0).div(0).string, decimal.inf(1).sub(decimal.inf(1)).string, decimal.new(1).mod(0).string]")
        => "[\"NaN\", \"NaN\", \"NaN\", \"NaN\", \"NaN\"]";
    division_by_zero_is_infinite: decimal!("[decimal.new(1).div(0).string, decimal.new(-1).div(0).string]") => "[\"Infinity\", \"-Infinity\"]";
    numbers_far_apart_cost_nothing: decimal!("[decimal.new(\"1e2000000000\").add(1).is(\"1e2000000000\"), decimal.new(\"1e2000000000\").gt(\"1e1999999999\"), decimal.new(\"1e-2000000000\").ceil().string]") => "[true, true, \"1\"]";
    overflow_is_infinite: decimal!("decimal.new(\"1e2000000000\").pow(5).string") => "\"Infinity\"";
    small_numbers_are_written_with_an_exponent: decimal!("[decimal.new(\"0.000001\").string, decimal.new(\"0.0000001\").string, decimal.new(\"1e3\").string]") => "[\"0.000001\", \"1E-7\", \"1E+3\"]";
    a_number_with_undefined_is_undefined: decimal!("[decimal.new(undefined), decimal.new(1).add(undefined)]") => "[undefined, undefined]";
    calls_chain: decimal!("decimal.new(10).add(5).divide(3).multiply(2).int") => "10";
    an_unknown_method_is_undefined: decimal!("decimal.new(1).nope(2)") => "undefined";
    /// A cost that went to nothing is `0.00`; it is no less than nothing.
    zeros_are_equal_whatever_decimals_they_have: "import \"decimal\"\nz = decimal.new(\"12.34\").sub(\"12.34\") ;; [z.string, z.is(0), z.is_not(0), z.lt(0), z.lte(0), z.gt(0), z.gte(0), decimal.new(\"0.0\").gt(\"0.00\"), decimal.new(\"0e5\").is(\"-0.0\")]"
        => "[\"0.00\", true, false, false, true, false, true, false, true]";
    zeros_in_arithmetic: decimal!("map [\"0.00\", \"0e30\", \"0e300\", \"0e-300\", \"0e2147483647\", \"0e-2147483647\"] as z { [decimal.new(z).exp().string, decimal.new(z).mod(3).is(0), decimal.new(z).div(3).is(0), decimal.new(z).mul(z).mul(z).mul(z).is(0), decimal.new(1).add(z).is(1), decimal.new(5).pow(z).string, decimal.new(z).ceil().is(0), decimal.new(z).sqrt().is(0), decimal.new(z).int] }")
        => "[[\"1\", true, true, true, true, \"1\", true, true, 0], [\"1\", true, true, true, true, \"1\", true, true, 0], [\"1\", true, true, true, true, \"1\", true, true, 0], [\"1\", true, true, true, true, \"1\", true, true, 0], [\"1\", true, true, true, true, \"1\", true, true, 0], [\"1\", true, true, true, true, \"1\", true, true, 0]]";
    a_sum_has_the_decimals_of_both: decimal!("[decimal.new(\"0.00\").add(1).string, decimal.new(1).sub(\"0.0\").string, decimal.new(\"0.0\").add(\"0.00\").string, decimal.new(\"1.5\").add(0).string]") => "[\"1.00\", \"1.0\", \"0.00\", \"1.5\"]";
    a_quotient_keeps_the_exponent_of_the_dividend: decimal!("[decimal.new(\"1e5\").div(1).string, decimal.new(\"1.00\").div(1).string, decimal.new(100).div(1).string, decimal.new(\"1e2147483647\").div(1).string]")
        => "[\"1E+5\", \"1.00\", \"100\", \"1E+2147483647\"]";
    /// None of these writes a number out: each would take minutes and gigabytes.
    large_exponents_cost_nothing: "import \"decimal\"\nbig = decimal.new(\"1e2147483647\")\nsmall = decimal.new(\"1e-2147483647\")\nseven = decimal.new(7) ;; [seven.pow(small).string, big.div(small).string, small.div(big).string, decimal.inf(-1).pow(big).string, decimal.inf(-1).pow(small).string, decimal.new(1).pow(big).string, decimal.new(-1).pow(big).string, decimal.new(-1).pow(\"1e30\").string, seven.mod(big).string, big.mod(seven).string, big.sqrt().string[0:4], small.ln().lt(0), small.exp().string, big.floor().string, small.floor().string, small.neg().floor().string, big.gt(small), big.int, small.int]"
        => "[\"1\", \"Infinity\", \"0\", \"Infinity\", \"NaN\", \"1\", \"1\", \"1\", \"7\", \"NaN\", \"3.16\", true, \"1\", \"1E+2147483647\", \"0\", \"-1\", true, undefined, 0]";
    a_power_of_many_digits_has_the_right_sign: decimal!("[decimal.new(2).pow(\"-9500000000000000000\").string, decimal.new(-2).pow(\"9500000000000000001\").string, decimal.new(-2).pow(\"9500000000000000000\").string, decimal.inf(-1).pow(3).string, decimal.inf(-1).pow(\"2.0\").string]")
        => "[\"0\", \"-Infinity\", \"Infinity\", \"-Infinity\", \"Infinity\"]";
}
