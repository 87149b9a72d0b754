//! time.

use sentinel::{Data, Environment};

use crate::spec;
use crate::support::check_in;

macro_rules! time {
    ($source:literal) => {
        concat!("import \"time\"\nt = time.load(\"2019-11-16T01:20:30Z\") ;; ", $source)
    };
}

spec! {
    now_is_the_time_of_the_host: "import \"time\"\nn = time.now ;; [n.year, n.month, n.day, n.hour, n.minute, n.second, n.weekday_name]" => "[2024, 2, 29, 12, 30, 45, \"Thursday\"]";
    now_is_one_moment: "import \"time\" ;; time.now.unix_nano == time.now.unix_nano" => "true";
    now_is_handed_out_as_a_copy: "import \"time\"\nn = time.now\nn[\"hour\"] = 99\nm = time.now\nm[\"hour\"] = 98 ;; [n.hour, time.now.hour]" => "[99, 12]";
    parts_of_a_date: time!("[t.year, t.month, t.month_name, t.day, t.weekday, t.weekday_name]") => "[2019, 11, \"November\", 16, 6, \"Saturday\"]";
    parts_of_a_time: time!("[t.hour, t.minute, t.second, t.zone, t.zone_string]") => "[1, 20, 30, 0, \"+00:00\"]";
    unix_times: time!("[t.unix, t.unix_nano]") => "[1573867230, 1573867230000000000]";
    sunday_is_zero: "import \"time\" ;; time.load(\"2019-11-17T00:00:00Z\").weekday" => "0";
    load_takes_seconds: "import \"time\" ;; [time.load(0).year, time.load(1573867230).hour, time.load(1.5).unix_nano]" => "[1970, 1, 1500000000]";
    load_takes_an_offset: "import \"time\"\nt = time.load(\"2019-11-16T01:20:30-08:00\") ;; [t.hour, t.zone, t.zone_string, t.unix]" => "[1, -28800, \"-08:00\", 1573896030]";
    load_takes_a_timespace: time!("time.load(t).unix") => "1573867230";
    load_of_other_text_is_an_error: "import \"time\" ;; time.load(\"yesterday\")" => "error: was given yesterday, which is not a time";
    load_of_a_date_without_a_time_is_an_error: "import \"time\" ;; time.load(\"2019-11-16\")" => "error: which is not a time";
    load_of_null_is_an_error: "import \"time\" ;; time.load(null)" => "error: `time.load` needs seconds";
    load_of_undefined_is_undefined: "import \"time\" ;; time.load(undefined).year" => "undefined";
    durations: "import \"time\" ;; [time.nanosecond, time.microsecond, time.millisecond, time.second, time.minute, time.hour]" => "[1, 1000, 1000000, 1000000000, 60000000000, 3600000000000]";
    before_after_equal: time!("[t.before(\"2019-11-15T01:20:30Z\"), t.after(\"2019-11-15T01:20:30Z\"), t.equal(\"2019-11-15T01:20:30Z\"), t.equal(1573867230), t.before(time.now)]") => "[false, true, false, true, true]";
    moments_are_equal_across_zones: time!("t.equal(\"2019-11-15T17:20:30-08:00\")") => "true";
    add_adds_nanoseconds: time!("[t.add(time.hour * 1).hour, t.add(time.nanosecond).unix_nano, t.add(-1 * time.hour * 2).day]") => "[2, 1573867230000000001, 15]";
    add_cuts_floats_off: time!("t.add(1.9).unix_nano") => "1573867230000000001";
    add_keeps_the_zone: "import \"time\" ;; time.load(\"2019-11-16T01:20:30-08:00\").add(time.hour).zone_string" => "\"-08:00\"";
    sub_gives_nanoseconds: time!("[t.sub(\"2019-11-16T04:20:30Z\"), t.sub(t)]") => "[-10800000000000, 0]";
    sub_and_add_are_inverse: "import \"time\"\nd = time.load(\"2019-11-16T01:20:30Z\").sub(\"2019-11-16T04:20:30Z\") ;; time.load(\"2019-11-16T04:20:30Z\").add(d).hour" => "1";
    add_of_text_is_an_error: time!("t.add(\"1h\")") => "error: `timespace.add` needs a number of nanoseconds, not string";
    calls_chain: time!("t.add(time.hour).add(time.hour).weekday_name") => "\"Saturday\"";
    a_timespace_is_a_map: "import \"time\"\nimport \"types\"\nt = time.load(0) ;; [types.type_of(t), keys(t) contains \"unix\", t[\"year\"]]" => "[\"map\", true, 1970]";
    /// The data of an object may be changed; its methods see the change.
    the_data_of_a_timespace_can_be_assigned: time!("t.hour") => "1";
    a_leap_day: "import \"time\" ;; time.load(\"2024-02-28T23:59:59Z\").add(time.second).day" => "29";
    /// What the interfaces of clouds say for "never".
    the_last_second_of_the_calendar_is_a_time: "import \"time\"\nt = time.load(\"9999-12-31T23:59:59Z\") ;; [t.year, t.month, t.day, t.hour, t.second, t.weekday_name, t.unix, t.after(time.now), t.equal(time.load(t)), t.add(-1 * time.second).second, t.equal(\"9999-12-31T23:59:59.000000000Z\"), t.after(\"9999-12-31T23:59:59.5Z\")]"
        => "[9999, 12, 31, 23, 59, \"Friday\", 253402300799, true, true, 58, true, false]";
    the_calendar_ends_in_every_zone: "import \"time\"\nt = time.load(\"9999-12-31T23:59:59-12:00\") ;; [t.year, t.hour, t.unix]" => "[9999, 23, 253402343999]";
    a_time_before_the_calendar: "import \"time\"\nt = time.load(\"0000-01-01T00:00:00Z\") ;; [t.year, t.unix, t.equal(time.load(t))]" => "[0, -62167219200, true]";
    a_sum_after_the_calendar_is_an_error: "import \"time\" ;; time.load(\"9999-12-31T23:59:59Z\").add(time.second)" => "error: `timespace.add` comes to a time that is out of range";
    the_smallest_duration_can_be_added: "import \"time\" ;; [time.now.add(-9223372036854775807 - 1).year, time.now.add(-1e300).year, time.now.add(9223372036854775807).year]" => "[1731, 1731, 2316]";
    floats_out_of_range_are_no_time: "import \"time\" ;; time.load(1e300)" => "error: which is not a time";
    seconds_out_of_range_are_no_time: "import \"time\" ;; time.load(9223372036854775807)" => "error: which is not a time";
    a_float_that_is_no_number_is_no_time: "import \"time\" ;; time.load(0.0 / 0.0)" => "error: which is not a time";
    fractions_of_seconds: "import \"time\" ;; [time.load(\"2019-11-16T01:20:30.25Z\").unix_nano, time.load(\"1969-12-31T23:59:59.5Z\").unix_nano, time.load(\"1969-12-31T23:59:59.5Z\").unix]" => "[1573867230250000000, -500000000, -1]";
    a_method_is_a_value: "import \"time\"\nf = time.load(0).add ;; f(time.second).unix" => "1";
}

