//! `if`, `for`, `case`, `break`, `continue`.

use crate::spec;

spec! {
    the_first_true_branch_runs: "x = 5\nif x < 3 { r = 1 } else if x < 6 { r = 2 } else if x < 9 { r = 3 } else { r = 4 } ;; r" => "2";
    no_branch_runs: "r = 0\nif false { r = 1 } else if false { r = 2 } ;; r" => "0";
    for_over_a_list: "r = []\nfor [1, 2] as v { append(r, v) } ;; r" => "[1, 2]";
    for_over_a_list_with_an_index: "r = []\nfor [\"a\", \"b\"] as i, v { append(r, [i, v]) } ;; r" => "[[0, \"a\"], [1, \"b\"]]";
    for_over_a_map_with_one_name_gives_keys: "r = []\nfor {\"b\": 2, \"a\": 1} as k { append(r, k) } ;; r" => "[\"a\", \"b\"]";
    for_over_a_map_with_two_names: "r = []\nfor {\"a\": 1} as k, v { append(r, [k, v]) } ;; r" => "[[\"a\", 1]]";
    break_ends_the_loop: "r = []\nfor [1, 2, 3] as v { if v is 2 { break }\nappend(r, v) } ;; r" => "[1]";
    continue_goes_on_with_the_next: "r = []\nfor [1, 2, 3] as v { if v is 2 { continue }\nappend(r, v) } ;; r" => "[1, 3]";
    break_ends_the_innermost_loop_only: "r = []\nfor [1, 2] as a { for [1, 2] as b { if b is 2 { break }\nappend(r, [a, b]) } } ;; r" => "[[1, 1], [2, 1]]";
    continue_goes_on_with_the_innermost_loop: "r = []\nfor [1, 2] as a { for [1, 2] as b { if b is 1 { continue }\nappend(r, [a, b]) } } ;; r" => "[[1, 2], [2, 2]]";
    /// The specification says that the expression must be a list or a map. For other values an error
    /// is the only answer that cannot make a check disappear.
    for_over_undefined_is_an_error: "for undefined as x { } ;; 1" => "error: `for` needs a list or a map, not undefined";
    for_over_null_is_an_error: "for null as x { } ;; 1" => "error: `for` needs a list or a map, not null";
    for_over_a_string_is_an_error: "for \"abc\" as x { } ;; 1" => "error: `for` needs a list or a map, not string";
    /// What is walked is what was there at the start.
    appending_while_walking_does_not_lengthen_the_walk: "l = [1, 2]\nfor l as x { append(l, x) } ;; l" => "[1, 2, 1, 2]";
    deleting_while_walking_does_not_disturb_the_walk: "m = {\"a\": 1, \"b\": 2}\nfor m as k { delete(m, k) } ;; m" => "{}";

    case_runs_the_first_clause_that_is_equal: "case 2 {\nwhen 1:\n  r = \"one\"\nwhen 2:\n  r = \"two\"\nwhen 2:\n  r = \"again\"\n} ;; r" => "\"two\"";
    case_does_not_fall_through: "r = []\ncase 1 {\nwhen 1:\n  append(r, 1)\nwhen 2:\n  append(r, 2)\nelse:\n  append(r, 3)\n} ;; r" => "[1]";
    a_clause_may_have_several_values: "case 3 {\nwhen 1, 2:\n  r = \"low\"\nwhen 3, 4:\n  r = \"high\"\n} ;; r" => "\"high\"";
    else_runs_when_no_clause_is_equal: "case 9 {\nwhen 1:\n  r = 1\nelse:\n  r = 0\n} ;; r" => "0";
    else_may_stand_first: "case 1 {\nelse:\n  r = 0\nwhen 1:\n  r = 1\n} ;; r" => "1";
    case_without_a_subject_tests_conditions: "x = 5\ncase {\nwhen x > 9:\n  r = \"big\"\nwhen x > 3:\n  r = \"middle\"\nelse:\n  r = \"small\"\n} ;; r" => "\"middle\"";
    case_compares_as_equality_does: "case 1 {\nwhen 1.0:\n  r = true\nelse:\n  r = false\n} ;; r" => "true";
    case_without_a_subject_is_no_truth_of_numbers: "case {\nwhen 1:\n  r = true\nelse:\n  r = false\n} ;; r" => "false";
    case_with_an_undefined_subject_takes_else: "case undefined {\nwhen undefined:\n  r = 1\nelse:\n  r = 2\n} ;; r" => "2";
    case_values_are_evaluated_until_one_is_equal:
        "o = []\nf = func(x) { append(o, x)\nreturn x }\ncase 2 {\nwhen f(1), f(2), f(3):\n  r = 1\n} ;; o" => "[1, 2]";
    break_in_a_case_ends_the_loop: "r = []\nfor [1, 2, 3] as v { case v {\nwhen 2:\n  break\n}\nappend(r, v) } ;; r" => "[1]";
    a_case_clause_may_hold_an_if: "case 1 {\nwhen 1:\n  if false {\n    r = 1\n  }\nelse:\n  r = 2\n}\nr = 3 ;; r" => "3";
    a_case_may_be_empty: "case 1 { }\nr = 1 ;; r" => "1";
    return_in_a_case: "f = func(x) { case x {\nwhen 1:\n  return \"one\"\nelse:\n  return \"other\"\n} } ;; [f(1), f(2)]" => "[\"one\", \"other\"]";
}
