//! Tokens to a tree, by recursive descent along the grammar of docs/model-file.md.
//!
//! ```text
//! expr   := both { "or" both }                 both   := cmp { "and" cmp }
//! cmp    := "not" cmp | sum [ compare sum ]    sum    := term { ("+" | "-") term }
//! term   := factor { ("*" | "/" | "%") factor }
//! factor := "-" factor | atom [ "^" factor ]
//! atom   := ( quantity | path | path "(" list ")" | "(" expr ")" | "[" list "]" ) { "." component }
//! ```

use super::ast::{Additive, ExprKind, ExprNode, Multiplicative, Relation, TextRange};
use super::lex::{Lexeme, Token, is_name, lex};
use super::{ExprError, MAX_DEPTH, MAX_LENGTH, RESERVED};
use crate::dimension::Dimension;
use crate::suggest::suggest;
use crate::units::{UNITS, unit_named};

/// Largest power of a unit, either sign.
const MAX_UNIT_POWER: f64 = 12.0;

pub(crate) fn parse(text: &str) -> Result<ExprNode, ExprError> {
    let mut parser = ExprParser::new(text)?;
    let root = parser.expr()?;
    parser.end()?;
    Ok(root)
}

/// Name and argument names of `bump(x, w)`.
pub(crate) fn signature(text: &str) -> Result<(String, Vec<String>), ExprError> {
    let mut parser = ExprParser::new(text)?;
    let shape = "write it as `name(x, y)`";
    let name = parser.plain_name(shape)?;
    if super::builtin(&name).is_some() {
        let message = format!("`{name}` is a built-in function");
        return Err(ExprError { message, hint: Some("choose another name".into()), at: 0..text.len() });
    }
    if parser.peek().token != Token::Open {
        return Err(parser.unexpected("`(`", Some(shape.into())));
    }
    let mut arguments: Vec<String> = Vec::new();
    loop {
        parser.next();
        let at = parser.peek().at;
        let argument = parser.plain_name(shape)?;
        if arguments.contains(&argument) {
            return Err(fail(at, format!("argument `{argument}` stands twice"), None));
        }
        arguments.push(argument);
        match parser.peek().token {
            Token::Comma => {}
            Token::Close => break,
            _ => return Err(parser.unexpected("`,` or `)`", Some(shape.into()))),
        }
    }
    parser.next();
    parser.end()?;
    Ok((name, arguments))
}

struct ExprParser<'a> {
    text: &'a str,
    lexemes: Vec<Lexeme>,
    next: usize,
    depth: usize,
}

impl<'a> ExprParser<'a> {
    fn new(text: &'a str) -> Result<Self, ExprError> {
        if text.len() > MAX_LENGTH {
            let message = format!("the expression is longer than {MAX_LENGTH} bytes");
            return Err(ExprError { message, hint: None, at: 0..0 });
        }
        Ok(ExprParser { text, lexemes: lex(text)?, next: 0, depth: 0 })
    }

    fn peek(&self) -> Lexeme {
        self.ahead(0)
    }

    fn ahead(&self, n: usize) -> Lexeme {
        // the list ends with `End`, which is never passed
        self.lexemes[(self.next + n).min(self.lexemes.len() - 1)]
    }

    fn next(&mut self) -> Lexeme {
        let lexeme = self.peek();
        self.next += 1;
        lexeme
    }

    fn accept(&mut self, token: Token) -> Option<TextRange> {
        (self.peek().token == token).then(|| self.next().at)
    }

