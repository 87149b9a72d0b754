//! A parser of event streams (the HTML standard's "server-sent events"), fed with whatever pieces the network
//! gives. It holds the line and the event that are not complete yet, and nothing else.
//!
//! Written here because the crate for it (`eventsource-stream`) puts no bound on an event and reads the whole buffer
//! again with each piece of it. One thing is read more leniently than the standard says: an event with a name is
//! given even if it has no data, since servers write "the end" that way.

/// The largest event that is read, in bytes.
pub const LIMIT: usize = 8 * 1024 * 1024;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The type; empty if it has none.
    pub name: String,
    /// The data, its lines joined by line breaks.
    pub data: String,
    /// The last id that the stream gave, with this event or before it.
    pub id: Option<String>,
}

/// The stream has an event that is larger than [`LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {LIMIT} bytes")]
pub struct TooLarge;

/// See the module.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed now belongs to it.
    after_return: bool,
    /// A line was read: a byte order mark can't come any more.
    begun: bool,
    name: String,
    data: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
}

impl Parser {
    /// A parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a piece of the stream, and gives the events that are complete with it.
    ///
    /// # Errors
    /// [`TooLarge`]; the stream can't be read any further then.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.line.extend_from_slice(part);
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > LIMIT {
                return Err(TooLarge);
            }
            if let Some((ending, rest)) = rest.split_first() {
                self.after_return = *ending == b'\r';
                events.extend(self.end_line());
                bytes = rest;
            } else {
                bytes = rest;
            }
        }
        Ok(events)
    }

    /// How long the server wants clients to wait before they connect again, in milliseconds.
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = &*bytes;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"event" => self.name = value.into_owned(),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(&value);
                }
                None => self.data = Some(value.into_owned()),
            },
            b"id" if !value.contains('\0') => self.id = Some(value.into_owned()),
            b"retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry)
            }
            // a comment, or a field of a later version
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take();
        if data.is_none() && name.is_empty() {
            return None;
        }
        Some(Event { name, data: data.unwrap_or_default(), id: self.id.clone() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(stream: &[u8]) -> Vec<Event> {
        Parser::new().feed(stream).unwrap()
    }

    fn event(name: &str, data: &str, id: Option<&str>) -> Event {
        Event { name: name.into(), data: data.into(), id: id.map(str::to_owned) }
    }

    #[test]
    fn fields_are_read_as_the_standard_says() {
        let table: &[(&str, &[Event])] = &[
            ("data: a\n\n", &[event("", "a", None)]),
            ("data:a\ndata\ndata:  b\n\n", &[event("", "a\n\n b", None)]),
            ("event: log\nid: 7\ndata: x\n\n", &[event("log", "x", Some("7"))]),
            ("id: 7\n\ndata: x\n\ndata: y\n\n", &[event("", "x", Some("7")), event("", "y", Some("7"))]),
            ("id: 7\ndata: x\n\nid\ndata: y\n\n", &[event("", "x", Some("7")), event("", "y", Some(""))]),
            ("id: a\0b\ndata: x\n\n", &[event("", "x", None)]),
            (": keep-alive\n\n", &[]),
            ("\u{feff}data: a\n\n", &[event("", "a", None)]),
            ("event: end\n\n", &[event("end", "", None)]),
            ("event: end\ndata\n\n", &[event("end", "", None)]),
            ("unknown: a\nevent: x\ndata: y\n\n", &[event("x", "y", None)]),
            // an event that the stream breaks off in is none
            ("data: a\n\ndata: b\n", &[event("", "a", None)]),
            ("event: log\n\ndata: a\n\n", &[event("log", "", None), event("", "a", None)]),
        ];
        for (stream, events) in table {
            assert_eq!(&parsed(stream.as_bytes()), events, "{stream:?}");
        }
    }

    #[test]
    fn every_kind_of_line_break_ends_a_line() {
        for line_break in ["\n", "\r\n", "\r"] {
            let stream = "event: log\ndata: a\ndata: b\n\ndata: c\n\n".replace('\n', line_break);
            assert_eq!(parsed(stream.as_bytes()), [event("log", "a\nb", None), event("", "c", None)]);
        }
    }

    #[test]
    fn the_servers_wish_for_a_pause_is_kept() {
        let mut parser = Parser::new();
        parser.feed(b"retry: 1500\n\nretry: soon\n\n").unwrap();
        assert_eq!(parser.retry(), Some(1500));
    }

    #[test]
    fn an_event_without_end_does_not_fill_the_memory() {
        let mut parser = Parser::new();
        let line = [b"data: ".as_slice(), &vec![b'x'; 64 * 1024], b"\n"].concat();
        let refused = (0..=LIMIT / line.len() + 1).any(|_| parser.feed(&line) == Err(TooLarge));
        assert!(refused);
    }

    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            "(data|event|id|retry)(: ?[a-z\u{e4}\u{1F600}0-9:]{0,6})?",
            ": ?[a-z]{0,4}",
            Just(String::new()),
        ];
        let ending = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
        proptest::collection::vec((line, ending), 0..24).prop_map(|lines| {
            lines.into_iter().flat_map(|(line, ending)| (line + ending).into_bytes()).collect()
        })
    }

    proptest! {
        #[test]
        fn where_the_network_cuts_the_stream_makes_no_difference(
            stream in streams(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.push(stream.len());
            cuts.sort_unstable();
            let mut parser = Parser::new();
            let mut events = Vec::new();
            let mut start = 0;
            for cut in cuts {
                events.extend(parser.feed(&stream[start..cut]).unwrap());
                start = cut;
            }
            prop_assert_eq!(events, parsed(&stream));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = Parser::new().feed(&bytes);
        }
    }
}
