//! base64, json, runtime, sockaddr, strings, types, units.

use crate::spec;
use crate::support::check;

spec! {
    base64_encodes_and_decodes: "import \"base64\" ;; [base64.encode(\"héllo?>\"), base64.decode(\"aMOpbGxvPz4=\")]" => "[\"aMOpbGxvPz4=\", \"héllo?>\"]";
    base64_has_a_url_alphabet: "import \"base64\" ;; [base64.urlencode(\"??>>\"), base64.urldecode(\"Pz8-Pg==\")]" => "[\"Pz8-Pg==\", \"??>>\"]";
    base64_of_what_is_no_base64_is_an_error: "import \"base64\" ;; base64.decode(\"!\")" => "error: `base64.decode` cannot decode";

    json_unmarshals: "import \"json\" ;; json.unmarshal(\"{\\\"foo\\\": [1, 2.5, null, true, \\\"x\\\"]}\")" => "{\"foo\": [1, 2.5, null, true, \"x\"]}";
    json_numbers_without_a_fraction_are_ints: "import \"json\"\nimport \"types\" ;; map json.unmarshal(\"[1, 1.0, 1e2, 99999999999999999999]\") as n { types.type_of(n) }" => "[\"int\", \"float\", \"float\", \"float\"]";
    json_of_no_document_is_an_error: "import \"json\" ;; json.unmarshal(\"{\")" => "error: `json.unmarshal` was given no JSON document";
    json_unmarshal_of_undefined_is_undefined: "import \"json\" ;; json.unmarshal(undefined)" => "undefined";
    json_unmarshal_of_a_map_is_an_error: "import \"json\" ;; json.unmarshal({})" => "error: `json.unmarshal` needs a string, not map";
    json_marshals: "import \"json\" ;; json.marshal({\"b\": [1, 2.5, null], \"a\": {\"c\": \"q\\\"\"}, 3: true})" => "\"{\\\"3\\\":true,\\\"a\\\":{\\\"c\\\":\\\"q\\\\\\\"\\\"},\\\"b\\\":[1,2.5,null]}\"";
    json_marshals_empty_collections: "import \"json\" ;; json.marshal({\"a\": {}, \"b\": []})" => "\"{\\\"a\\\":{},\\\"b\\\":[]}\"";
    /// Release note of 0.29.
    json_leaves_undefined_members_out: "import \"json\" ;; json.marshal({\"a\": undefined, \"b\": [1, undefined, 2]})" => "\"{\\\"b\\\":[1,2]}\"";
    json_marshal_of_undefined_is_undefined: "import \"json\" ;; json.marshal(undefined)" => "undefined";
    json_cannot_marshal_a_function: "import \"json\" ;; json.marshal([func() { return 1 }])" => "error: `json.marshal` cannot write a func";
    json_valid: "import \"json\" ;; [json.valid(\"{}\"), json.valid(\"{\"), json.valid(\"1\"), json.valid(\"\")]" => "[true, false, true, false]";
    json_round_trip: "import \"json\"\nv = {\"a\": [1, {\"b\": null}], \"c\": \"é\\n\"} ;; json.unmarshal(json.marshal(v)) == v" => "true";

    runtime_has_a_version: "import \"runtime\" ;; runtime.version matches \"^\\\\d+\\\\.\\\\d+\\\\.\\\\d+$\"" => "true";

    sockaddr_is_contained: "import \"sockaddr\" as s ;; [s.is_contained(\"192.168.0.0/24\", \"192.168.0.32\"), s.is_contained(\"192.168.0.0/24\", \"192.174.1.1\"), s.is_contained(\"10.0.0.0/8\", \"10.1.0.0/16\"), s.is_contained(\"10.1.0.0/16\", \"10.0.0.0/8\")]" => "[true, false, true, false]";
    sockaddr_is_equal: "import \"sockaddr\" as s ;; [s.is_equal(\"192.168.12.24\", \"192.168.12.24\"), s.is_equal(\"10.0.0.1\", \"10.0.0.2\"), s.is_equal(\"::1\", \"0:0:0:0:0:0:0:1\")]" => "[true, false, true]";
    sockaddr_kinds: "import \"sockaddr\" as s ;; [s.is_ipv4(\"192.168.12.24\"), s.is_ipv4(\"2001:0db8:85a3::8a2e:0370:7334\"), s.is_ipv6(\"::1\"), s.is_ipv6(\"1.2.3.4\")]" => "[true, false, true, false]";
    sockaddr_of_other_text_is_an_error: "import \"sockaddr\" ;; sockaddr.is_ipv4(\"host\")" => "error: was given `host`, which is neither an IP address nor a network";
    sockaddr_families_do_not_mix: "import \"sockaddr\" ;; sockaddr.is_contained(\"10.0.0.0/8\", \"::1\")" => "false";

    strings_prefixes: "import \"strings\" as s ;; [s.has_prefix(\"billing-id\", \"billing-\"), s.has_prefix(\"bill-id\", \"billing-\"), s.has_suffix(\"billing-id\", \"id\"), s.has_suffix(\"billing-name\", \"id\")]" => "[true, false, true, false]";
    strings_trim_prefixes: "import \"strings\" as s ;; [s.trim_prefix(\"billing-id\", \"billing-\"), s.trim_prefix(\"bill-id\", \"billing-\"), s.trim_suffix(\"billing-id\", \"-id\"), s.trim_suffix(\"bill-id\", \"-foo\")]" => "[\"id\", \"bill-id\", \"billing\", \"bill-id\"]";
    strings_cases: "import \"strings\" as s ;; [s.to_lower(\"FoOÉ\"), s.to_upper(\"FoOé\")]" => "[\"fooé\", \"FOOÉ\"]";
    strings_split: "import \"strings\" as s ;; [s.split(\"foo,bar,baz\", \",\"), s.split(\"foo\", \",\"), s.split(\"\", \",\"), s.split(\"a,,b\", \",\")]" => "[[\"foo\", \"bar\", \"baz\"], [\"foo\"], [\"\"], [\"a\", \"\", \"b\"]]";
    strings_split_passes_a_list_through: "import \"strings\" as s ;; s.split([\"foo\", \"bar\"], \",\")" => "[\"foo\", \"bar\"]";
    strings_split_by_nothing_gives_characters: "import \"strings\" as s ;; s.split(\"aé\", \"\")" => "[\"a\", \"é\"]";
    strings_join: "import \"strings\" as s ;; [s.join([\"foo\", \"bar\"], \".\"), s.join([[\"foo\", [\"bar\"]], \"baz\"], \".\"), s.join([], \",\")]" => "[\"foo.bar\", \"foo.bar.baz\", \"\"]";
    strings_join_of_scalars: "import \"strings\" as s ;; s.join([\"a\", 1, 1.01, true], \",\")" => "\"a,1,1.01,true\"";
    strings_join_of_a_map_is_an_error: "import \"strings\" as s ;; s.join([{}], \",\")" => "error: `strings.join` needs a list of strings";
    strings_trim_sets_of_characters: "import \"strings\" as s ;; [s.trim(\"xxaxx\", \"x\"), s.trim_left(\"xyaxy\", \"yx\"), s.trim_right(\"xyaxy\", \"yx\"), s.trim_space(\" \\t a \\n\")]" => "[\"a\", \"axy\", \"xya\", \"a\"]";
    strings_replace: "import \"strings\" as s ;; [s.replace(\"a-b-c\", \"-\", \"+\"), s.replace(\"a-b-c\", \"-\", \"+\", 1), s.replace(\"a-b-c\", \"-\", \"\", -1)]" => "[\"a+b+c\", \"a+b-c\", \"abc\"]";
    strings_of_undefined_are_undefined: "import \"strings\" as s ;; [s.to_lower(undefined), s.has_prefix(\"a\", undefined), s.split(undefined, \",\")]" => "[undefined, undefined, undefined]";
    strings_of_null_are_an_error: "import \"strings\" as s ;; s.has_prefix(null, \"a\")" => "error: `strings.has_prefix` needs a string, not null";
    strings_of_a_number_are_an_error: "import \"strings\" as s ;; s.to_lower(5)" => "error: `strings.to_lower` needs a string, not int";
    strings_has_no_such_function: "import \"strings\" as s ;; s.reverse(\"a\")" => "error: the import `strings` has no function `reverse`";
    a_member_that_an_import_lacks_is_undefined: "import \"strings\" as s ;; s.reverse" => "undefined";
    a_function_of_an_import_is_a_value: "import \"strings\"\nf = strings.to_upper ;; f(\"a\")" => "\"A\"";
    a_wrong_number_of_arguments: "import \"strings\" as s ;; s.to_lower(\"a\", \"b\")" => "error: `strings.to_lower` takes 1 argument, not 2";

    types_of_values: "import \"types\"\nf = func() { return 1 } ;; map [true, 1, 1.5, \"s\", [], {}, null, undefined, f, length] as v { types.type_of(v) }"
        => "[\"bool\", \"int\", \"float\", \"string\", \"list\", \"map\", \"null\", \"undefined\", \"func\", \"func\"]";
    /// Naming a rule evaluates it, so its type is that of its value.
    types_of_a_rule_is_that_of_its_value: "import \"types\"\nr = rule { [1] } ;; types.type_of(r)" => "\"list\"";

    units_are_base_two: "import \"units\" as u ;; [u.kilobyte, u.megabyte, u.gigabyte, u.terabyte, u.petabyte]" => "[1024, 1048576, 1073741824, 1099511627776, 1125899906842624]";
    a_constant_cannot_be_called: "import \"units\" ;; units.kilobyte(1)" => "error: `units.kilobyte` is a int, which cannot be called";

    an_import_is_no_value: "import \"strings\"\nx = strings ;; x" => "error: the import `strings` is not a value";
    an_import_cannot_be_assigned: "import \"strings\"\nstrings = 1 ;; 1" => "error: `strings` is an import and cannot be assigned to";
    /// The page on imports: one "can shadow imports by assigning a variable", in a scope of its own.
    an_assignment_in_a_function_hides_an_import: "import \"strings\"\nf = func() { strings = \"jane\"\nreturn strings } ;; [f(), strings.to_upper(\"x\")]" => "[\"jane\", \"X\"]";
    an_assignment_in_a_loop_hides_an_import: "import \"strings\"\nr = []\nfor [1, 2] as x { strings = {\"to_upper\": func(s) { return s + string(x) }}\nappend(r, strings.to_upper(\"a\")) } ;; [r, strings.to_upper(\"a\")]" => "[[\"a1\", \"a2\"], \"A\"]";
    a_named_function_in_a_function_hides_an_import: "import \"strings\"\nf = func() { func strings() { return 1 }\nreturn strings() } ;; f()" => "1";
    an_import_is_there_until_it_is_hidden: "import \"strings\"\nf = func() { a = strings.to_upper(\"a\")\nstrings = {\"b\": a}\nreturn strings.b } ;; [f(), f()]" => "[\"A\", \"A\"]";
    a_function_in_a_function_changes_what_hides_an_import: "import \"strings\"\nf = func() { strings = 1\ng = func() { strings = 2\nreturn strings }\nreturn [g(), strings] } ;; f()" => "[2, 2]";
    an_assignment_in_an_if_of_the_file_is_one_of_the_file: "import \"strings\"\nif true { strings = 1 } ;; 1" => "error: `strings` is an import and cannot be assigned to";
    what_hides_an_import_can_be_assigned_through: "import \"strings\"\nf = func() { strings = {\"a\": [1]}\nstrings[\"b\"] = 2\nstrings.a[0] = 3\nreturn strings } ;; f()" => "{\"a\": [3], \"b\": 2}";
    an_import_cannot_be_assigned_through_before_it_is_hidden: "import \"time\"\nf = func() { time.now[\"hour\"] = 1\ntime = 1\nreturn time } ;; f()" => "error: `time` is an import, its data cannot be assigned to";
    an_import_cannot_be_assigned_through: "import \"time\"\ntime.now[\"hour\"] = 1 ;; 1" => "error: `time` is an import, its data cannot be assigned to";
    an_unknown_import_is_an_error: "import \"stringz\" ;; 1" => "error: there is no import `stringz`";
    an_import_with_a_slash_needs_a_name: "import \"collection/maps\" ;; 1" => "error: the import `collection/maps` needs a name";
    an_import_twice_under_two_names_is_an_error: "import \"strings\" as a\nimport \"strings\" as b ;; 1" => "error: `strings` is imported twice";
    two_imports_of_one_name_are_an_error: "import \"strings\" as a\nimport \"time\" as a ;; 1" => "error: `a` is the name of the import `strings` already";
    an_import_after_a_statement_is_an_error: "x = 1\nimport \"strings\" ;; 1" => "error: an import must be at the top of the file";
    an_import_after_a_parameter_is_an_error: "param x default 1\nimport \"strings\" ;; 1" => "error: an import must be at the top of the file";
    a_parameter_of_a_function_may_have_the_name_of_an_import: "import \"strings\"\nf = func(strings) { strings = strings + 1\nreturn strings } ;; f(1)" => "2";
}

#[test]
fn json_that_is_nested_too_deep_is_said_to_be() {
    let unmarshal = |depth: usize| {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!("import \"json\"\nx = json.unmarshal(\"{text}\") ;; json.marshal(x) is \"{text}\"")
    };
    check(&unmarshal(127), "true");
    check(&unmarshal(128), "error: `json.unmarshal` was given a document that is nested more than 127 deep");
    check(&unmarshal(100_000), "error: nested more than 127 deep");
    // brackets in strings are no nesting
    let brackets = "[".repeat(200);
    let broken = format!("import \"json\" ;; json.unmarshal(`{{\"{brackets}\\\"{brackets}\": }}`)");
    check(&broken, "error: was given no JSON document: expected value");
}
