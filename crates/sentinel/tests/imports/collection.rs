//! collection, collection/lists, collection/maps.

use crate::spec;

const COLLECTION: &str = "import \"collection\"\n";

macro_rules! collection {
    ($source:literal) => {
        concat!("import \"collection\"\n", $source)
    };
}
macro_rules! lists {
    ($source:literal) => {
        concat!("import \"collection/lists\" as lists\n", $source)
    };
}
macro_rules! maps {
    ($source:literal) => {
        concat!("import \"collection/maps\" as maps\n", $source)
    };
}

spec! {
    what_maps_make_shares_nothing_with_what_they_are_given: "import \"collection/maps\" as maps\nm = {\"a\": {\"b\": 1}, \"l\": [{\"x\": 1}], \"z\": 0}\nfor [maps.set(m, \"a.b\", 9), maps.unset(m, \"z\"), maps.omit(m, [\"z\"]), maps.pick(m, [\"l\"]), maps.unset(m, \"nothing\")] as s { s[\"l\"][0][\"x\"] = 50 }\nv = [1]\ns = maps.set(m, \"v\", v)\nappend(s.v, 2) ;; [m.l, v]" => "[[{\"x\": 1}], [1]]";
    filter_keeps_what_is_true: collection!(";; collection.filter([1, 2, 3, 4], func(x) { return x % 2 is 0 })") => "[2, 4]";
    filter_of_a_map_is_a_list_of_values: collection!(";; collection.filter({\"a\": 1, \"b\": 2}, func(x) { return x > 1 })") => "[2]";
    filter_gives_the_key_as_a_second_argument: collection!(";; collection.filter({\"a\": 1, \"b\": 2}, func(x, k) { return k is \"a\" })") => "[1]";
    filter_leaves_out_what_is_undefined: collection!(";; collection.filter([{\"a\": true}, {}], func(x) { return x.a })") => "[{\"a\": true}]";
    reject_keeps_what_is_not_true: collection!(";; collection.reject([1, 2, 3, 4], func(x) { return x % 2 is 0 })") => "[1, 3]";
    reject_keeps_what_is_undefined: collection!(";; collection.reject([{\"a\": true}, {}], func(x) { return x.a })") => "[{}]";
    find_finds_the_first: collection!(";; collection.find([1, 2, 3], func(x) { return x > 1 })") => "2";
    find_is_undefined_without_one: collection!(";; collection.find([1, 2], func(x) { return x > 5 })") => "undefined";
    find_passes_over_what_is_undefined: collection!(";; collection.find([{}, {\"a\": true}], func(x) { return x.a })") => "{\"a\": true}";
    find_in_a_map: collection!(";; collection.find({\"a\": 1, \"b\": 2}, func(v, k) { return k is \"b\" })") => "2";
    matches_compares_with_a_part: collection!(";; collection.matches([{\"a\": 1, \"b\": 2}, {\"a\": 2}], {\"a\": 1})") => "[{\"a\": 1, \"b\": 2}]";
    matches_goes_deep: collection!(";; collection.matches([{\"a\": {\"b\": 1, \"c\": 2}}, {\"a\": {\"b\": 2}}], {\"a\": {\"b\": 1}})") => "[{\"a\": {\"b\": 1, \"c\": 2}}]";
    matches_without_a_match_is_empty: collection!(";; collection.matches([{\"a\": 1}], {\"b\": 1})") => "[]";
    reduce_goes_from_left_to_right: collection!(";; collection.reduce([\"a\", \"b\", \"c\"], func(r, x) { return r + x }, \"\")") => "\"abc\"";
    reduce_of_nothing_is_the_start: collection!(";; collection.reduce([], func(r, x) { return r + x }, 7)") => "7";
    reduce_may_change_its_result: collection!(";; collection.reduce([1, 2], func(r, x) { append(r, x * 2)\nreturn r }, [])") => "[2, 4]";
    collections_of_undefined_are_undefined: collection!(";; [collection.filter(undefined, func(x) { return true }), collection.find(undefined, func(x) { return true })]") => "[undefined, undefined]";
    a_collection_of_a_number_is_an_error: collection!(";; collection.filter(5, func(x) { return true })") => "error: `collection.filter` needs a list or a map, not int";
    a_predicate_that_is_no_function_is_an_error: collection!(";; collection.filter([1], true)") => "error: `collection.filter` needs a function, not bool";
    a_predicate_with_a_wrong_number_of_parameters_is_an_error: collection!(";; collection.filter([1], func() { return true })") => "error: the function takes 0 arguments, not 1";
    an_error_in_a_predicate_ends_the_policy: collection!(";; collection.filter([1], func(x) { return x / 0 })") => "error: division by zero";

    concat_joins_lists: lists!(";; [lists.concat([1], [2, 3]), lists.concat([1, 2], [10], [100])]") => "[[1, 2, 3], [1, 2, 10, 100]]";
    concat_makes_a_new_list: lists!("a = [1]\nb = lists.concat(a, [])\nappend(b, 2) ;; a") => "[1]";
    concat_of_one_list_is_an_error: lists!(";; lists.concat([1])") => "error: needs at least two lists";
    sort_by_a_function: lists!(";; lists.sort([\"zebra\", \"bat\", \"horse\"], func(x, y) { return compare(x, y) })") => "[\"bat\", \"horse\", \"zebra\"]";
    sort_by_a_builtin: lists!(";; lists.sort([3, 1, 2], compare)") => "[1, 2, 3]";
    sort_by_a_member: lists!(";; lists.sort([{\"foo\": 8}, {\"foo\": 4}, {\"foo\": 100}], func(x, y) { return compare(x.foo, y.foo) })") => "[{\"foo\": 4}, {\"foo\": 8}, {\"foo\": 100}]";
    sort_keeps_the_order_of_equals: lists!(";; lists.sort([[1, \"a\"], [0, \"b\"], [1, \"c\"], [0, \"d\"]], func(x, y) { return compare(x[0], y[0]) })") => "[[0, \"b\"], [0, \"d\"], [1, \"a\"], [1, \"c\"]]";
    sort_leaves_its_argument: lists!("l = [2, 1]\ns = lists.sort(l, compare) ;; [l, s]") => "[[2, 1], [1, 2]]";
    sort_downwards: lists!(";; lists.sort([1, 3, 2], func(x, y) { return compare(y, x) })") => "[3, 2, 1]";
    sort_survives_a_function_that_contradicts_itself: lists!(";; length(lists.sort([1, 2, 3, 4, 5], func(x, y) { return 1 }))") => "5";
    sort_needs_numbers_from_its_function: lists!(";; lists.sort([1, 2], func(x, y) { return \"a\" })") => "error: needs a function that returns -1, 0 or 1";
    sum_is_a_float: lists!("import \"types\" ;; [lists.sum([2, 5, 10, 500]), lists.sum([0.5, 1]), types.type_of(lists.sum([1]))]") => "[517, 1.5, \"float\"]";
    sum_of_nothing_is_zero: lists!(";; lists.sum([])") => "0";
    sum_of_strings_is_an_error: lists!(";; lists.sum([\"1\"])") => "error: `collection/lists.sum` needs numbers, not string";
    union_has_each_element_once: lists!(";; lists.union([1, 2], [2, 3], [3, 4, 1])") => "[1, 2, 3, 4]";
    intersection_has_what_all_have: lists!(";; [lists.intersection([1, 2, 3, 2], [2, 3], [3, 2, 9]), lists.intersection([1], [2])]") => "[[2, 3], []]";
    difference_has_what_the_others_lack: lists!(";; [lists.difference([1, 2, 3, 4], [2], [4]), lists.diff([1, 2], [1])]") => "[[1, 3], [2]]";

    get_finds_a_key: maps!(";; maps.get({\"foo\": \"bar\"}, \"foo\")") => "\"bar\"";
    get_goes_deep: maps!(";; maps.get({\"foo\": [{\"bar\": {\"baz\": 4}}]}, \"foo.0.bar.baz\")") => "4";
    get_with_a_splat: maps!(";; maps.get({\"foo\": [{\"bar\": 4}, {\"bar\": 8}, {\"bar\": 45}]}, \"foo.*.bar\")") => "[4, 8, 45]";
    get_with_a_splat_leaves_out_what_is_missing: maps!(";; maps.get({\"foo\": [{\"bar\": 4}, {}]}, \"foo.*.bar\")") => "[4]";
    get_of_a_missing_path_is_the_default: maps!(";; [maps.get({}, \"foo\", \"bar\"), maps.get({\"a\": 1}, \"a.b.c\", 0), maps.get({\"a\": [1]}, \"a.5\", 0)]") => "[\"bar\", 0, 0]";
    get_of_a_missing_path_is_undefined_without_a_default: maps!(";; maps.get({}, \"foo\")") => "undefined";
    get_of_a_null_is_null: maps!(";; maps.get({\"a\": null}, \"a\", 1)") => "null";
    get_of_an_undefined_value_is_the_default: maps!(";; maps.get({\"a\": undefined}, \"a\", 1)") => "1";
    get_of_null_or_undefined_is_the_default: maps!(";; [maps.get(null, \"a\", 1), maps.get(undefined, \"a\", 2)]") => "[1, 2]";
    has_asks_for_a_path: maps!(";; [maps.has({\"foo\": {\"bar\": null}}, \"foo.bar\"), maps.has({}, \"foo\"), maps.has({\"a\": [1]}, \"a.0\"), maps.has({\"a\": [1]}, \"a.1\")]") => "[true, false, true, false]";
    /// The page says no more of a splat than that it collects; a list without a value for anything, which is what
    /// collecting nothing comes to, would answer a question about a path that is nowhere with yes.
    has_with_a_splat_asks_for_an_element_with_the_path: maps!(";; [maps.has({\"a\": [{\"c\": 1}, {\"b\": null}]}, \"a.*.b\"), maps.has({\"a\": [{\"c\": 1}]}, \"a.*.b\"), maps.has({\"a\": []}, \"a.*\"), maps.has({\"a\": {}}, \"a.*.b\"), maps.has({\"a\": {\"x\": {\"b\": 1}}}, \"a.*.b\"), maps.has({\"a\": [{\"b\": undefined}]}, \"a.*.b\")]") => "[true, false, false, false, true, false]";
    has_with_two_splats_asks_for_both: maps!(";; [maps.has({\"a\": [{\"b\": []}, {\"b\": [{\"c\": 1}]}]}, \"a.*.b.*.c\"), maps.has({\"a\": [{\"b\": []}]}, \"a.*.b.*.c\")]") => "[true, false]";
    get_with_a_splat_that_finds_nothing_is_the_default: maps!(";; [maps.get({\"a\": [{\"c\": 1}]}, \"a.*.b\", 0), maps.get({\"a\": [{}]}, \"a.*.b\") is defined]") => "[0, false]";
    get_with_a_splat_over_nothing_is_an_empty_list: maps!(";; [maps.get({\"a\": []}, \"a.*.b\", 0), maps.get({\"a\": {}}, \"a.*\")]") => "[[], []]";
    set_sets_a_key: maps!(";; maps.set({\"foo\": \"bar\"}, \"foo\", \"qux\")") => "{\"foo\": \"qux\"}";
    set_makes_what_is_missing: maps!(";; maps.set({}, \"foo.bar.baz\", 10)") => "{\"foo\": {\"bar\": {\"baz\": 10}}}";
    set_sets_an_element: maps!(";; maps.set({\"foo\": [2, 5]}, \"foo.0\", 10)") => "{\"foo\": [10, 5]}";
    set_with_a_splat: maps!(";; maps.set({\"foo\": [{\"bar\": true}, {\"bar\": false}]}, \"foo.*.bar\", true)") => "{\"foo\": [{\"bar\": true}, {\"bar\": true}]}";
    set_leaves_its_argument: maps!("m = {\"a\": {\"b\": 1}}\nn = maps.set(m, \"a.b\", 2) ;; [m, n]") => "[{\"a\": {\"b\": 1}}, {\"a\": {\"b\": 2}}]";
    set_past_the_end_of_a_list_is_an_error: maps!(";; maps.set({\"a\": []}, \"a.0\", 1)") => "error: found no element `0` in a list to set";
    unset_removes_a_key: maps!("m = {\"a\": {\"b\": 1, \"c\": 2}} ;; [maps.unset(m, \"a.b\"), maps.unset(m, \"x.y\"), m]") => "[{\"a\": {\"c\": 2}}, {\"a\": {\"b\": 1, \"c\": 2}}, {\"a\": {\"b\": 1, \"c\": 2}}]";
    unset_with_a_splat: maps!(";; maps.unset({\"a\": [{\"b\": 1, \"c\": 2}, {\"b\": 3}]}, \"a.*.b\")") => "{\"a\": [{\"c\": 2}, {}]}";
    omit_removes_several_paths: maps!(";; maps.omit({\"a\": 1, \"b\": {\"c\": 2, \"d\": 3}}, [\"a\", \"b.c\"])") => "{\"b\": {\"d\": 3}}";
    pick_keeps_several_paths: maps!(";; [maps.pick({\"foo\": \"bar\", \"baz\": \"qux\", \"nit\": \"nat\"}, [\"foo\", \"baz\"]), maps.pick({\"a\": 1}, [\"b\"])]") => "[{\"baz\": \"qux\", \"foo\": \"bar\"}, {}]";
    pick_keeps_the_structure: maps!(";; maps.pick({\"foo\": \"bar\", \"baz\": [{\"qux\": 4}, {\"qux\": 10}], \"nit\": {\"nat\": \"pak\"}}, [\"baz.1.qux\", \"nit.nat\"])") => "{\"baz\": [{\"qux\": 10}], \"nit\": {\"nat\": \"pak\"}}";
    pick_of_two_elements_of_a_list: maps!(";; maps.pick({\"a\": [{\"b\": 1, \"c\": 2}, {\"b\": 3}]}, [\"a.0.b\", \"a.1.b\"])") => "{\"a\": [{\"b\": 1}, {\"b\": 3}]}";
}

#[test]
fn a_callback_may_change_what_is_walked() {
    let source = format!(
        "{COLLECTION}l = [1, 2]\nr = collection.filter(l, func(x) {{ append(l, x)\nreturn true }}) ;; [r, l]"
    );
    crate::support::check(&source, "[[1, 2], [1, 2, 1, 2]]");
}
