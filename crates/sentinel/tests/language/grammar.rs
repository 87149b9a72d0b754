//! Precedence, and what may stand where.

use crate::spec;
use crate::support::run;

spec! {
    /// Release note of 0.14.4.
    a_brace_that_closes_nothing_is_an_error: "x = 1\n} ;; 1" => "error: expected";
    multiplication_before_addition: "[2 + 3 * 4, 2 * 3 + 4, 10 - 4 / 2]" => "[14, 10, 8]";
    addition_before_else: "undefined else 1 + 2" => "3";
    else_after_addition: "1 + undefined else 5" => "5";
    else_before_comparison: "undefined else 42 == 12" => "false";
    else_before_comparison_on_the_right: "12 == undefined else 12" => "true";
    else_before_not_in: "undefined else \"bar\" not in \"baz\"" => "true";
    comparison_before_and: "1 < 2 and 3 < 4" => "true";
    and_before_or: "[true or true and false, false and false or true]" => "[true, true]";
    and_before_xor: "true xor true and false" => "true";
    or_and_xor_bind_alike_from_the_left: "[true or false xor true, true xor true or true]" => "[false, true]";
    parentheses_group: "[(2 + 3) * 4, (true or true) and false]" => "[20, false]";
    subtraction_is_left_associative: "10 - 3 - 2" => "5";
    division_is_left_associative: "100 / 10 / 5" => "2";
    division_and_multiplication_go_left_to_right: "8 / 4 * 2" => "4";
    comparison_is_left_associative: "1 < 2 == true" => "true";
    unary_minus_binds_before_multiplication: "-2 * 3" => "-6";
    /// Unary operators bind tightest, so `not` of a comparison needs parentheses.
    not_binds_before_and: "not false and false" => "false";
    not_binds_before_equality: "not true == false" => "true";
    not_binds_before_contains: "not [1] contains 1" => "error: `not` needs a bool, not list";
    not_of_a_parenthesized_comparison: "not ([1] contains 2)" => "true";
    double_negation: "not not true" => "true";
    is_not_is_one_operator: "false is not true" => "true";
    is_with_a_negation_in_parentheses: "false is (not true)" => "true";
    is_empty_after_else: "undefined else [] is empty" => "true";
    /// The specification calls the tests unary operators, which bind before all others.
    else_after_is_empty: "m = {\"l\": []} ;; [m.a is empty else true, m.l is empty else 5, m.a is not empty else undefined else 3]" => "[true, true, 3]";
    else_after_is_defined: "[undefined is defined else 5, undefined is not defined else 5]" => "[false, true]";
    else_after_and_before_is_empty: "undefined else [] is empty else 5" => "true";
    a_comparison_goes_on_after_the_else_of_a_test: "[undefined is empty else 1 + 1 is 2 and true, undefined is empty else true == true]" => "[true, true]";
    is_defined_binds_like_a_comparison: "undefined is defined or true" => "true";
    defined_is_a_name_elsewhere: "defined = 1 ;; defined + 1" => "2";
    a_test_in_a_chain: "[] is empty is true" => "true";

    the_empty_list_and_map: "[[], {}]" => "[[], {}]";
    trailing_commas: "[[1, 2,], {\"a\": 1,}]" => "[[1, 2], {\"a\": 1}]";
    keys_are_bools_numbers_and_strings: "{true: 1, 2: \"b\", 1.5: \"c\", \"d\": 4}"
        => "{true: 1, 1.5: \"c\", 2: \"b\", \"d\": 4}";
    keys_are_expressions: "k = \"a\" ;; {k + \"b\": 1, 1 + 1: 2}" => "{2: 2, \"ab\": 1}";
    a_list_is_no_key: "{[1]: 2}" => "error: the key of a map is a bool, a number or a string, not list";
    null_is_no_key: "{null: 2}" => "error: the key of a map is a bool, a number or a string, not null";
    the_later_of_two_equal_keys_counts: "{\"a\": 1, \"a\": 2}" => "{\"a\": 2}";
    the_later_of_two_equal_keys_counts_in_computed_maps: "x = 1 ;; {\"a\": x, \"a\": x + 1}" => "{\"a\": 2}";
    a_call_of_a_call: "f = func() { return func() { return 7 } } ;; f()()" => "7";
    a_member_of_an_index_of_a_call: "f = func() { return [{\"a\": 5}] } ;; f()[0].a" => "5";

    a_missing_operand: "1 +" => "error: expected an expression, found `,`";
    a_missing_bracket: "x = (1 + 2 ;; x" => "error: expected `)`";
    a_closing_brace_too_many: "x = 1 } ;; x" => "error: found `}`";
    two_expressions_in_a_row: "x = 1 2 ;; x" => "error: expected the end of the statement, found a number";
    an_if_needs_a_block: "if true x = 1 ;; 1" => "error: expected `{`";
    a_selector_is_no_target: "m = {}\nm.a = 1 ;; m" => "error: a selector cannot be assigned to";
    a_call_is_no_target: "f = func() { return 1 }\nf() = 2 ;; 1" => "error: only a name or an index expression";
    a_parenthesized_name_is_no_target: "(x) = 2 ;; 1" => "error: only a name or an index expression";
    break_outside_of_a_loop: "break ;; 1" => "error: `break` is outside of a loop";
    continue_outside_of_a_loop: "if true { continue } ;; 1" => "error: `continue` is outside of a loop";
    break_in_a_function_in_a_loop: "for [1] as x { f = func() { break\nreturn 1 } } ;; 1"
        => "error: `break` is outside of a loop";
    return_outside_of_a_function: "return 1 ;; 1" => "error: `return` is outside of a function";
    return_in_a_loop_of_the_file: "for [1] as x { return 1 } ;; 1" => "error: `return` is outside of a function";
    a_parameter_named_twice: "f = func(a, a) { return a } ;; 1" => "error: the parameter `a` is named twice";
    unused_parameters_may_share_a_name: "f = func(_, _, a) { return a } ;; f(1, 2, 3)" => "3";
    a_case_with_two_else: "case 1 {\nelse:\n x = 1\nelse:\n x = 2\n} ;; 1" => "error: a `case` can have one `else`";
    the_result_of_append_cannot_be_used: "l = []\nx = append(l, 1) ;; x" => "error: `append` returns nothing";
    the_result_of_append_cannot_be_returned: "f = func(l) { return append(l, 1) } ;; 1" => "error: `append` returns nothing";
    /// A policy that defines its own `append` may use what it returns.
    the_result_of_an_own_append_can_be_used: "append = func(l, v) { return l + [v] } ;; append([1], 2)" => "[1, 2]";
}

