//! `matches`: the syntax of RE2.

use crate::spec;

spec! {
    a_pattern_is_not_anchored: "[\"test\" matches \"e\", \"test\" matches \"^e\", \"test\" matches \"st$\"]" => "[true, false, true]";
    case_matters_unless_asked: "[\"TEST\" matches \"test\", \"TEST\" matches \"(?i)test\"]" => "[false, true]";
    classes: "\"ABC123\" matches \"[A-Z]+\\\\d+\"" => "true";
    not_matches_negates: "[\"test\" not matches \"e\", \"test\" not matches \"x\"]" => "[false, true]";
    undefined_on_either_side_is_undefined: "[undefined matches \"a\", \"a\" matches undefined, undefined not matches \"a\"]"
        => "[undefined, undefined, undefined]";
    a_number_does_not_match: "1 matches \"1\"" => "error: `matches` needs a string and a pattern, not int and string";
    null_does_not_match: "null matches \"a\"" => "error: `matches` needs a string and a pattern, not null and string";
    a_list_is_no_pattern: "\"a\" matches [\"a\"]" => "error: `matches` needs a string and a pattern";
    a_broken_pattern_is_an_error: "\"a\" matches \"(\"" => "error: `(` is not a regular expression";
    the_end_is_the_end_of_the_text: "[\"a\\n\" matches \"a$\", \"a\\nb\" matches \"(?m)a$\"]" => "[false, true]";
    a_dot_is_no_line_end: "[\"a\\nb\" matches \"a.b\", \"a\\nb\" matches \"(?s)a.b\"]" => "[false, true]";
    digits_are_ascii: "[\"٣\" matches \"\\\\d\", \"3\" matches \"\\\\d\", \"٣\" matches \"\\\\D\"]" => "[false, true, true]";
    word_characters_are_ascii: "[\"é\" matches \"\\\\w\", \"_\" matches \"\\\\w\", \"é\" matches \"\\\\W\"]" => "[false, true, true]";
    spaces_are_ascii: "[\"\\u00a0\" matches \"\\\\s\", \"\\t\" matches \"\\\\s\", \"\\v\" matches \"\\\\s\"]" => "[false, true, false]";
    word_boundaries_are_ascii: "[\"éa\" matches \"\\\\ba\", \"ba\" matches \"\\\\ba\"]" => "[true, false]";
    classes_in_classes: "[\"5\" matches \"^[\\\\d.]$\", \"x\" matches \"^[^\\\\d]$\", \"٣\" matches \"^[\\\\D]$\"]" => "[true, true, true]";
    posix_classes: "[\"a\" matches \"^[[:alpha:]]$\", \"1\" matches \"^[[:^alpha:]]$\"]" => "[true, true]";
    an_unknown_posix_class_is_an_error: "\"a\" not matches \"[[:foo:]]\"" => "error: the class `[:foo:]` is unknown";
    a_posix_class_negated_twice_is_an_error: "\"a\" matches \"[[:^^alpha:]]\"" => "error: the class `[:^^alpha:]` is unknown";
    what_is_no_posix_class_is_characters: "[\":\" matches \"^[[:a]$\", \"[\" matches \"^[[:a]$\", \"b\" matches \"^[[:a]$\"]" => "[true, true, false]";
    all_posix_classes: "all [\"alnum\", \"alpha\", \"ascii\", \"digit\", \"graph\", \"lower\", \"print\", \"word\", \"xdigit\"] as name { \"a1\" matches \"[[:\" + name + \":]]\" } and all [\"blank\", \"cntrl\", \"punct\", \"space\", \"upper\"] as name { \"a1\" not matches \"[[:\" + name + \":]]\" }" => "true";
    /// As Go reads them: what is not a character is the replacement character, byte by byte.
    a_byte_that_is_no_character_is_one: "[\"\\xff\" matches \"^.$\", \"\\xff\\xfe\" matches \"^..$\", \"a\\xe2\\x82\" matches \"^a..$\", \"\\xff\" matches \"^[^a]$\", \"\\xff\" matches \"^\\\\x{fffd}$\", \"\\xff\" matches \"\\\\x{ff}\", \"\\xffé\" matches \"é$\"]"
        => "[true, true, true, true, true, false, true]";
    unicode_classes: "[\"α\" matches \"^\\\\p{Greek}$\", \"a\" matches \"^\\\\P{Greek}$\", \"a\" matches \"^\\\\p{^Greek}$\", \"a\" matches \"^\\\\pL$\"]"
        => "[true, true, true, true]";
    a_bracket_in_a_class_is_itself: "[\"[\" matches \"^[[]$\", \"]\" matches \"^[]]$\", \"a\" matches \"^[^]]$\"]" => "[true, true, true]";
    class_operators_are_characters: "[\"&\" matches \"^[a&&b]$\", \"~\" matches \"^[a~~b]$\", \"b\" matches \"^[a&&b]$\"]" => "[true, true, true]";
    a_hyphen_at_the_edge_of_a_class_is_itself: "[\"-\" matches \"^[a-]$\", \"-\" matches \"^[-a]$\", \"-\" matches \"^[\\\\w-]$\"]" => "[true, true, true]";
    a_brace_that_counts_nothing_is_itself: "[\"a{\" matches \"^a{$\", \"a{x}\" matches \"^a{x}$\", \"a{,2}\" matches \"^a{,2}$\", \"}\" matches \"^}$\"]"
        => "[true, true, true, true]";
    counted_repetitions: "[\"aa\" matches \"^a{2}$\", \"aaa\" matches \"^a{2,}$\", \"aaaa\" matches \"^a{1,3}$\"]" => "[true, true, false]";
    a_count_over_1000_is_an_error: "\"a\" matches \"a{1001}\"" => "error: a repetition counts at most 1000";
    a_repeated_repetition_is_an_error: "\"a\" matches \"a**\"" => "error: a repetition is repeated";
    a_lazy_repetition: "\"aab\" matches \"^a+?b$\"" => "true";
    quoted_text: "[\"a.b\" matches \"^\\\\Qa.b\\\\E$\", \"axb\" matches \"^\\\\Qa.b\\\\E$\", \"(\" matches \"\\\\Q(\"]" => "[true, false, true]";
    octal_and_hexadecimal_escapes: "[\"A\" matches \"^\\\\101$\", \"A\" matches \"^\\\\x41$\", \"é\" matches \"^\\\\x{e9}$\"]" => "[true, true, true]";
    a_back_reference_is_an_error: "\"aa\" matches \"(a)\\\\1\"" => "error: there are no back-references";
    a_look_ahead_is_an_error: "\"ab\" matches \"a(?=b)\"" => "error: `(?=` is unknown";
    a_look_behind_is_an_error: "\"ab\" matches \"(?<=a)b\"" => "error: `(?<` is unknown";
    an_unknown_escape_is_an_error: "\"a\" matches \"\\\\y\"" => "error: `\\y` is unknown";
    an_any_byte_escape_is_an_error: "\"a\" matches \"\\\\C\"" => "error: `\\C` is unknown";
    an_escaped_angle_bracket_is_itself: "\"a<b\" matches \"a\\\\<b\"" => "true";
    there_is_no_verbose_flag: "\"a\" matches \"(?x)a\"" => "error: `(?x` is unknown";
    flags_for_a_group: "[\"aB\" matches \"^a(?i:b)$\", \"AB\" matches \"^a(?i:b)$\"]" => "[true, false]";
    named_groups: "[\"ab\" matches \"(?P<x>a)b\", \"ab\" matches \"(?<x>a)b\"]" => "[true, true]";
    text_anchors: "[\"ab\" matches \"\\\\Aab\\\\z\", \"xab\" matches \"\\\\Aab\"]" => "[true, false]";
    an_empty_range_is_an_error: "\"a\" matches \"[z-a]\"" => "error: the range `z-a` is empty";
    an_empty_pattern_matches: "\"a\" matches \"\"" => "true";
    a_pattern_that_grows_without_end_is_an_error: "\"a\" matches \"((((a{1000}){1000}){1000}){1000})\"" => "error: is not a regular expression";
}
