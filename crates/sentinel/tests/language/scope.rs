//! Scopes.

use crate::spec;

spec! {
    if_makes_no_scope: "if true { x = 1 } ;; x" => "1";
    else_makes_no_scope: "if false { x = 1 } else { x = 2 } ;; x" => "2";
    case_makes_no_scope: "case 1 {\nwhen 1:\n  x = 5\n} ;; x" => "5";
    for_makes_a_scope: "for [1] as v { y = v } ;; y" => "error: unknown identifier `y`";
    a_function_makes_a_scope: "f = func() { y = 1\nreturn y }\nf() ;; y" => "error: unknown identifier `y`";
    a_loop_variable_ends_with_its_loop: "for [1] as v { } ;; v" => "error: unknown identifier `v`";
    a_loop_variable_hides_an_outer_name: "v = 5\nfor [1] as v { v = 2 } ;; v" => "5";
    an_assignment_in_a_loop_changes_an_outer_name: "count = 0\nfor [1, 2, 3] as v { count += v } ;; count" => "6";
    an_assignment_in_a_function_changes_an_outer_name: "a = 1\nf = func() { a = 12\nreturn undefined }\nf() ;; a" => "12";
    an_assignment_before_the_outer_name_exists_is_local:
        "f = func() { a = 12\nreturn undefined }\nf()\na = 1 ;; a" => "1";
    an_assignment_after_the_outer_name_exists_is_not:
        "f = func() { a = 12\nreturn undefined }\na = 1\nf() ;; a" => "12";
    an_assignment_in_an_if_in_a_loop_is_the_loops: "for [1] as v { if true { z = v }\nw = z } ;; z" => "error: unknown identifier `z`";
    a_variable_of_a_loop_is_fresh_in_each_iteration:
        "r = []\nfor [1, 2] as v { if v is 1 { t = 7 }\nappend(r, t else 0) } ;; r" => "error: unknown identifier `t`";
    a_name_can_be_read_by_a_function_made_before_it: "f = func() { return later }\nlater = 3 ;; f()" => "3";
    an_unknown_name_is_an_error: "nowhere + 1" => "error: unknown identifier `nowhere`";
    /// A page on scopes shows that reading an unknown name prints "undefined"; the specification says
    /// that it is an error. The error names the name.
    an_unknown_name_is_not_undefined: "nowhere else 1" => "error: unknown identifier `nowhere`";
    closures_see_the_variable_not_its_value: "a = 1\nf = func() { return a }\na = 2 ;; f()" => "2";
    closures_keep_their_scope: "f = func() { a = 42\nreturn func() { return a * 2 } }\ng = f() ;; g()" => "84";
    closures_of_one_call_share_a_scope:
        "f = func() { n = 0\nreturn {\"inc\": func() { n += 1\nreturn n }, \"get\": func() { return n }} }\nc = f()\nc.inc()\nc.inc() ;; c.get()" => "2";
    closures_of_two_calls_do_not:
        "f = func() { n = 0\nreturn func() { n += 1\nreturn n } }\na = f()\nb = f()\na() ;; [a(), b()]" => "[2, 1]";
    closures_made_in_a_loop_keep_their_element:
        "fs = []\nfor [1, 2, 3] as v { append(fs, func() { return v }) } ;; [fs[0](), fs[1](), fs[2]()]" => "[1, 2, 3]";
    a_parameter_hides_an_outer_name: "a = 1\nf = func(a) { a = 5\nreturn a }\nx = f(2) ;; [a, x]" => "[1, 5]";
    a_nested_function_changes_its_outer_functions_variable:
        "f = func() { a = 1\ng = func() { a = 2\nreturn undefined }\ng()\nreturn a } ;; f()" => "2";
    a_predeclared_name_taken_in_a_function_is_the_functions:
        "f = func() { length = 5\nreturn length } ;; [f(), length(\"ab\")]" => "[5, 2]";
    a_named_function_is_always_local: "g = 1\nf = func() { func g() { return 2 }\nreturn g() } ;; [f(), g]" => "[2, 1]";
}
