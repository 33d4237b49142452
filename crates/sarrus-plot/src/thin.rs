//! Long lines, reduced to what a picture can show.

/// Width of a column of points \[px\].
const COLUMN: f64 = 0.5;

/// A point on the page; none breaks the line.
pub(crate) type PagePoint = Option<(f64, f64)>;

/// Unbroken pieces of a line, each thinned.
///
/// A piece that runs to the right keeps of every column its first, lowest, highest and last point in their order, so
/// that peaks stay; another keeps points that are some way from the last one kept.
pub(crate) fn pieces(points: impl Iterator<Item = PagePoint>) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = vec![Vec::new()];
    for point in points {
        match (point, pieces.last_mut()) {
            (Some(p), Some(piece)) => piece.push(p),
            (None, Some(piece)) if !piece.is_empty() => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    for piece in &mut pieces {
        let forward = piece.windows(2).all(|w| w[0].0 <= w[1].0);
        *piece = if forward { columns(piece) } else { apart(piece) };
    }
    pieces
}

fn columns(piece: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut retained = Vec::new();
    let mut i = 0;
    while i < piece.len() {
        let column = (piece[i].0 / COLUMN).floor();
        let end =
            piece[i..].iter().position(|p| (p.0 / COLUMN).floor() != column).map_or(piece.len(), |n| i + n);
        let by_height = |a: &usize, b: &usize| piece[*a].1.total_cmp(&piece[*b].1);
        let (low, high) = ((i..end).min_by(by_height).unwrap_or(i), (i..end).max_by(by_height).unwrap_or(i));
        let mut chosen = [i, low.min(high), low.max(high), end - 1].to_vec();
        chosen.dedup();
        retained.extend(chosen.into_iter().map(|k| piece[k]));
        i = end;
    }
    retained
}

fn apart(piece: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut retained: Vec<(f64, f64)> = Vec::new();
    for (k, p) in piece.iter().enumerate() {
        let far = retained.last().is_none_or(|q| (p.0 - q.0).hypot(p.1 - q.1) >= COLUMN);
        if far || k + 1 == piece.len() {
            retained.push(*p);
        }
    }
    retained
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_becomes_short_and_keeps_its_peak() {
        let peak = 43_210;
        let line = (0..100_000).map(|i| Some((f64::from(i) * 0.005, if i == peak { 99.0 } else { 1.0 })));
        let pieces = pieces(line);
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() < 4100, "{}", pieces[0].len());
        assert!(pieces[0].contains(&(f64::from(peak) * 0.005, 99.0)));
        assert!(pieces[0].windows(2).all(|w| w[0].0 <= w[1].0));
    }

    #[test]
    fn a_missing_point_breaks_the_line() {
        let line = [None, Some((0.0, 0.0)), Some((1.0, 0.0)), None, None, Some((2.0, 0.0)), None];
        assert_eq!(pieces(line.into_iter()), [vec![(0.0, 0.0), (1.0, 0.0)], vec![(2.0, 0.0)]]);
    }

    #[test]
    fn a_loop_keeps_its_shape() {
        let line = (0..50_000).map(|i| {
            let a = f64::from(i) * 1e-3;
            Some((100.0 + 90.0 * a.cos(), 100.0 + 90.0 * a.sin()))
        });
        let pieces = pieces(line);
        let least = pieces[0].iter().fold(f64::INFINITY, |m, p| m.min(p.0));
        assert!(pieces[0].len() < 50_000 && (least - 10.0).abs() < 0.1);
    }
}