#[test]
fn else_may_stand_on_the_line_after_the_brace() {
    let source = "if false { x = 1 }\nelse if false { x = 2 }\nelse { x = 3 }\nmain = x is 3";
    assert!(run(source).unwrap().outcome.passed());
}

#[test]
fn an_else_after_a_test_is_that_of_an_if_only_behind_a_brace() {
    let source = "x = {}\nif x.a is empty { y = 1 } else { y = 2 }\nif x.a is empty else true { z = 1 }\nmain = y is 2 and z is 1";
    assert!(run(source).unwrap().outcome.passed());
}

#[test]
fn nesting_has_a_limit_that_is_an_error() {
    let deep = format!("main = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(run(&deep).unwrap_err().message().contains("nested more than"));
    let deep = format!("main = {}", "[".repeat(100_000));
    assert!(run(&deep).is_err());
    let deep = format!("main = {}true", "not ".repeat(100_000));
    assert!(run(&deep).is_err());
}

#[test]
fn a_chain_of_operators_may_be_long() {
    let sum = vec!["1"; 20_000].join(" + ");
    assert!(run(&format!("main = {sum} is 20000")).unwrap().outcome.passed());
    let any = vec!["false"; 20_000].join(" or ");
    assert!(run(&format!("main = {any} or true")).unwrap().outcome.passed());
}

#[test]
fn a_chain_of_selectors_has_a_limit_that_is_an_error() {
    let long = format!("x = {{}}\nmain = x{}", ".a".repeat(100_000));
    assert!(run(&long).unwrap_err().message().contains("in a row"));
}
