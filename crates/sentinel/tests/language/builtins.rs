//! Predeclared functions.

use crate::spec;
use crate::support::run;

spec! {
    length_of_strings_lists_and_maps: "[length(\"abc\"), length([1, 2]), length({\"a\": 1})]" => "[3, 2, 1]";
    length_of_undefined_is_undefined: "length(undefined)" => "undefined";
    length_of_null_is_an_error: "length(null)" => "error: null has no length";
    length_of_a_number_is_an_error: "length(5)" => "error: int has no length";
    append_appends_in_place: "l = [1]\nappend(l, 2) ;; l" => "[1, 2]";
    append_appends_undefined: "l = []\nappend(l, undefined) ;; l" => "[undefined]";
    append_to_a_number_is_an_error: "append(1, 3) ;; 1" => "error: `append` needs a list, not int";
    append_to_undefined_is_an_error: "append(undefined, 3) ;; 1" => "error: `append` needs a list, not undefined";
    append_to_a_map_is_an_error: "append({}, 3) ;; 1" => "error: `append` needs a list, not map";
    delete_deletes_in_place: "m = {\"a\": 2, \"b\": 3}\ndelete(m, \"a\") ;; m" => "{\"b\": 3}";
    delete_of_a_missing_key_does_nothing: "m = {\"a\": 2}\ndelete(m, \"c\") ;; m" => "{\"a\": 2}";
    delete_returns_undefined: "delete({\"a\": 1}, \"a\")" => "undefined";
    delete_from_a_list_is_an_error: "delete([1], 0) ;; 1" => "error: `delete` needs a map, not list";
    delete_from_undefined_is_an_error: "delete(undefined, \"b\") ;; 1" => "error: `delete` needs a map, not undefined";
    keys_and_values: "m = {\"b\": 3, \"a\": 2} ;; [keys(m), values(m)]" => "[[\"a\", \"b\"], [2, 3]]";
    keys_of_undefined_are_undefined: "[keys(undefined), values(undefined)]" => "[undefined, undefined]";
    keys_of_a_list_are_an_error: "keys([1])" => "error: `keys` needs a map, not list";
    values_of_null_are_an_error: "values(null)" => "error: `values` needs a map, not null";
    values_are_shared: "m = {\"a\": [1]}\nappend(values(m)[0], 2) ;; m" => "{\"a\": [1, 2]}";
    range_to_an_end: "range(5)" => "[0, 1, 2, 3, 4]";
    range_from_a_start: "range(1, 5)" => "[1, 2, 3, 4]";
    range_with_a_step: "range(1, 5, 2)" => "[1, 3]";
    range_downwards: "range(0, -3, -1)" => "[0, -1, -2]";
    range_of_nothing: "[range(0), range(5, 1), range(1, 5, -1)]" => "[[], [], []]";
    range_without_a_step_is_an_error: "range(1, 5, 0)" => "error: the step of `range` must not be zero";
    range_of_a_float_is_an_error: "range(1.5)" => "error: `range` needs integers, not float";
    range_of_undefined_is_undefined: "range(undefined)" => "undefined";
    a_range_that_is_too_long_is_an_error: "range(9223372036854775807)" => "error: the policy took more than";

    int_of_ints_floats_and_bools: "[int(42), int(42.8), int(true), int(false)]" => "[42, 42, 1, 0]";
    int_rounds_a_float_down: "[int(-1.5), int(-0.5), int(2.999)]" => "[-2, -1, 2]";
    int_of_a_string_reads_an_integer_literal: "[int(\"42\"), int(\"-7\"), int(\"0x1F\"), int(\"017\")]" => "[42, -7, 31, 15]";
    int_of_a_float_in_a_string_is_undefined: "int(\"1.5\")" => "undefined";
    int_of_other_text_is_undefined: "[int(\"\"), int(\"abc\"), int(\" 1\"), int(\"1 \"), int(\"08\")]"
        => "[undefined, undefined, undefined, undefined, undefined]";
    int_of_too_large_numbers_is_undefined: "[int(\"9223372036854775808\"), int(1e30)]" => "[undefined, undefined]";
    int_of_other_types_is_undefined: "[int(null), int([]), int({}), int(undefined)]" => "[undefined, undefined, undefined, undefined]";
    float_of_ints_strings_and_bools: "[float(1.2), float(1), float(\"4.2\"), float(true), float(\"1e3\"), float(\"-.5\")]" => "[1.2, 1, 4.2, 1, 1000, -0.5]";
    float_makes_a_float: "import \"types\" ;; types.type_of(float(1))" => "\"float\"";
    float_of_other_text_is_undefined: "[float(\"x\"), float(\"\"), float(\"inf\"), float(\"nan\"), float(null)]"
        => "[undefined, undefined, undefined, undefined, undefined]";
    string_of_ints_and_bools: "[string(\"foo\"), string(88), string(0xF), string(true), string(-3)]" => "[\"foo\", \"88\", \"15\", \"true\", \"-3\"]";
    string_of_a_float_has_six_decimals: "[string(1.5), string(1.0), string(0.1234567), string(-2.5)]"
        => "[\"1.500000\", \"1.000000\", \"0.123457\", \"-2.500000\"]";
    string_of_other_types_is_undefined: "[string(null), string([1]), string({}), string(undefined)]" => "[undefined, undefined, undefined, undefined]";
    bool_of_text: "[bool(\"1\"), bool(\"t\"), bool(\"T\"), bool(\"TRUE\"), bool(\"true\"), bool(\"True\")]" => "[true, true, true, true, true, true]";
    bool_of_text_that_means_false: "[bool(\"0\"), bool(\"f\"), bool(\"F\"), bool(\"FALSE\"), bool(\"false\"), bool(\"False\")]"
        => "[false, false, false, false, false, false]";
    bool_of_other_text_is_undefined: "[bool(\"yes\"), bool(\"\"), bool(\"tRUE\"), bool(\"2\")]" => "[undefined, undefined, undefined, undefined]";
    bool_of_numbers: "[bool(1), bool(-1), bool(0.1), bool(0), bool(0.0)]" => "[true, true, true, false, false]";
    bool_of_other_types_is_undefined: "[bool(null), bool([]), bool({})]" => "[undefined, undefined, undefined]";
    compare_of_numbers_and_strings: "[compare(1, 2), compare(2, 2), compare(3, 2), compare(\"a\", \"b\"), compare(1, 1.5)]" => "[-1, 0, 1, -1, -1]";
    /// An operator answers false here, for which there is no number: -1, 0 and 1 would all be an order.
    compare_of_different_types_is_an_error: "compare(1, \"a\")" => "error: int and string have no order";
    compare_of_what_has_no_order_is_an_error: "compare([1], [2])" => "error: list and list have no order";
    compare_of_a_nan_is_undefined: "compare(0.0 / 0, 1)" => "undefined";
    compare_with_undefined_is_undefined: "compare(1, undefined)" => "undefined";
    print_is_true: "print(\"x\")" => "true";
    print_in_a_boolean_expression: "print(\"x\") and false" => "false";
    a_wrong_number_of_arguments: "length(1, 2)" => "error: `length` takes 1 argument, not 2";
    a_wrong_number_of_arguments_of_range: "range()" => "error: `range` takes 1 to 3 arguments, not 0";
}

