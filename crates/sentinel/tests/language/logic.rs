//! Three-valued logic: `and`, `or`, `xor`, `not`, `else`, tests, conditions.

use crate::spec;

spec! {
    undefined_or_true_is_true: "undefined or true" => "true";
    undefined_or_false_is_undefined: "undefined or false" => "undefined";
    undefined_or_undefined_is_undefined: "undefined or undefined" => "undefined";
    undefined_and_true_is_undefined: "undefined and true" => "undefined";
    undefined_and_false_is_undefined: "undefined and false" => "undefined";
    undefined_and_undefined_is_undefined: "undefined and undefined" => "undefined";
    undefined_xor_true_is_undefined: "undefined xor true" => "undefined";
    undefined_xor_false_is_undefined: "undefined xor false" => "undefined";
    true_xor_undefined_is_undefined: "true xor undefined" => "undefined";
    false_and_undefined_is_false: "false and undefined" => "false";
    true_and_undefined_is_undefined: "true and undefined" => "undefined";
    true_or_undefined_is_true: "true or undefined" => "true";
    false_or_undefined_is_undefined: "false or undefined" => "undefined";
    a_true_decides_a_chain_of_or_before_an_undefined: "false or true or undefined" => "true";
    a_true_decides_a_chain_of_or_after_an_undefined: "false or undefined or true" => "true";
    a_false_decides_a_chain_of_and_before_an_undefined: "true and false and undefined" => "false";
    an_undefined_decides_a_chain_of_and_before_a_false: "true and undefined and false" => "undefined";
    not_undefined_is_undefined: "not undefined" => "undefined";
    bang_undefined_is_undefined: "!undefined" => "undefined";
    minus_undefined_is_undefined: "-undefined" => "undefined";
    not_true_is_false: "not true" => "false";
    bang_is_not: "!false" => "true";
    xor_of_different_is_true: "true xor false" => "true";
    xor_of_equal_is_false: "true xor true" => "false";
    xor_of_false_and_true_is_true: "false xor true" => "true";
    and_does_not_evaluate_its_right_side_after_false:
        "called = []\nf = func() { append(called, 1)\nreturn true }\nx = false and f() ;; called" => "[]";
    or_does_not_evaluate_its_right_side_after_true:
        "called = []\nf = func() { append(called, 1)\nreturn true }\nx = true or f() ;; called" => "[]";
    or_evaluates_its_right_side_after_undefined:
        "called = []\nf = func() { append(called, 1)\nreturn true }\nx = undefined or f() ;; called" => "[1]";
    and_does_not_evaluate_its_right_side_after_undefined:
        "called = []\nf = func() { append(called, 1)\nreturn true }\nx = undefined and f() ;; called" => "[]";

    /// The documents say that logical operators "apply to boolean values". An answer for other values
    /// could let a policy pass by accident, so there is none.
    and_of_a_number_is_an_error: "1 and true" => "error: `and` needs a bool on both sides, not int";
    or_of_a_string_is_an_error: "false or \"yes\"" => "error: `or` needs a bool on both sides, not string";
    xor_of_null_is_an_error: "null xor true" => "error: `xor` needs a bool on both sides, not null";
    not_of_a_string_is_an_error: "not \"x\"" => "error: `not` needs a bool, not string";
    not_of_null_is_an_error: "not null" => "error: `not` needs a bool, not null";

    else_replaces_undefined: "undefined else 42" => "42";
    else_keeps_null: "null else 42" => "null";
    else_keeps_false: "false else true" => "false";
    else_keeps_zero_and_the_empty_string: "[0 else 1, \"\" else \"x\"]" => "[0, \"\"]";
    else_is_undefined_when_both_sides_are: "undefined else undefined" => "undefined";
    else_chains_from_left_to_right: "undefined else undefined else 3" => "3";
    else_does_not_evaluate_its_right_side_without_need:
        "called = []\nf = func() { append(called, 1)\nreturn 1 }\nx = 2 else f() ;; called" => "[]";

    is_defined_of_undefined_is_false: "undefined is defined" => "false";
    is_defined_of_null_is_true: "null is defined" => "true";
    is_not_defined_of_undefined_is_true: "undefined is not defined" => "true";
    is_not_defined_of_a_value_is_false: "false is not defined" => "false";
    is_defined_of_a_missing_key_is_false: "m = {\"a\": 1} ;; m.b is defined" => "false";
    is_empty_of_undefined_is_undefined: "undefined is empty" => "undefined";
    is_not_empty_of_undefined_is_undefined: "undefined is not empty" => "undefined";
    is_empty_of_the_empty_string_list_and_map: "[\"\" is empty, [] is empty, {} is empty]" => "[true, true, true]";
    is_empty_of_something: "[\"a\" is empty, [1] is empty, {\"a\": 1} is empty]" => "[false, false, false]";
    is_not_empty_of_something: "[\"a\" is not empty, [1] is not empty]" => "[true, true]";
    is_empty_of_null_is_an_error: "null is empty" => "error: null has no length";
    is_empty_of_a_number_is_an_error: "0 is empty" => "error: int has no length";

    an_undefined_condition_takes_the_else_branch:
        "if undefined { x = 1 } else { x = 2 } ;; x" => "2";
    /// "Any other value type becomes the undefined value" is what the specification says of boolean
    /// expressions, conditions among them.
    a_condition_that_is_no_bool_counts_as_undefined: "if 1 { x = 1 } else { x = 2 } ;; x" => "2";
    an_undefined_condition_goes_on_to_else_if:
        "if undefined { x = 1 } else if true { x = 2 } else { x = 3 } ;; x" => "2";
}
