//! Lists and maps: indexes, slices, assignments, references.

use crate::spec;

spec! {
    a_list_is_indexed_from_zero: "l = [10, 20, 30] ;; [l[0], l[2]]" => "[10, 30]";
    a_negative_index_counts_from_the_end: "l = [10, 20, 30] ;; [l[-1], l[-3]]" => "[30, 10]";
    an_index_past_the_end_is_undefined: "l = [1] ;; [l[1], l[-2]]" => "[undefined, undefined]";
    an_index_of_the_empty_list_is_undefined: "[][0]" => "undefined";
    the_index_of_a_list_is_an_int: "[1][\"0\"]" => "error: the index of a list is an int, not string";
    a_float_is_no_index: "[1][0.0]" => "error: the index of a list is an int, not float";
    an_undefined_index_is_undefined: "[1][undefined]" => "undefined";
    a_key_of_a_map: "m = {\"a\": 1, 2: \"b\", true: \"c\"} ;; [m[\"a\"], m[2], m[true]]" => "[1, \"b\", \"c\"]";
    a_missing_key_is_undefined: "{\"a\": 1}[\"b\"]" => "undefined";
    /// `1 == 1.0`, so they are the same key.
    an_int_and_a_float_of_one_value_are_one_key: "m = {1: \"a\"} ;; m[1.0]" => "\"a\"";
    a_string_and_a_number_are_different_keys: "m = {1: \"a\"} ;; m[\"1\"]" => "undefined";
    something_that_can_be_no_key_is_not_found: "{\"a\": 1}[[1]]" => "undefined";
    an_index_of_null_is_undefined: "null[0]" => "undefined";
    an_index_of_undefined_is_undefined: "undefined[0]" => "undefined";
    an_index_of_a_number_is_an_error: "x = 1 ;; x[0]" => "error: int cannot be indexed";
    a_string_is_indexed_by_byte: "s = \"abc\" ;; [s[0], s[-1], s[3]]" => "[\"a\", \"c\", undefined]";
    a_selector_is_an_index_by_a_string: "m = {\"a\": {\"b\": 2}} ;; [m.a.b, m[\"a\"].b]" => "[2, 2]";
    a_selector_of_a_missing_key_is_undefined: "m = {} ;; m.a" => "undefined";
    a_selector_of_undefined_is_undefined: "m = {} ;; m.a.b.c" => "undefined";
    a_selector_of_null_is_undefined: "m = {\"a\": null} ;; m.a.b" => "undefined";
    a_selector_of_a_string_is_an_error: "s = \"a\" ;; s.b" => "error: string has no members, so none named `b`";
    a_selector_of_a_list_is_an_error: "l = [1] ;; l.first" => "error: list has no members";

    slices_of_a_list: "a = [1, 2, 3, 4, 5] ;; [a[1:4], a[2:], a[:3], a[:]]"
        => "[[2, 3, 4], [3, 4, 5], [1, 2, 3], [1, 2, 3, 4, 5]]";
    slices_of_a_string: "s = \"hello\" ;; [s[1:3], s[3:], s[:0]]" => "[\"el\", \"lo\", \"\"]";
    a_slice_past_the_end_is_undefined_not_shorter: "a = [1, 2] ;; [a[0:3], a[3:]]" => "[undefined, undefined]";
    a_slice_with_a_negative_bound_is_undefined: "[1, 2, 3][-2:]" => "undefined";
    a_slice_that_ends_before_it_starts_is_undefined: "[1, 2, 3][2:1]" => "undefined";
    a_slice_at_the_end_is_empty: "[1, 2][2:]" => "[]";
    a_slice_of_null_is_undefined: "null[1:]" => "undefined";
    a_slice_of_undefined_is_undefined: "undefined[1:]" => "undefined";
    a_slice_with_an_undefined_bound_is_undefined: "[1, 2][undefined:]" => "undefined";
    a_slice_of_a_map_is_an_error: "m = {} ;; m[0:1]" => "error: map cannot be sliced";
    a_slice_of_a_number_is_an_error: "x = 5 ;; x[0:1]" => "error: int cannot be sliced";
    a_bound_of_a_slice_is_an_int: "[1][\"0\":]" => "error: the bound of a slice is an int, not string";
    a_slice_is_a_new_list: "a = [1, 2]\nb = a[:]\nb[0] = 9 ;; [a, b]" => "[[1, 2], [9, 2]]";

    an_element_can_be_assigned: "l = [1, 2]\nl[0] = 9\nl[-1] = 8 ;; l" => "[9, 8]";
    an_element_past_the_end_cannot_be_assigned: "l = [1]\nl[1] = 2 ;; l" => "error: the index 1 is out of range of a list with 1 elements";
    an_element_before_the_start_cannot_be_assigned: "l = [1]\nl[-2] = 2 ;; l" => "error: the index -2 is out of range";
    a_key_can_be_assigned_and_made: "m = {\"a\": 1}\nm[\"a\"] = 2\nm[\"b\"] = 3\nm[4] = 5 ;; m" => "{4: 5, \"a\": 2, \"b\": 3}";
    a_list_cannot_be_assigned_by_a_string: "l = [1]\nl[\"a\"] = 2 ;; l" => "error: the index of a list is an int, not string";
    a_list_is_no_key_to_assign: "m = {}\nm[[1]] = 2 ;; m" => "error: list cannot be a key of a map";
    an_unknown_variable_cannot_be_assigned_into: "x[0] = 1 ;; 1" => "error: unknown identifier `x`";
    a_string_cannot_be_assigned_into: "s = \"abc\"\ns[0] = \"x\" ;; s" => "error: only an element of a list or a map can be assigned, not of string";
    undefined_cannot_be_assigned_into: "u = undefined\nu[\"a\"] = 1 ;; u" => "error: only an element of a list or a map can be assigned, not of undefined";
    an_element_can_be_added_to: "l = [1, 2]\nl[1] += 5\nm = {\"n\": 3}\nm[\"n\"] *= 2 ;; [l, m]" => "[[1, 7], {\"n\": 6}]";
    a_missing_key_added_to_is_undefined: "m = {}\nm[\"n\"] += 1 ;; m" => "{\"n\": undefined}";
    a_nested_element_can_be_assigned: "m = {\"a\": [{\"b\": 1}]}\nm[\"a\"][0][\"b\"] = 2 ;; m" => "{\"a\": [{\"b\": 2}]}";
    a_selector_can_lead_to_an_assigned_element: "m = {\"a\": {}}\nm.a[\"b\"] = 1 ;; m" => "{\"a\": {\"b\": 1}}";
    the_right_side_is_evaluated_before_the_left:
        "order = []\nf = func(n, v) { append(order, n)\nreturn v }\nm = {}\nm[f(\"left\", \"k\")] = f(\"right\", 1) ;; order"
            => "[\"right\", \"left\"]";

    two_names_for_one_list: "a = [1]\nb = a\nappend(b, 2) ;; [a, b]" => "[[1, 2], [1, 2]]";
    two_names_for_one_map: "a = {}\nb = a\nb[\"k\"] = 1 ;; a" => "{\"k\": 1}";
    assigning_a_name_does_not_touch_the_other: "a = [1]\nb = a\nb = [2] ;; a" => "[1]";
    a_function_changes_its_callers_list: "f = func(l) { append(l, 1)\nreturn undefined }\na = []\nf(a) ;; a" => "[1]";
    a_function_changes_its_callers_map: "f = func(m) { m[\"x\"] = 1\nreturn undefined }\na = {}\nf(a) ;; a" => "{\"x\": 1}";
    a_function_cannot_change_its_callers_variable: "f = func(x) { x = \"value\"\nreturn x }\nx = \"outside\"\nf(x) ;; x" => "\"outside\"";
    a_nested_collection_is_shared: "m = {\"l\": [1]}\nl = m[\"l\"]\nappend(l, 2) ;; m" => "{\"l\": [1, 2]}";
    a_nested_collection_read_twice_is_one: "m = {\"l\": [1]}\na = m.l\nb = m.l\nappend(a, 2) ;; b" => "[1, 2]";
    a_loop_variable_shares_its_element: "ms = [{\"n\": 1}, {\"n\": 2}]\nfor ms as m { m[\"n\"] = 0 } ;; ms" => "[{\"n\": 0}, {\"n\": 0}]";
    a_filtered_element_is_shared: "ms = [{\"n\": 1}]\nfs = filter ms as m { true }\nfs[0][\"n\"] = 5 ;; ms" => "[{\"n\": 5}]";
    an_element_of_a_slice_is_shared: "ms = [{\"n\": 1}]\ns = ms[:]\ns[0][\"n\"] = 5 ;; ms" => "[{\"n\": 5}]";
    a_literal_is_made_anew_each_time: "f = func() { l = []\nappend(l, 1)\nreturn l }\nf() ;; f()" => "[1]";
    a_literal_in_a_loop_is_made_anew: "r = []\nfor [1, 2] as x { l = [0]\nappend(l, x)\nappend(r, l) } ;; r" => "[[0, 1], [0, 2]]";
    a_list_may_contain_itself: "l = [1]\nappend(l, l) ;; length(l)" => "2";
    a_list_that_contains_itself_cannot_be_compared: "l = []\nappend(l, l)\nk = []\nappend(k, k) ;; l == k"
        => "error: nested more than 500 deep or contains itself";
    maps_are_walked_in_the_order_of_their_keys: "keys({\"b\": 1, \"a\": 2, 10: 3, 9: 4, true: 5})" => "[true, 9, 10, \"a\", \"b\"]";
}
