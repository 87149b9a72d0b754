//! Comments, names, literals, line ends.

use crate::spec;
use crate::support::{result, run};

spec! {
    three_forms_of_comments: "# one\n// two\n/* three\nlines */\nx = 1 # end\ny = 2 // end ;; [x, y]" => "[1, 2]";
    a_block_comment_on_one_line_is_a_space: "x = 1 /* and */ + /* so on */ 2 ;; x" => "3";
    a_block_comment_over_lines_is_a_line_end: "x = 1 /* a\nb */ y = 2 ;; [x, y]" => "[1, 2]";
    block_comments_do_not_nest: "x = 1 /* /* */ ;; x" => "1";
    no_comment_starts_in_a_string: "[\"a # b\", \"a // b\", \"/* */\"]" => "[\"a # b\", \"a // b\", \"/* */\"]";
    a_comment_without_an_end_is_an_error: "x = 1 /* ;; x" => "error: a comment is not closed";
    names_are_unicode: "αβ = 1\n_x1 = 2\nñ2 = 3 ;; [αβ, _x1, ñ2]" => "[1, 2, 3]";
    /// "Unicode letters" and "Unicode digits" are the categories L and Nd; other numbers are neither.
    decimal_digits_of_every_script_are_digits: "x٣ = 1 ;; x٣" => "1";
    a_superscript_is_no_digit: "x² = 1 ;; 1" => "error: `²` cannot be used here";
    a_roman_numeral_is_no_letter: "Ⅷ = 1 ;; 1" => "error: `Ⅷ` cannot be used here";
    a_name_cannot_start_with_a_digit_of_another_script: "٣ = 1 ;; 1" => "error: `٣` cannot be used here";
    a_character_that_cannot_be_seen_is_told_by_its_number: "x = 1\u{200b} ;; 1" => "error: the character U+200B cannot be used here";
    a_blank_that_is_none_is_told_by_its_number: "x =\u{a0}1 ;; 1" => "error: the character U+00A0 cannot be used here";
    a_control_character_is_told_by_its_number: "x = 1 \u{1} ;; 1" => "error: the character U+0001 cannot be used here";
    a_mark_is_told_by_its_number: "\u{301} = 1 ;; 1" => "error: the character U+0301 cannot be used here";
    upper_and_lower_case_differ: "a = 1\nA = 2 ;; [a, A]" => "[1, 2]";
    a_keyword_is_no_name: "filter = 1 ;; 1" => "error: expected";
    reserved_words_are_members: "m = {\"all\": 1, \"rule\": 2, \"in\": 3} ;; [m.all, m.rule, m.in]" => "[1, 2, 3]";
    a_reserved_word_as_the_last_member_of_a_line: "m = {\"rule\": 2}\nx = m.rule\ny = 1 ;; [x, y]" => "[2, 1]";
    names_that_look_like_predeclared_functions_can_be_taken: "keys = 1\nlength = 2 ;; [keys, length]" => "[1, 2]";
    a_predeclared_constant_cannot_be_assigned: "true = 1 ;; 1" => "error: a predeclared constant cannot be assigned to";

    decimal_ints: "[0, 42, 9223372036854775807]" => "[0, 42, 9223372036854775807]";
    octal_ints: "[0600, 017, 00]" => "[384, 15, 0]";
    hexadecimal_ints: "[0xBadFace, 0XfF, 0x0]" => "[195951310, 255, 0]";
    an_octal_int_has_no_eight: "089" => "error: `089` is not an octal number";
    a_hexadecimal_int_needs_digits: "0x" => "error: `0x` is not a hexadecimal number";
    /// One example of the specification has 128 bits, but it says that integers have 64.
    an_int_of_more_than_64_bits_is_an_error: "170141183460469231731687303715884105727" => "error: does not fit an integer";
    the_smallest_int_can_be_written: "-9223372036854775808" => "-9223372036854775808";
    an_int_below_the_smallest_is_an_error: "-9223372036854775809" => "error: does not fit an integer";
    floats: "[0., 72.40, 072.40, 2.71828, 1.e+0, 6.67428e-11, 1E6, .25, .12345E+5]"
        => "[0, 72.4, 72.4, 2.71828, 1, 6.67428e-11, 1000000, 0.25, 12345]";
    a_float_is_a_float: "import \"types\" ;; [types.type_of(1.), types.type_of(1e3), types.type_of(1)]"
        => "[\"float\", \"float\", \"int\"]";
    a_number_cannot_run_into_a_word: "12abc" => "error: a number runs into a word";

    escapes_of_single_characters: r#""\a\b\f\n\r\t\v\\\"" == "\x07\x08\x0c\x0a\x0d\x09\x0b\x5c\x22""# => "true";
    hexadecimal_escapes: r#"["\x41\x42", "\u00e9" == "é", "\U0001F600" == "😀"]"# => "[\"AB\", true, true]";
    octal_escapes: r#"["\101\102", "\060", length("\377")]"# => "[\"AB\", \"0\", 1]";
    an_octal_escape_has_three_digits: r#""\12""# => "error: the escape needs 3 digits";
    an_octal_escape_is_a_byte: r#""\400""# => "error: an octal escape is at most";
    byte_escapes_make_the_bytes_of_a_character: r#""\xc3\xbf" == "\u00FF""# => "true";
    a_byte_escape_is_one_byte: r#"[length("\xff"), length("\u00FF")]"# => "[1, 2]";
    a_surrogate_escape_is_an_error: r#""\uD800""# => "error: the escape is not a Unicode character";
    an_escape_past_the_last_character_is_an_error: r#""\U00110000""# => "error: the escape is not a Unicode character";
    an_unknown_escape_is_an_error: r#""\d""# => "error: unknown escape in a string";
    raw_strings_have_no_escapes: "`\\n` == \"\\\\n\"" => "true";
    raw_strings_go_over_lines: "`a\nb` == \"a\\nb\"" => "true";
    a_string_ends_on_its_line: "x = \"abc\ny = 1 ;; x" => "error: a string is not closed";
    the_length_of_a_string_is_in_bytes: "length(\"日本語\")" => "9";
    a_dollar_is_no_name: "$x = 1 ;; 1" => "error: `$` cannot be used here";

    semicolons_separate_statements: "a = 1; b = 2; c = 3 ;; [a, b, c]" => "[1, 2, 3]";
    a_line_that_ends_with_an_operator_goes_on: "x = 1 +\n  2 and_so_on\n ;; 1" => "error: expected the end of the statement";
    an_expression_goes_on_after_an_operator: "x = true and\n\n  # why\n  not false ;; x" => "true";
    an_expression_ends_at_the_end_of_its_line: "x = 1\n+2\n ;; x" => "1";
    a_member_may_stand_on_the_line_after_its_dot: "m = {\"a\": {\"b\": 1}} ;; m.\n  a.\n  b" => "1";
    /// The rule for semicolons ends the statement before such a line; the page of the `http` import
    /// writes calls this way, and nothing else could be meant.
    a_line_that_starts_with_a_dot_goes_on: "f = func(x) { return {\"g\": func(y) { return x + y }} }\nr = f(1)\n    .g(2)\n ;; r" => "3";
    comments_may_stand_before_a_line_that_starts_with_a_dot: "m = {\"a\": {\"b\": {\"c\": 1}}}\nx = m # one\n  # two\n  .a\n\n  // three\n  .b /* four\n  five */\n  .c ;; x" => "1";
    a_fraction_after_a_comment_is_none: "x = 1\n# two\n.5 ;; x" => "1";
    a_line_that_starts_with_a_fraction_does_not: "x = 1\n.5 ;; x" => "1";
    a_list_over_lines_needs_a_comma_at_its_end: "x = [\n1,\n2\n] ;; x" => "error: expected `,` or `]`, found the end of the line";
    a_list_over_lines_with_commas: "x = [\n1,\n2,\n] ;; x" => "[1, 2]";
    a_call_over_lines_with_commas: "f = func(a, b) { return a + b } ;; f(\n1,\n2,\n)" => "3";
}

#[test]
fn windows_line_ends_are_line_ends() {
    assert!(run("x = 1\r\ny = 2\r\nmain = x < y\r\n").unwrap().outcome.passed());
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    assert!(run("\u{feff}main = true").unwrap().outcome.passed());
}

#[test]
fn a_raw_string_drops_carriage_returns() {
    assert_eq!(result("length(`a\r\nb`)"), "3");
}