#[test]
fn changed_data_is_what_methods_see() {
    crate::support::check(
        "import \"time\"\nt = time.load(0)\nt[\"unix_nano\"] = 5000000000 ;; t.add(0).unix",
        "5",
    );
}

#[test]
fn the_configuration_gives_a_zone_and_a_time() {
    let mut environment = Environment::default();
    environment.configure(
        "time",
        Data::map([("timezone", "Australia/Brisbane".into()), ("fixed_time", "2020-01-01T20:00:00Z".into())]),
    );
    check_in(
        "import \"time\" ;; [time.now.zone_string, time.now.day, time.now.hour]",
        "[\"+10:00\", 2, 6]",
        &environment,
    );
}

#[test]
fn an_unknown_zone_is_an_error() {
    let mut environment = Environment::default();
    environment.configure("time", Data::map([("timezone", "Nowhere/Land".into())]));
    check_in(
        "import \"time\" ;; time.now.hour",
        "error: the configured timezone `Nowhere/Land`",
        &environment,
    );
}

#[test]
fn a_time_has_the_form_of_rfc_3339() {
    for text in [
        "2019-11-16 01:20:30Z",
        "2019-11-16T01:20Z",
        "2019-11-16T01:20:30",
        "2019-11-16T01:20:30+-8:00",
        "2019-11-16T01:20:30+24:00",
        "2019-11-16T01:20:30 08:00",
        "2019-11-16T01:20:30,5Z",
        "2019-11-16T01:20:30.Z",
        "2019-02-29T01:20:30Z",
        "2019-11-16T24:20:30Z",
        "x019-11-16T01:20:30Z",
        "é",
        "",
    ] {
        check_in(
            &format!("import \"time\" ;; time.load(\"{text}\")"),
            "error: which is not a time",
            &Environment::default(),
        );
    }
}

#[test]
fn changed_data_of_a_far_moment_is_what_methods_see() {
    crate::support::check(
        "import \"time\"\nt = time.load(\"9999-12-31T23:59:59Z\")\nt[\"unix_nano\"] = 5.0 ;; t.add(0).unix_nano",
        "5",
    );
    crate::support::check(
        "import \"time\"\nt = time.load(\"9999-12-31T23:59:59Z\")\nt[\"unix_nano\"] = 1e300 ;; t.add(0)",
        "error: which is not a time",
    );
}
