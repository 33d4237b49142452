//! Colour and width of a terminal.

/// Paints words, or leaves them alone.
#[derive(Debug, Clone, Copy)]
pub struct Painter(bool);

impl Painter {
    /// Leaves all words alone.
    pub const PLAIN: Painter = Painter(false);

    fn code(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Bold.
    pub fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    /// Bad.
    pub fn red(self, text: &str) -> String {
        self.code("1;31", text)
    }

    /// Good.
    pub fn green(self, text: &str) -> String {
        self.code("32", text)
    }

    /// Doubtful.
    pub fn yellow(self, text: &str) -> String {
        self.code("33", text)
    }

    /// Helpful.
    pub fn blue(self, text: &str) -> String {
        self.code("36", text)
    }
}

/// Colours on a terminal, unless `NO_COLOR` is set to something or the terminal is dumb.
pub fn paint_for(terminal: bool) -> Painter {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    Painter(terminal && !refused && !dumb)
}

/// Characters in a line: of the terminal, else 100.
pub fn width_of(terminal: bool) -> usize {
    let size = if terminal { terminal_size::terminal_size_of(std::io::stderr()) } else { None };
    size.map_or(100, |(terminal_size::Width(w), _)| usize::from(w).clamp(40, 120))
}
