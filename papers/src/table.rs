//! Small tables of text.

use serde::Serialize;

/// A table with a heading for each column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Headings.
    pub columns: Vec<String>,
    /// Rows, as wide as the headings.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(title: &str, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|c| c.to_string()).collect();
        Table { title: title.into(), columns, rows: Vec::new() }
    }

    /// As Markdown, with its title as a heading.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|").replace('\n', " ")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("## {}\n\n{}", self.title, line(&self.columns));
        text += &format!("|{}\n", "---|".repeat(self.columns.len()));
        for row in &self.rows {
            text += &line(row);
        }
        text + "\n"
    }
}
