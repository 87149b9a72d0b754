//! Arithmetic.

use crate::spec;

spec! {
    ints_add_subtract_multiply: "[1 + 2, 5 - 7, 3 * 4]" => "[3, -2, 12]";
    int_division_cuts_towards_zero: "[5 / 3, -5 / 3, 5 / -3, -5 / -3]" => "[1, -1, -1, 1]";
    a_remainder_has_the_sign_of_the_dividend: "[5 % 3, -5 % 3, 5 % -3, -5 % -3]" => "[2, -2, 2, -2]";
    ints_wrap_around: "9223372036854775807 + 1" => "-9223372036854775808";
    ints_wrap_around_when_multiplied: "9223372036854775807 * 2" => "-2";
    the_smallest_int_divided_by_minus_one_is_itself: "-9223372036854775808 / -1" => "-9223372036854775808";
    the_remainder_of_the_smallest_int_by_minus_one_is_zero: "-9223372036854775808 % -1" => "0";
    division_by_zero_is_an_error: "1 / 0" => "error: division by zero";
    remainder_by_zero_is_an_error: "1 % 0" => "error: division by zero";
    float_division_by_zero_is_infinite: "1.0 / 0.0" => "+Inf";
    floats_divide: "7.0 / 2.0" => "3.5";
    an_int_beside_a_float_becomes_one: "[1 + 0.5, 3 / 2.0, 2.5 * 2]" => "[1.5, 1.5, 5]";
    a_mixed_result_is_a_float: "import \"types\"\nx = 1 + 1.0 ;; types.type_of(x)" => "\"float\"";
    floats_have_remainders: "[7.5 % 2.0, 7.5 % 2]" => "[1.5, 1.5]";
    unary_minus_and_plus: "x = 3 ;; [-x, +x, -1.5]" => "[-3, 3, -1.5]";
    minus_of_a_string_is_an_error: "x = \"a\" ;; -x" => "error: `-` needs a number, not string";
    strings_concatenate: "\"hi\" + \", \" + \"hello\"" => "\"hi, hello\"";
    lists_concatenate: "[1, 2] + [2, 3]" => "[1, 2, 2, 3]";
    concatenation_makes_a_new_list: "a = [1]\nb = a + [2]\nappend(b, 3) ;; [a, b]" => "[[1], [1, 2, 3]]";
    a_string_and_a_number_do_not_add: "\"a\" + 1" => "error: `+` is not defined for string and int";
    a_number_and_a_string_do_not_add: "1 + \"a\"" => "error: `+` is not defined for int and string";
    a_list_and_an_element_do_not_add: "[1] + 2" => "error: `+` is not defined for list and int";
    strings_do_not_subtract: "\"a\" - \"b\"" => "error: `-` is not defined for string and string";
    maps_do_not_add: "{} + {}" => "error: `+` is not defined for map and map";
    null_does_not_add: "null + 1" => "error: `+` is not defined for null and int";
    undefined_plus_a_number_is_undefined: "undefined + 5" => "undefined";
    a_string_plus_undefined_is_undefined: "\"a\" + undefined" => "undefined";
    undefined_beside_null_is_undefined: "undefined + null" => "undefined";
    compound_assignments: "a = 7\na += 3\na -= 2\na *= 3\na /= 10\na %= 3 ;; a" => "2";
    a_float_in_a_name_is_negated: "x = 1.5 ;; [-x, +x, - -x]" => "[-1.5, 1.5, 1.5]";
    compound_assignment_groups_its_right_side: "a = 2\na *= 3 + 4 ;; a" => "14";
    plus_assign_on_strings_and_lists: "s = \"a\"\ns += \"b\"\nl = [1]\nl += [2] ;; [s, l]" => "[\"ab\", [1, 2]]";
    plus_assign_makes_a_new_list: "a = [1]\nb = a\na += [2] ;; [a, b]" => "[[1, 2], [1]]";
    plus_assign_with_undefined_is_undefined: "a = 1\na += undefined ;; a" => "undefined";
    a_name_without_a_value_cannot_be_added_to: "a += 1 ;; a" => "error: `a` has no value yet";
}
