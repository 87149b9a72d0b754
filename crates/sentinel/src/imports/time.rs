//! `time`: the moment of the evaluation, and moments given as text or seconds.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::Call;
use crate::error::Error;
use crate::eval::Evaluator;
use crate::value::{Data, DataMap, Key, Map, Receiver, Value, ops};

pub(super) const METHODS: &[&str] = &["add", "after", "before", "equal", "sub"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Nanoseconds of the duration units.
pub(super) fn constant(name: &str, eval: &mut Evaluator<'_>) -> Result<Option<Value>, Error> {
    Ok(Some(Value::Int(match name {
        "now" => return now(eval).map(Some),
        "nanosecond" => 1,
        "microsecond" => 1_000,
        "millisecond" => 1_000_000,
        "second" => 1_000_000_000,
        "minute" => 60_000_000_000,
        "hour" => 3_600_000_000_000,
        _ => return Ok(None),
    })))
}

/// The moment of the evaluation: one moment, however long the evaluation takes. The configuration may
/// fix it (`fixed_time`) and give it a zone (`timezone`).
fn now(eval: &mut Evaluator<'_>) -> Result<Value, Error> {
    let moment = match &eval.now {
        // a copy: what a policy changes in it does not change the moment
        Some(now) => return ops::duplicate(now, &eval.meter),
        None => match eval.bindings.setting("time", "fixed_time") {
            Some(Data::Int(seconds)) => from_seconds(*seconds),
            Some(Data::Str(text)) => parse(&text.to_text()),
            Some(_) => None,
            None => Moment::new(eval.host.now(), 0),
        },
    };
    let mut moment =
        moment.ok_or_else(|| Error::runtime("the configured time of `time.now` is not a time"))?;
    if let Some(zone) = eval.bindings.setting("time", "timezone") {
        let name = zone.as_str().unwrap_or_default();
        let zone = TimeZone::get(name)
            .map_err(|_| Error::runtime(format!("the configured timezone `{name}` of `time` is unknown")))?;
        let nanoseconds =
            moment.nanoseconds.clamp(Timestamp::MIN.as_nanosecond(), Timestamp::MAX.as_nanosecond());
        let instant = Timestamp::from_nanosecond(nanoseconds).unwrap_or_default();
        let offset = zone.to_offset(instant).seconds();
        moment = Moment::new(moment.nanoseconds, offset)
            .ok_or_else(|| Error::runtime("the configured time of `time.now` is out of range"))?;
    }
    let value = moment.object();
    eval.now = Some(ops::duplicate(&value, &eval.meter)?);
    Ok(value)
}

/// A moment and the zone it is seen in. Its year there has at most four digits.
///
/// jiff's own instants end some hours before the year 9999 does, so that every zone can show them; yet
/// `9999-12-31T23:59:59Z` is what many a service says for "never".
struct Moment {
    /// Nanoseconds since the start of 1970 in UTC.
    nanoseconds: i128,
    /// Seconds that the zone is ahead of UTC.
    offset: i32,
    civil: DateTime,
}

const NANOSECONDS: i128 = 1_000_000_000;

impl Moment {
    /// `None` when the year is out of range.
    fn new(nanoseconds: i128, offset: i32) -> Option<Moment> {
        let local = nanoseconds.checked_add(i128::from(offset) * NANOSECONDS)?;
        let since = SignedDuration::try_from_nanos_i128(local)?;
        let civil = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(since).ok()?;
        Some(Moment { nanoseconds, offset, civil })
    }

    fn object(&self) -> Value {
        let civil = self.civil;
        let weekday = civil.weekday().to_sunday_zero_offset();
        let sign = if self.offset < 0 { '-' } else { '+' };
        let zone_string = format!("{sign}{:02}:{:02}", self.offset.abs() / 3600, self.offset.abs() / 60 % 60);
        let int = |value: i64| Data::Int(value);
        let unix = self.nanoseconds.div_euclid(NANOSECONDS);
        let entries = [
            ("day", int(civil.day().into())),
            ("hour", int(civil.hour().into())),
            ("minute", int(civil.minute().into())),
            ("month", int(civil.month().into())),
            ("month_name", MONTHS[civil.month() as usize - 1].into()),
            ("second", int(civil.second().into())),
            ("unix", int(unix as i64)),
            ("unix_nano", i64::try_from(self.nanoseconds).map_or(Data::Float(self.nanoseconds as f64), int)),
            ("weekday", int(weekday.into())),
            ("weekday_name", WEEKDAYS[weekday as usize].into()),
            ("year", int(civil.year().into())),
            ("zone", int(self.offset.into())),
            ("zone_string", zone_string.into()),
        ];
        let entries = entries.into_iter().map(|(name, data)| (Key::from(name), data)).collect();
        Value::Map(Map::object(DataMap::new(entries), Receiver::Timespace))
    }

    /// The moment of a timespace, which a policy may have changed.
    fn of_object(map: &Map) -> Option<Moment> {
        let nanoseconds = match map.get_name(b"unix_nano") {
            Some(Value::Int(nanoseconds)) => i128::from(nanoseconds),
            // beyond the integers: a float is exact to some microseconds only, the seconds are exact
            Some(Value::Float(nanoseconds)) => match map.get_name(b"unix") {
                Some(Value::Int(unix)) => {
                    let (exact, rounded) = (i128::from(unix) * NANOSECONDS, nanoseconds as i128);
                    let rest = rounded.saturating_sub(exact);
                    let same = rest.unsigned_abs() <= 2 * NANOSECONDS.unsigned_abs();
                    if same { exact + rest.clamp(0, NANOSECONDS - 1) } else { rounded }
                }
                _ => nanoseconds as i128,
            },
            _ => return None,
        };
        let offset = match map.get_name(b"zone") {
            Some(Value::Int(zone)) => i32::try_from(zone).ok().filter(|zone| zone.abs() < MAX_OFFSET)?,
            _ => 0,
        };
        Moment::new(nanoseconds, offset)
    }
}

/// Seconds that a zone is less away from UTC than.
const MAX_OFFSET: i32 = 26 * 3600;

fn from_seconds(seconds: i64) -> Option<Moment> {
    Moment::new(i128::from(seconds) * NANOSECONDS, 0)
}

/// RFC 3339, with `Z` or an offset.
fn parse(text: &str) -> Option<Moment> {
    let (local, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(local) => (local, 0),
        None => {
            let (local, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
            (local, offset(zone.as_bytes())?)
        }
    };
    let date_and_time = local.len() >= 19 && has_form(&local.as_bytes()[..19], b"0000-00-00T00:00:00");
    let fraction = local.as_bytes().get(19..)?;
    let digits = matches!(fraction, [b'.', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    if !date_and_time || !(fraction.is_empty() || digits) {
        return None;
    }
    let civil: DateTime = local.parse().ok()?;
    let since = civil.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    Moment::new(since.as_nanos() - i128::from(offset) * NANOSECONDS, offset)
}

/// The seconds of an offset like `-08:00`.
fn offset(zone: &[u8]) -> Option<i32> {
    let &[sign, h1, h2, b':', m1, m2] = zone else { return None };
    let number = |tens: u8, ones: u8| {
        (tens.is_ascii_digit() && ones.is_ascii_digit())
            .then(|| i32::from(tens - b'0') * 10 + i32::from(ones - b'0'))
    };
    let (hours, minutes) = (number(h1, h2)?, number(m1, m2)?);
    let seconds = hours * 3600 + minutes * 60;
    match sign {
        _ if hours > 23 || minutes > 59 => None,
        b'-' => Some(-seconds),
        b'+' => Some(seconds),
        _ => None,
    }
}

/// Whether a text has a form, in which `0` stands for any digit and a letter for itself in either case.
fn has_form(text: &[u8], form: &[u8]) -> bool {
    text.len() == form.len()
        && text.iter().zip(form).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte.eq_ignore_ascii_case(form),
        })
}

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    let [value] = call.exactly()?;
    if value.is_undefined() {
        return Ok(value);
    }
    Ok(moment(&call, &value)?.object())
}

/// A moment from seconds, text, or a timespace.
fn moment(call: &Call<'_, '_>, value: &Value) -> Result<Moment, Error> {
    if let Value::Str(text) = value {
        call.eval.meter.read(text.len())?;
    }
    let found = match value {
        Value::Int(seconds) => from_seconds(*seconds),
        Value::Float(seconds) if seconds.is_finite() => Moment::new((seconds * 1e9) as i128, 0),
        Value::Float(_) => None,
        Value::Str(text) => parse(&text.to_text()),
        Value::Map(map) => Moment::of_object(map),
        other => return Err(call.wanted("seconds, an RFC 3339 time or a timespace", other)),
    };
    found.ok_or_else(|| {
        call.error(format!("was given {}, which is not a time", crate::value::show::excerpt(value)))
            .note("a time is a number of seconds since 1970 or text like 2006-01-02T15:04:05Z")
    })
}

pub(super) fn method(call: Call<'_, '_>, map: &Map) -> Result<Value, Error> {
    let [other] = call.exactly()?;
    if other.is_undefined() {
        return Ok(other);
    }
    let this = moment(&call, &Value::Map(map.clone()))?;
    if call.function == "add" {
        let nanoseconds = match other {
            Value::Int(nanoseconds) => nanoseconds,
            // a float is cut off (release note of 0.14.4)
            Value::Float(nanoseconds) => nanoseconds as i64,
            other => return Err(call.wanted("a number of nanoseconds", &other)),
        };
        let sum = Moment::new(this.nanoseconds + i128::from(nanoseconds), this.offset)
            .ok_or_else(|| call.error("comes to a time that is out of range"))?;
        return Ok(sum.object());
    }
    let other = moment(&call, &other)?;
    let difference = this.nanoseconds - other.nanoseconds;
    Ok(match call.function {
        "before" => Value::Bool(difference < 0),
        "after" => Value::Bool(difference > 0),
        "equal" => Value::Bool(difference == 0),
        _ => match i64::try_from(difference) {
            Ok(nanoseconds) => Value::Int(nanoseconds),
            Err(_) => return Err(call.error("comes to a duration that is out of range")),
        },
    })
}
