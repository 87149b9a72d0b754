//! `time`: the moment of the evaluation, and moments given as text or seconds.

use jiff::tz::{Offset, TimeZone};
use jiff::{Span as Duration, Timestamp};

use super::Call;
use crate::error::Error;
use crate::eval::Evaluator;
use crate::value::{Data, DataMap, Key, Map, Receiver, Value};

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
        Some(Value::Map(map)) => return Ok(Value::Map(map.clone())),
        _ => match eval.bindings.setting("time", "fixed_time") {
            Some(Data::Int(seconds)) => from_seconds(*seconds as f64),
            Some(Data::Str(text)) => parse(&text.to_text()),
            Some(_) => None,
            None => {
                let now = Timestamp::from_nanosecond(eval.host.now()).ok();
                now.map(|instant| Moment { instant, offset: Offset::UTC })
            }
        },
    };
    let mut moment = moment.ok_or_else(|| Error::runtime("the configured time of `time.now` is no time"))?;
    if let Some(zone) = eval.bindings.setting("time", "timezone") {
        let name = zone.as_str().unwrap_or_default();
        let zone = TimeZone::get(name)
            .map_err(|_| Error::runtime(format!("the configured timezone `{name}` of `time` is unknown")))?;
        moment.offset = zone.to_offset(moment.instant);
    }
    let value = moment.object();
    eval.now = Some(value.clone());
    Ok(value)
}

struct Moment {
    instant: Timestamp,
    offset: Offset,
}

impl Moment {
    fn object(&self) -> Value {
        let civil = self.offset.to_datetime(self.instant);
        let weekday = civil.weekday().to_sunday_zero_offset();
        let nanoseconds = self.instant.as_nanosecond();
        let zone = self.offset.seconds();
        let sign = if zone < 0 { '-' } else { '+' };
        let zone_string = format!("{sign}{:02}:{:02}", zone.abs() / 3600, zone.abs() / 60 % 60);
        let int = |value: i64| Data::Int(value);
        let entries = [
            ("day", int(civil.day().into())),
            ("hour", int(civil.hour().into())),
            ("minute", int(civil.minute().into())),
            ("month", int(civil.month().into())),
            ("month_name", MONTHS[civil.month() as usize - 1].into()),
            ("second", int(civil.second().into())),
            ("unix", int(self.instant.as_second())),
            ("unix_nano", i64::try_from(nanoseconds).map_or(Data::Float(nanoseconds as f64), Data::Int)),
            ("weekday", int(weekday.into())),
            ("weekday_name", WEEKDAYS[weekday as usize].into()),
            ("year", int(civil.year().into())),
            ("zone", int(zone.into())),
            ("zone_string", zone_string.into()),
        ];
        let entries = entries.into_iter().map(|(name, data)| (Key::from(name), data)).collect();
        Value::Map(Map::object(DataMap::new(entries), Receiver::Timespace))
    }
}

fn from_seconds(seconds: f64) -> Option<Moment> {
    let nanoseconds = (seconds * 1e9) as i128;
    let instant = Timestamp::from_nanosecond(nanoseconds).ok()?;
    Some(Moment { instant, offset: Offset::UTC })
}

/// RFC 3339, with `Z` or an offset.
fn parse(text: &str) -> Option<Moment> {
    let bytes = text.as_bytes();
    let zulu = matches!(bytes.last(), Some(b'Z' | b'z'));
    let offset = if zulu {
        Offset::UTC
    } else {
        let zone = text.get(text.len().checked_sub(6)?..)?;
        let (hours, minutes) = zone.get(1..)?.split_once(':')?;
        let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
        let seconds = match zone.as_bytes()[0] {
            b'-' => -seconds,
            b'+' => seconds,
            _ => return None,
        };
        Offset::from_seconds(seconds).ok()?
    };
    let full_date = bytes.len() >= 20 && bytes[4] == b'-' && matches!(bytes[10], b'T' | b't');
    let instant: Timestamp = text.parse().ok()?;
    full_date.then_some(Moment { instant, offset })
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
    let found = match value {
        Value::Int(seconds) => {
            Timestamp::from_second(*seconds).ok().map(|instant| Moment { instant, offset: Offset::UTC })
        }
        Value::Float(seconds) => from_seconds(*seconds),
        Value::Str(text) => parse(&text.to_text()),
        Value::Map(map) => {
            let instant = match map.get_name(b"unix_nano") {
                Some(Value::Int(nanoseconds)) => Timestamp::from_nanosecond(nanoseconds.into()).ok(),
                Some(Value::Float(nanoseconds)) => Timestamp::from_nanosecond(nanoseconds as i128).ok(),
                _ => None,
            };
            let offset = match map.get_name(b"zone") {
                Some(Value::Int(zone)) => {
                    i32::try_from(zone).ok().and_then(|zone| Offset::from_seconds(zone).ok())
                }
                _ => Some(Offset::UTC),
            };
            instant.zip(offset).map(|(instant, offset)| Moment { instant, offset })
        }
        other => return Err(call.wanted("seconds, an RFC 3339 time or a timespace", other)),
    };
    found.ok_or_else(|| {
        call.error(format!("was given {}, which is no time", crate::value::show::show(value)))
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
        let instant = this
            .instant
            .checked_add(Duration::new().nanoseconds(nanoseconds))
            .map_err(|_| call.error("comes to a time that is out of range"))?;
        return Ok(Moment { instant, offset: this.offset }.object());
    }
    let other = moment(&call, &other)?;
    let difference = this.instant.as_nanosecond() - other.instant.as_nanosecond();
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
