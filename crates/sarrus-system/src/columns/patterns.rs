//! Patterns of names: `*` any letters, `?` one.

/// Bodies and joints whose columns some pattern may fit, by how the patterns begin.
pub(super) struct WantedColumns {
    /// The letters of each before its first and after its last `*` or `?`; none where everything is wanted.
    pub ends: Option<Vec<(String, String)>>,
}

impl WantedColumns {
    pub fn of(patterns: &[String]) -> WantedColumns {
        let adding = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let ends = |pattern: &String| {
            let head = pattern.split(['*', '?']).next().unwrap_or_default();
            let tail = pattern.rsplit(['*', '?']).next().unwrap_or_default();
            (head.to_string(), tail.to_string())
        };
        WantedColumns { ends: Some(adding.map(ends).collect()) }
    }

    /// Returns whether a pattern may fit a name that begins with `name` and a dot.
    pub fn accepts(&self, name: &str) -> bool {
        let Some(ends) = &self.ends else { return true };
        ends.iter().any(|(head, _)| match head.strip_prefix(name) {
            Some(rest) => rest.is_empty() || rest.starts_with('.'),
            None => name.starts_with(head.as_str()),
        })
    }

    /// Returns whether a pattern may fit a name that ends with a dot and `field`.
    pub fn accepts_field(&self, field: &str) -> bool {
        let Some(ends) = &self.ends else { return true };
        let last = field.rsplit('.').next().unwrap_or_default();
        ends.iter().any(|(_, tail)| match tail.rsplit_once('.') {
            Some((_, word)) => word == last,
            None => last.ends_with(tail.as_str()),
        })
    }
}

/// Returns whether `name` fits `pattern`.
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // the place after the last `*`, to go back to
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::{WantedColumns, matches};

    #[test]
    fn elements_that_a_pattern_may_fit_are_wanted() {
        let wanted = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
            let wanted = WantedColumns::of(&patterns);
            move |name: &str| wanted.accepts(name)
        };
        let some = wanted(&["J1.*", "arm.C.x", "li?k.x", "!*"]);
        assert!(some("J1") && some("arm") && some("arm.C") && some("link") && some("lift"));
        assert!(!some("J12") && !some("J") && !some("ar") && !some("arms") && !some("l"));
        assert!(wanted(&["*.x"])("J1") && !wanted(&["!*.x"])("J1") && !wanted(&[])("J1"));
    }

    #[test]
    fn fields_that_a_pattern_may_end_with_are_wanted() {
        let matches_field =
            |pattern: &str, field: &str| WantedColumns::of(&[pattern.to_string()]).accepts_field(field);
        assert!(
            matches_field("*", "ax")
                && matches_field("arm.*", "tip.ax")
                && matches_field("arm.ax", "ax")
                && matches_field("*.a?", "ax")
        );
        assert!(
            matches_field("*x", "ax")
                && matches_field("arm.tip.ax", "tip.ax")
                && matches_field("arm*ax", "ax")
        );
        assert!(
            !matches_field("arm.x", "ax")
                && !matches_field("*.x", "ax")
                && !matches_field("arm.q0", "ax")
                && !matches_field("*.max", "ax")
        );
        assert!(!WantedColumns::of(&["!*".to_string()]).accepts_field("ax"));
    }

    #[test]
    fn patterns_match_like_file_names() {
        let fits = |p: &str, n: &str| matches(p.as_bytes(), n.as_bytes());
        assert!(fits("*", "crank.x") && fits("crank.*", "crank.x") && fits("*.q?", "ball.q2"));
        assert!(fits("*.f*", "A.fx") && fits("a*b*c", "a1b2bc"));
        assert!(!fits("crank.*", "rank.x") && !fits("*.q?", "ball.q") && !fits("a", "ab"));
    }
}
