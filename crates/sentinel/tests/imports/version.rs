//! version.

use crate::spec;

macro_rules! version {
    ($source:literal) => {
        concat!("import \"version\"\nv = version.new ;; ", $source)
    };
}

spec! {
    parts: "import \"version\"\nv = version.new(\"1.2.3-alpha.1+001\") ;; [v.major, v.minor, v.patch, v.prerelease, v.metadata, v.version]" => "[1, 2, 3, \"alpha.1\", \"001\", \"1.2.3-alpha.1+001\"]";
    missing_numbers_are_zero: version!("[v(\"1\").version, v(\"1.2\").patch, v(\"v1.2.3\").version]") => "[\"1.0.0\", 0, \"1.2.3\"]";
    more_than_three_numbers: version!("[v(\"1.2.3.4\").version, v(\"1.2.3.4\").gt(\"1.2.3\")]") => "[\"1.2.3.4\", true]";
    what_is_no_version_is_an_error: version!("v(\"latest\")") => "error: was given `latest`, which is not a version";
    the_empty_string_is_no_version: version!("v(\"\")") => "error: which is not a version";
    a_number_is_no_version: version!("v(1)") => "error: `version.new` needs a string, not int";
    undefined_is_undefined: version!("v(undefined)") => "undefined";
    comparison: version!("[v(\"1.0.0-alpha.1+001\").greater_than(\"0.12.0-alpha.1+001\"), v(\"1.0.0-alpha.1+001\").gt(\"1.0.1-alpha.1+001\"), v(\"1.0.0\").gte(\"1.0.0\"), v(\"1.0.0\").lt(\"1.0.1\"), v(\"1.0.0\").less_than_or_equals(\"0.9\")]")
        => "[true, false, true, true, false]";
    equality_is_about_numbers: version!("[v(\"1.0\").equals(\"1.0.0\"), v(\"1.0.0\").eq(\"1.0.1\"), v(\"1.0.0+a\").eq(\"1.0.0+b\")]") => "[true, false, true]";
    /// The page's examples contradict its text; the text is what every other order does.
    compare_is_minus_one_zero_one: version!("[v(\"0.12.0\").compare(\"1.0.0\"), v(\"1.0.0\").cmp(\"1.0.0\"), v(\"1.0.0\").cmp(\"0.12.0\")]") => "[-1, 0, 1]";
    a_prerelease_is_before_its_release: version!("[v(\"1.0.0-rc1\").lt(\"1.0.0\"), v(\"1.0.0-alpha\").lt(\"1.0.0-beta\"), v(\"1.0.0-2\").lt(\"1.0.0-10\"), v(\"1.0.0-1\").lt(\"1.0.0-a\")]") => "[true, true, true, true]";
    numbers_of_a_prerelease_may_have_zeros_in_front: version!("[v(\"1.2.3-01\").version, v(\"1.2.3-01\").prerelease, v(\"1.2.3-01\").lt(\"1.2.3-2\"), v(\"1.2.3-010\").gt(\"1.2.3-9\"), v(\"1.2.3-rc.01\").eq(\"1.2.3-rc.1\"), v(\"1.2.3-00\").lt(\"1.2.3-1\"), v(\"1.2.3-20240101.0a\").prerelease, v(\"1.2.3-01\").sat(\">= 1.2.3-0\")]")
        => "[\"1.2.3-01\", \"01\", true, true, true, true, \"20240101.0a\", true]";
    numbers_compare_as_numbers: version!("v(\"1.10.0\").gt(\"1.9.0\")") => "true";
    versions_compare_with_versions: version!("v(\"1.2.0\").gt(v(\"1.1.0\"))") => "true";
    constraints: version!("[v(\"1.0.0\").satisfies(\"= 1.0.0\"), v(\"1.0.0\").sat(\"1.0.0\"), v(\"1.0.0\").sat(\"!= 1.0.0\"), v(\"1.5.0\").sat(\"> 1.4\"), v(\"1.5.0\").sat(\"<= 1.5\"), v(\"1.5.0\").sat(\"<1.5\")]")
        => "[true, true, false, true, true, false]";
    all_constraints_must_hold: version!("[v(\"1.5.0\").sat(\">= 1.0, < 2.0\"), v(\"2.0.0\").sat(\">= 1.0, < 2.0\")]") => "[true, false]";
    the_pessimistic_operator: version!("[v(\"0.12.7\").sat(\"~> 0.12.0\"), v(\"0.13.0\").sat(\"~> 0.12.0\"), v(\"1.9.0\").sat(\"~> 1.2\"), v(\"2.0.0\").sat(\"~> 1.2\"), v(\"1.1.0\").sat(\"~> 1.2\"), v(\"5.0.0\").sat(\"~> 1\")]")
        => "[true, false, true, false, false, true]";
    a_prerelease_meets_only_constraints_that_name_one: version!("[v(\"1.0.1-beta\").sat(\"> 1.0.0\"), v(\"1.0.0-beta\").sat(\">= 1.0.0-alpha\"), v(\"1.0.1-beta\").sat(\"> 1.0.0-alpha\"), v(\"1.0.0-alpha.1+001\").sat(\">= 1.0.0-alpha.1+001, < 1.0.0-beta+001\"), v(\"1.0.0-alpha.1\").sat(\"> 1.0.0-alpha.1\")]")
        => "[false, true, false, true, false]";
    a_release_does_not_meet_a_pessimistic_prerelease: version!("v(\"1.0.1\").sat(\"~> 1.0.0-beta\")") => "false";
    what_is_no_constraint_is_an_error: version!("[v(\"1.0.0\").sat(\">> 1.0\")]") => "error: does not know the operator `>>`";
    a_constraint_without_a_version_is_an_error: version!("v(\"1.0.0\").sat(\">\")") => "error: which is not a constraint";
}
