//! Columns that stand under each other.

use anstyle::Style;

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

    /// Each line ends with a line break, and none with blanks.
    pub(crate) fn render(&self, paint: Paint) -> String {
        let widths: [usize; N] = std::array::from_fn(|column| {
            let cells = self.rows.iter().map(|row| width(&row[column].text));
            cells.chain([width(self.headings[column])]).max().unwrap_or(0)
        });
        let headings = self.headings.map(|heading| Cell::styled(heading, paint::HEADING));
        std::iter::once(&headings).chain(&self.rows).map(|row| line(row, &widths, paint)).collect()
    }
}

fn line<const N: usize>(cells: &[Cell; N], widths: &[usize; N], paint: Paint) -> String {
    let mut line = String::new();
    let mut owed = 0;
    for (Cell { text, style }, full) in cells.iter().zip(widths) {
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

/// Names, states and times are ASCII; what need not be (a message) stands in the last column.
fn width(text: &str) -> usize {
    text.chars().count()
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
        assert_eq!(table.render(Paint::new(false)), expected);
    }
}
