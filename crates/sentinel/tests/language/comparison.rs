//! Equality, order, inclusion.

use crate::spec;

spec! {
    equal_numbers: "[1 == 1, 1 == 2, 1.5 == 1.5]" => "[true, false, true]";
    an_int_equals_a_float_of_its_value: "[1 == 1.0, 1.0 is 1, 1 == 1.5]" => "[true, true, false]";
    is_is_equality: "[1 is 1, 1 is not 1, 1 is not 2]" => "[true, false, true]";
    strings_are_equal_by_bytes: "[\"a\" == \"a\", \"a\" == \"A\"]" => "[true, false]";
    null_equals_null_only: "[null == null, null == 0, null == \"\", null == false]" => "[true, false, false, false]";
    /// The specification's text says undefined, but the release note of 0.11 says false, and published
    /// tests need false.
    different_types_are_not_equal: "[1 == \"1\", true == 1, [] == {}, null == []]" => "[false, false, false, false]";
    different_types_are_unequal: "1 is not \"1\"" => "true";
    equality_with_undefined_is_undefined: "undefined == 1" => "undefined";
    equality_of_two_undefined_is_undefined: "undefined == undefined" => "undefined";
    inequality_with_undefined_is_undefined: "1 is not undefined" => "undefined";
    lists_are_equal_elementwise: "[[1, 2] == [1, 2], [1, 2] == [1, 2, 3]]" => "[true, false]";
    the_order_of_a_list_matters: "[1, 2] == [2, 1]" => "false";
    lists_compare_numbers_across_types: "[1, 2] == [1.0, 2.0]" => "true";
    nested_lists_compare: "[[1], [2, [3]]] == [[1], [2, [3]]]" => "true";
    maps_are_equal_by_keys_and_values:
        "[{\"a\": 1, \"b\": 2} == {\"b\": 2, \"a\": 1}, {\"a\": 1} == {\"a\": 2}, {\"a\": 1} == {\"b\": 1}]"
            => "[true, false, false]";
    a_list_with_an_undefined_compares_undefined: "[1, undefined] == [1, 2]" => "undefined";
    a_list_with_an_undefined_and_a_difference_is_not_equal: "[undefined, 1] == [1, 2]" => "false";
    functions_are_not_equal: "f = func() { return 1 } ;; f == f" => "false";

    numbers_have_an_order: "[1 < 2, 2 <= 2, 3 > 2, 2 >= 3]" => "[true, true, true, false]";
    numbers_have_an_order_across_types: "[1 < 1.5, 2.5 > 2, 2 <= 2.0]" => "[true, true, true]";
    strings_have_the_order_of_their_bytes: "[\"a\" < \"b\", \"B\" < \"a\", \"a\" < \"aa\", \"10\" < \"9\"]"
        => "[true, true, true, true]";
    order_with_undefined_is_undefined: "undefined < 1" => "undefined";
    order_with_undefined_on_the_right_is_undefined: "1 >= undefined" => "undefined";
    /// The specification's text says undefined. The release note of 0.11 says that what cannot be compared "will now
    /// return false" instead of an error; for `==` that is what published tests need, and it does not tell
    /// the operators apart.
    order_of_different_types_is_false: "[1 < \"2\", 1 <= \"1\", \"2\" > 1, \"1\" >= 1]" => "[false, false, false, false]";
    order_of_null_is_false: "[null > 1, null < 1, null <= null, 1 >= null]" => "[false, false, false, false]";
    order_of_lists_and_maps_is_false: "[[1] < [2], [1] >= [1], {} <= {}, [] > {}]" => "[false, false, false, false]";
    order_of_bools_is_false: "[false < true, true >= true]" => "[false, false]";
    order_of_functions_is_false: "f = func() { return 1 } ;; [f < 1, f >= f]" => "[false, false]";
    /// An operand that is undefined is not a value of a type, so that it stays what it is beside every other.
    order_of_undefined_and_what_has_no_order_is_undefined: "null < undefined" => "undefined";

    a_list_contains_an_element: "[[1, 2, 3] contains 2, [1, 2, 3] contains 5]" => "[true, false]";
    a_list_contains_nothing_of_another_type: "[1, 2, 3] contains \"value\"" => "false";
    a_list_contains_an_int_as_a_float: "[1, 2] contains 2.0" => "true";
    a_list_contains_null: "[1, null] contains null" => "true";
    a_list_contains_a_list: "[[1], [2]] contains [2]" => "true";
    not_contains_negates: "[1, 2, 3] not contains \"value\"" => "true";
    a_map_contains_keys_not_values:
        "[{\"a\": 1} contains \"a\", {\"a\": 1} contains 1, {1: \"x\"} contains 1]" => "[true, false, true]";
    a_string_contains_a_substring: "[\"test\" contains \"est\", \"test\" contains \"best\"]" => "[true, false]";
    a_string_contains_the_empty_string: "\"a\" contains \"\"" => "true";
    in_is_contains_from_the_other_side: "[\"a\" in [\"a\"], \"b\" not in [\"a\"], \"test\" in \"testing\"]"
        => "[true, true, true]";
    in_a_map_asks_for_a_key: "m = {\"a\": \"b\"} ;; [\"a\" in m, \"b\" in m]" => "[true, false]";
    contains_of_undefined_is_undefined: "undefined contains 1" => "undefined";
    in_undefined_is_undefined: "1 in undefined" => "undefined";
    not_in_undefined_is_undefined: "1 not in undefined" => "undefined";
    /// Release note of 0.16.1: "any instance of undefined would correctly result in undefined".
    an_undefined_item_makes_contains_undefined: "[1, 2] contains undefined" => "undefined";
    an_undefined_element_is_passed_over_when_the_item_is_found: "[undefined, 1] contains 1" => "true";
    an_undefined_element_makes_a_missing_item_undefined: "[undefined, 1] contains 2" => "undefined";
    contains_of_null_is_an_error: "null contains 1" => "error: null cannot contain anything";
    in_a_number_is_an_error: "1 in 12" => "error: int cannot contain anything";
    a_number_in_a_string_is_an_error: "1 in \"12\"" => "error: a string can only contain a string, not int";
}
