//! Functions.

use crate::spec;

spec! {
    a_function_is_called: "double = func(x) { return x * 2 } ;; double(12)" => "24";
    a_named_function: "func double(x) { return x * 2 }\n ;; double(12)" => "24";
    a_function_without_parameters: "f = func() { return 1 } ;; f()" => "1";
    arguments_are_evaluated_from_left_to_right:
        "o = []\nf = func(x) { append(o, x)\nreturn x }\ng = func(a, b, c) { return undefined }\ng(f(1), f(2), f(3)) ;; o" => "[1, 2, 3]";
    too_few_arguments: "f = func(a, b) { return a }\n ;; f(1)" => "error: the function takes 2 arguments, not 1";
    too_many_arguments: "f = func(a) { return a } ;; f(1, 2)" => "error: the function takes 1 argument, not 2";
    a_function_must_return: "f = func() { x = 1 } ;; f()" => "error: the function ends without `return`";
    a_function_that_returns_on_one_way_only: "f = func(x) { if x { return 1 } } ;; f(false)" => "error: the function ends without `return`";
    a_function_may_return_on_every_way: "f = func(x) { if x { return 1 } else { return 2 } } ;; [f(true), f(false)]" => "[1, 2]";
    return_without_a_value_is_undefined: "f = func() { return } ;; f()" => "undefined";
    return_leaves_loops: "f = func() { for [1, 2, 3] as x { for [1, 2] as y { if x is 2 { return x * 10 + y } } }\nreturn 0 } ;; f()" => "21";
    calling_undefined_is_undefined: "u = undefined ;; u(1, 2)" => "undefined";
    calling_a_missing_member_is_undefined: "m = {} ;; m.f(1)" => "undefined";
    /// The call does not take place, so its arguments have no effect.
    arguments_of_a_call_of_undefined_are_not_evaluated:
        "o = []\nf = func() { append(o, 1)\nreturn 1 }\nu = undefined\nx = u(f()) ;; o" => "[]";
    calling_a_number_is_an_error: "x = 1 ;; x()" => "error: int cannot be called";
    calling_null_is_an_error: "x = null ;; x()" => "error: null cannot be called";
    functions_call_themselves: "fact = func(n) { if n <= 1 { return 1 }\nreturn n * fact(n - 1) } ;; fact(10)" => "3628800";
    functions_call_each_other:
        "even = func(n) { if n is 0 { return true }\nreturn odd(n - 1) }\nodd = func(n) { if n is 0 { return false }\nreturn even(n - 1) } ;; even(10)" => "true";
    a_function_is_a_value: "apply = func(f, x) { return f(x) } ;; apply(func(x) { return x + 1 }, 1)" => "2";
    a_function_in_a_map: "m = {\"f\": func(x) { return x + 1 }} ;; [m.f(1), m[\"f\"](2)]" => "[2, 3]";
    a_function_in_a_list: "l = [func() { return 5 }] ;; l[0]()" => "5";
    a_builtin_is_a_value: "f = length ;; f(\"abc\")" => "3";
    a_function_without_statements_does_not_return: "f = func() {} ;; f()" => "error: the function ends without `return`";
    a_trailing_comma_after_parameters: "f = func(a, b,) { return a + b } ;; f(1, 2)" => "3";
    endless_recursion_is_an_error: "f = func() { return f() } ;; f()" => "error: calls are nested more than 2000 deep";
}