fn printed(source: &str) -> String {
    run(&format!("{source}\nmain = true")).unwrap().trace.print
}

#[test]
fn print_puts_spaces_between_values_and_a_line_end_after_them() {
    assert_eq!(printed("print(\"The\", \"number\", \"is\", 42)\nprint()"), "The number is 42\n\n");
}

#[test]
fn print_shows_values_as_they_are_written_in_the_language() {
    assert_eq!(printed("print([1, \"a\", 2.5, null, true])"), "[1, \"a\", 2.5, null, true]\n");
    assert_eq!(printed("print({\"b\": [], \"a\": {}})"), "{\"a\": {}, \"b\": []}\n");
    assert_eq!(printed("print(undefined, null, 1.0, 1e30)"), "undefined null 1 1e30\n");
    assert_eq!(printed("x = [1]\nappend(x, \"q\\\"\")\nprint(x)"), "[1, \"q\\\"\"]\n");
}

#[test]
fn print_shows_the_value_of_a_rule() {
    assert_eq!(printed("one_is_zero = rule { 1 == 0 }\nprint(one_is_zero)"), "false\n");
}

#[test]
fn print_ends_at_a_list_that_contains_itself() {
    let text = printed("l = [1]\nappend(l, l)\nprint(l)");
    assert!(text.len() < 2000 && text.contains("..."), "{text}");
}
