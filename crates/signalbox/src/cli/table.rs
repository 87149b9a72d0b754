//! Columns that stand under each other.

use std::borrow::Cow;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::paint::{self, Paint};

/// A cell: its text, and how it looks.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// Rows of cells under headings. The text of a cell is one line and safe to show.
pub(crate) struct Table<const N: usize> {
    headings: [&'static str; N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) const fn new(headings: [&'static str; N]) -> Self {
        Self { headings, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: [Cell; N]) {
        self.rows.push(cells);
    }

    /// Each line ends with a line break, and none with blanks. Where it would be wider than `limit`, long cells are cut; those
    /// of the first column never, since they are what one copies.
    pub(crate) fn render(&self, limit: Option<usize>, paint: Paint) -> String {
        let mut widths: [usize; N] = std::array::from_fn(|column| {
            let cells = self.rows.iter().map(|row| width(&row[column].text));
            cells.chain([width(self.headings[column])]).max().unwrap_or(0)
        });
        if let Some(limit) = limit {
            let least = self.headings.map(|heading| width(heading).max(LEAST));
            fit(&mut widths, &least, limit);
        }
        let headings = self.headings.map(|heading| Cell::styled(heading, paint::HEADING));
        std::iter::once(&headings).chain(&self.rows).map(|row| line(row, &widths, paint)).collect()
    }
}

fn line<const N: usize>(cells: &[Cell; N], widths: &[usize; N], paint: Paint) -> String {
    let mut line = String::new();
    let mut owed = 0;
    for (Cell { text, style }, full) in cells.iter().zip(widths) {
        let text = &cut(text, *full);
        if !text.is_empty() {
            line.push_str(&" ".repeat(owed));
            line.push_str(&paint.with(*style, text));
            owed = 0;
        }
        owed += full - width(text) + 2;
    }
    line.push('\n');
    line
}

/// No column is made narrower than this.
const LEAST: usize = 6;

/// Makes the widest columns narrower, one after the other, until all fit, or nothing more can be taken away.
fn fit<const N: usize>(widths: &mut [usize; N], least: &[usize; N], limit: usize) {
    let room = limit.saturating_sub(2 * N.saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let widest =
            (1..N).filter(|column| widths[*column] > least[*column]).max_by_key(|column| widths[*column]);
        let Some(widest) = widest else { return };
        widths[widest] -= 1;
    }
}

/// The text, or as much of it as stands in so many columns, with an ellipsis at its end.
fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut taken = 1;
    for char in text.chars() {
        taken += char.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        shown.push(char);
    }
    Cow::Owned(format!("{}…", shown.trim_end()))
}

/// The columns that it takes on a terminal.
fn width(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_and_no_line_ends_with_blanks() {
        let mut table = Table::new(["NAME", "STATE", "MESSAGE"]);
        table.row(["network-prod".into(), "Applied".into(), "größer".into()]);
        table.row(["a".into(), "".into(), "x".into()]);
        table.row(["b".into(), "Needs Confirmation".into(), "".into()]);
        let expected = "\
NAME          STATE               MESSAGE
network-prod  Applied             größer
a                                 x
b             Needs Confirmation
";
        assert_eq!(table.render(None, Paint::new(false)), expected);
    }

    #[test]
    fn a_table_fits_the_terminal_and_its_first_column_stays_whole() {
        let mut table = Table::new(["NAME", "STATE", "MESSAGE"]);
        table.row(["network-prod-of-europe".into(), "Needs Confirmation".into(), "大きな変更をする".into()]);
        table.row(["a".into(), "Applied".into(), "a long message for a narrow terminal".into()]);
        for limit in [40, 50, 60, 80] {
            let shown = table.render(Some(limit), Paint::new(false));
            assert!(shown.lines().all(|line| width(line) <= limit), "{shown}");
            assert!(shown.contains("network-prod-of-europe"), "{shown}");
        }
        let wide = table.render(Some(200), Paint::new(false));
        assert_eq!(wide, table.render(None, Paint::new(false)));
        let narrow = table.render(Some(10), Paint::new(false));
        assert!(narrow.contains("network-prod-of-europe  Needs…  大きな…"), "{narrow}");
    }
}
