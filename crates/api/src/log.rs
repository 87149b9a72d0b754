//! Logs as clients read them (docs/api.md, "Logs"): STX, the bytes of the file, and ETX once the stage is over.
//!
//! The marks are not in the file. The record says whether the stage is over, and the file is complete
//! before it does: so whoever reads the record first and the file's length then never sees an end mark
//! before the last byte.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use engine::Log;
use futures::{StreamExt as _, stream};

/// The start of a log.
const STX: u8 = 0x02;
/// The end of one that is complete.
const ETX: u8 = 0x03;

/// The largest piece that is given at once when a client names a limit.
pub(crate) const MAX_LIMIT: u64 = 65_536;

/// A log at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Framed {
    /// Bytes in the file.
    file: u64,
    /// Whether the end mark stands behind them.
    over: bool,
}

/// A part of a framed log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    stx: bool,
    file: Range<u64>,
    etx: bool,
}

impl Framed {
    pub(crate) const fn new(file: u64, over: bool) -> Self {
        Self { file, over }
    }

    const fn len(self) -> u64 {
        1 + self.file + self.over as u64
    }

    /// Bytes `[offset, offset + limit)`; marks count. Past the end: nothing.
    pub(crate) fn part(self, offset: u64, limit: Option<u64>) -> Part {
        let start = offset.min(self.len());
        let end = limit.map_or(self.len(), |limit| start.saturating_add(limit)).min(self.len());
        let in_file = |place: u64| place.saturating_sub(1).min(self.file);
        Part {
            stx: start == 0 && end > 0,
            file: in_file(start)..in_file(end),
            etx: self.over && start < end && end == self.len(),
        }
    }
}

impl Part {
    /// That many bytes from the beginning, without marks.
    pub(crate) const fn raw(len: u64) -> Self {
        Self { stx: false, file: 0..len, etx: false }
    }

    pub(crate) const fn len(&self) -> u64 {
        self.stx as u64 + (self.file.end - self.file.start) + self.etx as u64
    }
}

/// A part of the log, at most `limit` bytes from `offset`; fewer only at its end.
pub(crate) async fn read(log: &Arc<Log>, offset: u64, limit: u64) -> io::Result<Bytes> {
    let log = Arc::clone(log);
    let read = tokio::task::spawn_blocking(move || log.read(offset, limit).map(Bytes::from));
    read.await.map_err(io::Error::other)?
}