    fn word(&self, at: TextRange) -> &'a str {
        at.of(self.text)
    }

    fn end(&mut self) -> Result<(), ExprError> {
        match self.peek().token {
            Token::End => Ok(()),
            Token::Close => Err(fail(self.peek().at, "`)` closes nothing".into(), None)),
            Token::CloseList => Err(fail(self.peek().at, "`]` closes nothing".into(), None)),
            _ => Err(self.unexpected("an operator", None)),
        }
    }

    /// The error that something else was expected at the next token.
    fn unexpected(&self, wanted: &str, hint: Option<String>) -> ExprError {
        let found = self.peek();
        let message = match found.token {
            Token::End => format!("{wanted} is missing at the end"),
            _ => format!("expected {wanted}, found `{}`", self.word(found.at).escape_debug()),
        };
        fail(found.at, message, hint)
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, ExprError>) -> Result<T, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the expression is nested more than {MAX_DEPTH} deep");
            let hint = Some("give parts of it a name in [parameters] or [functions]".into());
            return Err(fail(self.peek().at, message, hint));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn plain_name(&mut self, hint: &str) -> Result<String, ExprError> {
        let at = self.peek().at;
        let name = self.word(at);
        let reserved = RESERVED.contains(&name) && name != "t";
        if !is_name(name) || reserved {
            return Err(self.unexpected(if reserved { "another name" } else { "a name" }, Some(hint.into())));
        }
        self.next();
        Ok(name.to_owned())
    }

    fn expr(&mut self) -> Result<ExprNode, ExprError> {
        let first = self.both()?;
        if self.peek().token != Token::Or {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.accept(Token::Or).is_some() {
            list.push(self.both()?);
        }
        Ok(joined(list, ExprKind::Or))
    }

    fn both(&mut self) -> Result<ExprNode, ExprError> {
        let first = self.comparison()?;
        if self.peek().token != Token::And {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.accept(Token::And).is_some() {
            list.push(self.comparison()?);
        }
        Ok(joined(list, ExprKind::And))
    }

    fn comparison(&mut self) -> Result<ExprNode, ExprError> {
        if let Some(at) = self.accept(Token::Not) {
            let inner = self.nested(Self::comparison)?;
            return Ok(ExprNode { at: at.to(inner.at), kind: ExprKind::Not(Box::new(inner)) });
        }
        let left = self.sum()?;
        let Some(op) = self.compare_operator() else { return Ok(left) };
        let right = self.sum()?;
        let at = left.at.to(right.at);
        if self.compare_operator().is_some() {
            let middle = self.word(right.at);
            let hint = if at.range().len() > 40 {
                "join two comparisons with `and`".into()
            } else {
                format!("write `{} and {middle} …`", self.word(at))
            };
            let message = "comparisons do not chain".into();
            return Err(fail(at, message, Some(hint)));
        }
        Ok(ExprNode { at, kind: ExprKind::Compare(op, Box::new(left), Box::new(right)) })
    }

    fn compare_operator(&mut self) -> Option<Relation> {
        let op = match self.peek().token {
            Token::Less => Relation::Less,
            Token::LessEqual => Relation::LessEqual,
            Token::Greater => Relation::Greater,
            Token::GreaterEqual => Relation::GreaterEqual,
            Token::Equal => Relation::Equal,
            Token::NotEqual => Relation::NotEqual,
            _ => return None,
        };
        self.next();
        Some(op)
    }

    fn sum(&mut self) -> Result<ExprNode, ExprError> {
        let first = self.term()?;
        if !matches!(self.peek().token, Token::Plus | Token::Minus) {
            return Ok(first);
        }
        let start = first.at;
        let mut terms = vec![(Additive::Add, first)];
        loop {
            let op = match self.peek().token {
                Token::Plus => Additive::Add,
                Token::Minus => Additive::Subtract,
                _ => break,
            };
            self.next();
            terms.push((op, self.term()?));
        }
        let end = terms.last().map_or(start, |(_, n)| n.at);
        Ok(ExprNode { at: start.to(end), kind: ExprKind::Sum(terms) })
    }

    fn term(&mut self) -> Result<ExprNode, ExprError> {
        let first = self.factor()?;
        if !matches!(self.peek().token, Token::Star | Token::Slash | Token::Percent) {
            return Ok(first);
        }
        let start = first.at;
        let mut factors = vec![(Multiplicative::Times, first)];
        loop {
            let op = match self.peek().token {
                Token::Star => Multiplicative::Times,
                Token::Slash => Multiplicative::Over,
                Token::Percent => Multiplicative::Modulo,
                _ => break,
            };
            self.next();
            let (before, first_of_right) = (self.next, self.peek());
            let right = self.factor()?;
            if op == Multiplicative::Over && self.has_unit(before) {
                return Err(self.unit_below_the_line(&factors, first_of_right, right.at));
            }
            factors.push((op, right));
        }
        let end = factors.last().map_or(start, |(_, n)| n.at);
        Ok(ExprNode { at: start.to(end), kind: ExprKind::Product(factors) })
    }

    /// Returns whether a number with a unit begins at this lexeme, a sign aside.
    fn has_unit(&self, mut first: usize) -> bool {
        while self.lexemes.get(first).is_some_and(|l| l.token == Token::Minus) {
            first += 1;
        }
        let is = |i: usize, wanted: fn(Token) -> bool| self.lexemes.get(i).is_some_and(|l| wanted(l.token));
        is(first, |t| matches!(t, Token::Number(_))) && is(first + 1, |t| t == Token::Path)
    }

    /// `1/2 mm`: half a millimetre to some, one over two millimetres by the grammar.
    fn unit_below_the_line(
        &self,
        above: &[(Multiplicative, ExprNode)],
        number: Lexeme,
        at: TextRange,
    ) -> ExprError {
        let quantity = self.word(at);
        let hint = match (above, number.token) {
            (
                [(_, ExprNode { kind: ExprKind::Number { value, guards, .. }, at: above })],
                Token::Number(below),
            ) if guards.is_empty() && self.word(*above).parse::<f64>().is_ok() => {
                let unit = quantity[self.word(number.at).len()..].trim();
                format!("write `{} {unit}` or `{}/({quantity})`", value / below, self.word(*above))
            }
            _ => format!("write `/({quantity})`"),
        };
        fail(at, "a number with a unit may not stand behind `/` without brackets".into(), Some(hint))
    }

    fn factor(&mut self) -> Result<ExprNode, ExprError> {
        if let Some(at) = self.accept(Token::Minus) {
            let inner = self.nested(Self::factor)?;
            return Ok(ExprNode { at: at.to(inner.at), kind: ExprKind::Negative(Box::new(inner)) });
        }
        let base = self.atom()?;
        if self.accept(Token::Caret).is_none() {
            return Ok(base);
        }
        let before = self.next;
        let exponent = self.nested(Self::factor)?;
        if self.has_unit(before) {
            let hint = format!("write `({}^…)*1 unit`", self.word(base.at));
            return Err(fail(exponent.at, "an exponent has no unit".into(), Some(hint)));
        }
        let at = base.at.to(exponent.at);
        Ok(ExprNode { at, kind: ExprKind::Power(Box::new(base), Box::new(exponent)) })
    }

    fn atom(&mut self) -> Result<ExprNode, ExprError> {
        let first = self.peek();
        let mut node = match first.token {
            Token::Number(value) => {
                self.next();
                self.quantity(value, first.at)?
            }
            Token::Path => {
                self.next();
                if self.peek().token == Token::Open {
                    let (arguments, end) = self.list(Token::Close, "`)`")?;
                    let kind = ExprKind::Call { name: first.at, arguments };
                    ExprNode { at: first.at.to(end), kind }
                } else {
                    ExprNode { at: first.at, kind: ExprKind::Name }
                }
            }
            Token::Open => {
                self.next();
                let inner = self.nested(Self::expr)?;
                if self.accept(Token::Close).is_none() {
                    return Err(self.unexpected("`)`", None));
                }
                inner
            }
            Token::OpenList => {
                let (list, end) = self.list(Token::CloseList, "`]`")?;
                let at = first.at.to(end);
                if !(2..=3).contains(&list.len()) {
                    let message = format!("a vector has 2 or 3 components, this one {}", list.len());
                    return Err(fail(at, message, None));
                }
                ExprNode { at, kind: ExprKind::Vector(list) }
            }
            Token::Not => {
                let hint = Some("put brackets around `not …`".into());
                return Err(self.unexpected("a value", hint));
            }
            Token::Plus => return Err(self.unexpected("a value", Some("leave out the sign `+`".into()))),
            _ => return Err(self.unexpected("a value", None)),
        };
        while self.peek().token == Token::Dot {
            self.next();
            let at = self.peek().at;
            let component = match self.word(at) {
                "x" => 0,
                "y" => 1,
                "z" => 2,
                _ => return Err(self.unexpected("`x`, `y` or `z`", None)),
            };
            self.next();
            node = ExprNode { at: node.at.to(at), kind: ExprKind::Component(Box::new(node), component) };
        }
        Ok(node)
    }

    /// Expressions between brackets, the opening one included.
    fn list(&mut self, close: Token, name: &str) -> Result<(Vec<ExprNode>, TextRange), ExprError> {
        self.next();
        let mut list = Vec::new();
        if let Some(end) = self.accept(close) {
            return Ok((list, end));
        }
        loop {
            list.push(self.nested(Self::expr)?);
            if let Some(end) = self.accept(close) {
                return Ok((list, end));
            }
            if self.accept(Token::Comma).is_none() {
                return Err(self.unexpected(&format!("`,` or {name}"), None));
            }
        }
    }

    /// The unit behind a number, if any.
    fn quantity(&mut self, number: f64, at: TextRange) -> Result<ExprNode, ExprError> {
        if self.peek().token != Token::Path {
            return Ok(ExprNode {
                at,
                kind: ExprKind::Number { value: number, guards: Vec::new(), dimension: None },
            });
        }

        // the first unit
        let (mut above, mut below) = (number, 1.0);
        let mut guards = Vec::new();
        let (mut end, mut dimension) = self.unit(&mut above, &mut below)?;

        // more of them, where the word behind the operator is a unit and no call
        loop {
            let (operator, word) = (self.peek().token, self.ahead(1));
            let follows = matches!(operator, Token::Star | Token::Slash)
                && word.token == Token::Path
                && unit_named(self.word(word.at)).is_some()
                && self.ahead(2).token != Token::Open;
            if !follows {
                break;
            }
            self.next();
            guards.push(word.at);
            let own;
            (end, own) = match operator {
                Token::Slash => self.unit(&mut below, &mut above)?,
                _ => self.unit(&mut above, &mut below)?,
            };
            dimension = if operator == Token::Slash { dimension.over(own) } else { dimension.times(own) };
        }
        let (at, value) = (at.to(end), above / below);
        if !value.is_finite() {
            return Err(fail(at, "the number is too large".into(), None));
        }
        Ok(ExprNode { at, kind: ExprKind::Number { value, guards, dimension: Some(dimension) } })
    }

    /// One unit with its power, multiplied into a quotient: where it ends, and its dimension.
    fn unit(&mut self, above: &mut f64, below: &mut f64) -> Result<(TextRange, Dimension), ExprError> {
        let word = self.next();
        let name = self.word(word.at);
        let Some(unit) = unit_named(name) else {
            let hint = match suggest(name, UNITS.iter().map(|u| u.name)) {
                Some(near) => format!("did you mean `{near}`? To multiply, write `*{name}`"),
                None => format!("to multiply, write `*{name}`"),
            };
            return Err(fail(word.at, format!("`{name}` is not a unit"), Some(hint)));
        };
        if self.peek().token == Token::Open {
            let message = format!("an operator is missing before `{name}`");
            return Err(fail(word.at, message, None));
        }
        let mut end = word.at;
        let mut power = 1.0;
        if self.accept(Token::Caret).is_some() {
            let sign = if self.accept(Token::Minus).is_some() { -1.0 } else { 1.0 };
            let exponent = self.next();
            end = exponent.at;
            let whole = self.word(end).bytes().all(|b| b.is_ascii_digit());
            match exponent.token {
                Token::Number(n) if whole && n <= MAX_UNIT_POWER => power = sign * n,
                _ => {
                    let hint = "to raise a number with its unit to a power, put brackets around it";
                    return Err(fail(
                        word.at.to(end),
                        format!("the power of a unit is an integer up to {MAX_UNIT_POWER}"),
                        Some(hint.into()),
                    ));
                }
            }
        }
        let (top, bottom) =
            (unit.numerator.powi(power.abs() as i32), unit.denominator.powi(power.abs() as i32));
        let (top, bottom) = if power < 0.0 { (bottom, top) } else { (top, bottom) };
        *above *= top;
        *below *= bottom;
        // the power is at most MAX_UNIT_POWER
        Ok((end, unit.dimension.power(power).unwrap_or_default()))
    }
}

fn joined(list: Vec<ExprNode>, kind: fn(Vec<ExprNode>) -> ExprKind) -> ExprNode {
    let at = match (list.first(), list.last()) {
        (Some(first), Some(last)) => first.at.to(last.at),
        _ => TextRange { start: 0, end: 0 },
    };
    ExprNode { at, kind: kind(list) }
}

pub(crate) fn fail(at: TextRange, message: String, hint: Option<String>) -> ExprError {
    ExprError { message, hint, at: at.range() }
}
