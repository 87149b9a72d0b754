//! `any`, `all`, `filter`, `map`.

use crate::spec;

spec! {
    any_is_true_when_one_is: "any [1, 2, 3] as x { x > 2 }" => "true";
    any_is_false_when_none_is: "any [1, 2, 3] as x { x > 3 }" => "false";
    all_is_true_when_all_are: "all [1, 2, 3] as x { x > 0 }" => "true";
    all_is_false_when_one_is_not: "all [1, 2, 3] as x { x > 1 }" => "false";
    any_of_nothing_is_false: "[any [] as x { true }, any {} as k { true }]" => "[false, false]";
    all_of_nothing_is_true: "[all [] as x { false }, all {} as k { false }]" => "[true, true]";
    a_true_after_an_undefined_decides_any: "any [undefined, true] as x { x }" => "true";
    any_without_a_true_is_undefined_when_one_is: "any [undefined, false] as x { x }" => "undefined";
    all_stops_at_an_undefined: "all [true, undefined, false] as x { x }" => "undefined";
    a_false_before_an_undefined_decides_all: "all [false, undefined] as x { x }" => "false";
    any_stops_at_the_first_true:
        "seen = []\nf = func(x) { append(seen, x)\nreturn x > 1 }\nr = any [1, 2, 3] as x { f(x) } ;; seen" => "[1, 2]";
    all_stops_at_the_first_false:
        "seen = []\nf = func(x) { append(seen, x)\nreturn x < 2 }\nr = all [1, 2, 3] as x { f(x) } ;; seen" => "[1, 2]";
    filter_of_a_list_is_a_list: "filter [1, 2, 3, 4] as x { x % 2 is 0 }" => "[2, 4]";
    filter_of_a_map_is_a_map: "filter {\"a\": 1, \"b\": 2} as k, v { v > 1 }" => "{\"b\": 2}";
    filter_of_nothing_is_nothing: "[filter [] as x { true }, filter {} as k { true }]" => "[[], {}]";
    filter_is_undefined_when_a_body_is: "filter [1, 2] as x { x is 1 or undefined }" => "undefined";
    filter_stops_at_the_first_undefined:
        "seen = []\nf = func(x) { append(seen, x)\nreturn undefined }\nr = filter [1, 2] as x { f(x) } ;; seen" => "[1]";
    map_of_a_list: "map [1, 2, 3] as x { x * 2 }" => "[2, 4, 6]";
    map_of_a_map_is_a_list: "map {\"b\": 2, \"a\": 1} as k, v { k + string(v) }" => "[\"a1\", \"b2\"]";
    map_of_a_body_that_is_undefined: "map [{}, {\"a\": 1}] as x { x.a }" => "[undefined, 1]";
    map_may_make_maps: "map [\"a\"] as id { { \"id\": id } }" => "[{\"id\": \"a\"}]";
    one_name_is_the_value_of_a_list: "map [\"x\", \"y\"] as v { v }" => "[\"x\", \"y\"]";
    one_name_is_the_key_of_a_map: "map {\"x\": 1, \"y\": 2} as k { k }" => "[\"x\", \"y\"]";
    one_name_is_the_key_of_a_map_in_any: "any {\"x\": 1} as k { k is \"x\" }" => "true";
    one_name_is_the_key_of_a_map_in_filter: "filter {\"x\": 1, \"y\": 2} as k { k is \"x\" }" => "{\"x\": 1}";
    two_names_are_index_and_value_of_a_list: "map [\"x\", \"y\"] as i, v { [i, v] }" => "[[0, \"x\"], [1, \"y\"]]";
    two_names_are_key_and_value_of_a_map: "map {\"x\": 1} as k, v { [k, v] }" => "[[\"x\", 1]]";
    quantifiers_of_undefined_are_undefined:
        "[any undefined as x { true }, all undefined as x { true }, filter undefined as x { true }, map undefined as x { x }]"
            => "[undefined, undefined, undefined, undefined]";
    /// The documents name lists, maps and undefined only.
    a_quantifier_of_null_is_an_error: "any null as x { true }" => "error: `any` needs a list or a map, not null";
    a_quantifier_of_a_string_is_an_error: "all \"abc\" as x { true }" => "error: `all` needs a list or a map, not string";
    a_filter_of_a_number_is_an_error: "filter 5 as x { true }" => "error: `filter` needs a list or a map, not int";
    a_map_of_null_is_an_error: "map null as x { x }" => "error: `map` needs a list or a map, not null";
    /// A body is a boolean expression, and "any other value type becomes the undefined value".
    a_body_of_all_that_is_no_bool_is_undefined: "all [1] as x { x }" => "undefined";
    a_body_of_filter_that_is_no_bool_is_undefined: "filter [1] as x { x }" => "undefined";
    quantifiers_nest: "all [[1, 2], [3]] as l { any l as x { x > 1 } }" => "true";
    a_quantifier_over_a_quantifier: "all filter [1, 2, 3] as x { x > 1 } as y { y > 1 }" => "true";
    the_names_are_gone_after_the_quantifier: "r = any [1] as qx { true } ;; qx" => "error: unknown identifier `qx`";
    the_names_hide_outer_ones: "x = 5\nr = map [1, 2] as x { x } ;; [r, x]" => "[[1, 2], 5]";
    closures_made_in_a_quantifier_keep_their_element:
        "fs = map [1, 2, 3] as x { func() { return x } } ;; [fs[0](), fs[2]()]" => "[1, 3]";
    a_quantifier_combines_with_or: "any [\"a\"] as c { c is \"b\" } or true" => "true";
    a_body_may_end_with_a_line_end: "any [1] as x {\n\tx is 1\n}" => "true";
    what_has_no_order_is_passed_over: "filter [{\"n\": null}, {\"n\": 5}, {\"n\": \"9\"}, {\"n\": 20}] as s { s.n > 10 }" => "[{\"n\": 20}]";
}