/// The part as a body. Small ones are read at once; a large one is passed on piece by piece, so that a
/// log of any size takes no memory.
pub(crate) async fn body(log: Option<Log>, part: Part) -> io::Result<Body> {
    let mark = |there: bool, byte: u8| there.then(|| Bytes::copy_from_slice(&[byte]));
    let (stx, etx) = (mark(part.stx, STX), mark(part.etx, ETX));
    let Range { start, end } = part.file;
    let log = log.map(Arc::new);
    let log = match log {
        Some(log) if end - start > MAX_LIMIT => log,
        log => {
            let bytes = match log {
                Some(log) if end > start => read(&log, start, end - start).await?,
                _ => Bytes::new(),
            };
            let whole: Vec<u8> = [stx, Some(bytes), etx].into_iter().flatten().flatten().collect();
            return Ok(whole.into());
        }
    };
    let pieces = stream::try_unfold((log, start), move |(log, offset)| async move {
        if offset >= end {
            return Ok(None);
        }
        let piece = read(&log, offset, (end - offset).min(MAX_LIMIT)).await?;
        if piece.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        let next = offset + piece.len() as u64;
        Ok(Some((piece, (log, next))))
    });
    let marked = |mark: Option<Bytes>| stream::iter(mark.map(Ok));
    Ok(Body::from_stream(marked(stx).chain(pieces).chain(marked(etx))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The framed log in memory: what the parts have to add up to.
    fn whole(file: &[u8], over: bool) -> Vec<u8> {
        let end = over.then_some(ETX);
        [STX].into_iter().chain(file.iter().copied()).chain(end).collect()
    }

    fn bytes(file: &[u8], part: &Part) -> Vec<u8> {
        let range = part.file.start as usize..part.file.end as usize;
        let (stx, etx) = (part.stx.then_some(STX), part.etx.then_some(ETX));
        stx.into_iter().chain(file[range].iter().copied()).chain(etx).collect()
    }

    #[test]
    fn marks_count_and_the_end_mark_comes_only_when_it_is_over() {
        let table = [
            ("", false, 0, Some(10), "\u{2}"),
            ("", true, 0, Some(10), "\u{2}\u{3}"),
            ("", true, 0, Some(1), "\u{2}"),
            ("", true, 1, Some(1), "\u{3}"),
            ("abc", false, 0, None, "\u{2}abc"),
            ("abc", true, 0, None, "\u{2}abc\u{3}"),
            ("abc", true, 1, Some(3), "abc"),
            ("abc", true, 3, Some(1), "c"),
            ("abc", true, 4, Some(9), "\u{3}"),
            ("abc", true, 5, Some(9), ""),
            ("abc", false, 4, Some(9), ""),
            ("abc", true, u64::MAX, Some(u64::MAX), ""),
            ("abc", true, 0, Some(0), ""),
        ];
        for (file, over, offset, limit, expected) in table {
            let part = Framed::new(file.len() as u64, over).part(offset, limit);
            assert_eq!(
                bytes(file.as_bytes(), &part),
                expected.as_bytes(),
                "{file:?} {over} {offset} {limit:?}"
            );
            assert_eq!(part.len(), expected.len() as u64);
        }
    }

    proptest! {
        /// A reader that asks for what comes next, while the file grows and ends, gets every byte once.
        #[test]
        fn no_byte_is_lost_or_doubled_however_the_log_is_cut(
            file in prop::collection::vec(any::<u8>(), 0..200),
            growth in prop::collection::vec(0_usize..60, 1..8),
            limits in prop::collection::vec(1_u64..50, 1..8),
        ) {
            let mut written = 0_usize;
            let mut got = Vec::new();
            let mut limits = limits.iter().cycle();
            for step in growth.iter().copied().chain([usize::MAX]) {
                written = file.len().min(written.saturating_add(step));
                let over = step == usize::MAX;
                let framed = Framed::new(written as u64, over);
                loop {
                    let part = framed.part(got.len() as u64, limits.next().copied());
                    let bytes = bytes(&file, &part);
                    prop_assert_eq!(bytes.len() as u64, part.len());
                    if bytes.is_empty() {
                        break;
                    }
                    got.extend(bytes);
                }
            }
            prop_assert_eq!(got, whole(&file, true));
        }
    }

    async fn collected(body: Body) -> Vec<u8> {
        axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec()
    }

    #[tokio::test]
    async fn a_large_log_is_the_same_in_one_piece_and_in_many() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let file: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(&path, &file).unwrap();
        let open = || Some(Log::from(std::fs::File::open(&path).unwrap()));
        let framed = Framed::new(open().unwrap().len(true).unwrap(), true);
        let expected = whole(&file, true);
        assert_eq!(collected(body(open(), framed.part(0, None)).await.unwrap()).await, expected);
        let mut pieces = Vec::new();
        loop {
            let part = framed.part(pieces.len() as u64, Some(MAX_LIMIT));
            if part.len() == 0 {
                break;
            }
            pieces.extend(collected(body(open(), part).await.unwrap()).await);
        }
        assert!(pieces == expected);
        // what is written meanwhile is not part of what was measured
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(file.len() as u64 + 5).unwrap();
        assert_eq!(collected(body(open(), framed.part(0, None)).await.unwrap()).await.len(), expected.len());
    }

    #[tokio::test]
    async fn a_log_that_was_never_begun_is_two_marks() {
        let body = body(None, Framed::new(0, true).part(0, None)).await.unwrap();
        assert_eq!(collected(body).await, [STX, ETX]);
    }
}
