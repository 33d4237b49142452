//! Text to tokens. A dotted name is one token; a number knows nothing of its unit yet.

use super::ExprError;
use super::ast::TextRange;
use crate::units::unit_named;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    /// `crank.tip.x`
    Path,
    And,
    Or,
    Not,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    /// Before a component: `mid(P, Q).x`
    Dot,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub at: TextRange,
}

/// Returns whether `text` matches `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(starts_name) && bytes.all(continues_name)
}

fn starts_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn continues_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Tokens of `text`, closed by [`Token::End`]. The text is shorter than 4 GiB.
pub(crate) fn lex(text: &str) -> Result<Vec<Lexeme>, ExprError> {
    let bytes = text.as_bytes();
    let mut lexemes = Vec::with_capacity(text.len() / 2 + 2);
    let mut i = 0;
    loop {
        while i < bytes.len() && bytes[i].is_ascii_whitespace() {
            i += 1;
        }
        let start = i;
        let token = match bytes.get(i) {
            None => Token::End,
            Some(b) if b.is_ascii_digit() => number(text, &mut i)?,
            Some(b'.') if bytes.get(i + 1).is_some_and(u8::is_ascii_digit) => number(text, &mut i)?,
            Some(b) if starts_name(*b) => path(text, &mut i)?,
            Some(_) => symbol(text, &mut i)?,
        };
        let at = TextRange { start: start as u32, end: i as u32 };
        lexemes.push(Lexeme { token, at });
        if token == Token::End {
            return Ok(lexemes);
        }
    }
}

fn path(text: &str, i: &mut usize) -> Result<Token, ExprError> {
    let bytes = text.as_bytes();
    let start = *i;
    loop {
        while *i < bytes.len() && continues_name(bytes[*i]) {
            *i += 1;
        }
        if bytes.get(*i) != Some(&b'.') {
            break;
        }
        if !bytes.get(*i + 1).is_some_and(|b| starts_name(*b)) {
            return Err(error("a name must follow the dot", None, *i..*i + 1));
        }
        *i += 1;
    }
    Ok(match &text[start..*i] {
        "and" => Token::And,
        "or" => Token::Or,
        "not" => Token::Not,
        _ => Token::Path,
    })
}

fn number(text: &str, i: &mut usize) -> Result<Token, ExprError> {
    let bytes = text.as_bytes();
    let start = *i;
    let digits = |i: &mut usize| {
        while bytes.get(*i).is_some_and(u8::is_ascii_digit) {
            *i += 1;
        }
    };
    digits(i);
    if bytes.get(*i) == Some(&b'.') {
        *i += 1;
        digits(i);
    }
    if matches!(bytes.get(*i), Some(b'e' | b'E')) {
        let mut j = *i + 1;
        if matches!(bytes.get(j), Some(b'+' | b'-')) {
            j += 1;
        }
        if bytes.get(j).is_some_and(u8::is_ascii_digit) {
            digits(&mut j);
            *i = j;
        }
    }
    let literal = &text[start..*i];

    // a letter right behind is a forgotten space or a forgotten operator
    if bytes.get(*i).is_some_and(|b| starts_name(*b)) {
        let mut j = *i;
        while j < bytes.len() && continues_name(bytes[j]) {
            j += 1;
        }
        let word = &text[*i..j];
        let (message, hint) = if unit_named(word).is_some() {
            ("a space must stand between a number and its unit", format!("write `{literal} {word}`"))
        } else {
            ("an operator is missing behind the number", format!("write `{literal}*{word}`"))
        };
        return Err(error(message, Some(hint), start..j));
    }

    match literal.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(Token::Number(x)),
        Ok(_) => Err(error("the number is too large", Some("write `inf`".into()), start..*i)),
        Err(_) => Err(error("this is not a number", None, start..*i)),
    }
}

fn symbol(text: &str, i: &mut usize) -> Result<Token, ExprError> {
    let start = *i;
    let rest = &text[start..];
    const SYMBOLS: &[(&str, Token)] = &[
        ("<=", Token::LessEqual),
        (">=", Token::GreaterEqual),
        ("==", Token::Equal),
        ("!=", Token::NotEqual),
        ("<", Token::Less),
        (">", Token::Greater),
        ("+", Token::Plus),
        ("-", Token::Minus),
        ("*", Token::Star),
        ("/", Token::Slash),
        ("%", Token::Percent),
        ("^", Token::Caret),
        ("(", Token::Open),
        (")", Token::Close),
        ("[", Token::OpenList),
        ("]", Token::CloseList),
        (",", Token::Comma),
        (".", Token::Dot),
    ];
    const MISTAKES: &[(&str, &str)] = &[
        ("**", "write `^` for a power"),
        ("&&", "write `and`"),
        ("||", "write `or`"),
        ("!", "write `not`, or `!=`"),
        ("=", "write `==` to compare"),
        ("×", "write `*`"),
        ("·", "write `*`"),
        ("−", "write `-`"),
        ("–", "write `-`"),
        ("÷", "write `/`"),
        ("²", "write `^2`"),
        ("³", "write `^3`"),
        ("°", "write ` deg`"),
        ("π", "write `pi`"),
        ("≤", "write `<=`"),
        ("≥", "write `>=`"),
        ("{", "`{…}` stands in names only"),
        (";", "write `,` between arguments"),
    ];
    let known = SYMBOLS.iter().find(|(s, _)| rest.starts_with(s));
    let mistake = MISTAKES.iter().find(|(s, _)| rest.starts_with(s));
    if let (Some((s, token)), true) =
        (known, mistake.is_none_or(|(m, _)| known.is_some_and(|(s, _)| s.len() >= m.len())))
    {
        *i += s.len();
        return Ok(*token);
    }
    let found = match (mistake, rest.chars().next()) {
        (Some((m, _)), _) => (*m).to_owned(),
        (None, Some(c)) => c.to_string(),
        (None, None) => String::new(),
    };
    Err(error(
        &format!("`{}` has no meaning here", found.escape_debug()),
        mistake.map(|(_, hint)| (*hint).to_owned()),
        start..start + found.len(),
    ))
}

fn error(message: &str, hint: Option<String>, at: std::ops::Range<usize>) -> ExprError {
    ExprError { message: message.into(), hint, at }
}
