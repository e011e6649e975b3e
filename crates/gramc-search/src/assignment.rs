//! Assigns the parameters of a query to those of a tool.

/// The column of each row so that the sum of values is greatest, by the Hungarian method. Pairs with
/// a value of zero or less are not assigned. The time is the square of the rows times the columns.
pub(crate) fn assign(values: &[Vec<f32>]) -> Vec<Option<usize>> {
    let rows = values.len();
    // A column of its own for each row that stays without one.
    let columns = values.first().map_or(0, Vec::len) + rows;
    let cost =
        |row: usize, column: usize| -values[row].get(column).copied().unwrap_or_default().max(0.0);
    // Rows and columns are counted from 1, and 0 is none.
    let mut row_prices = vec![0.0_f32; rows + 1];
    let mut column_prices = vec![0.0_f32; columns + 1];
    let mut row_of = vec![0_usize; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut before = vec![0_usize; columns + 1];
        let mut least = vec![f32::INFINITY; columns + 1];
        let mut is_used = vec![false; columns + 1];
        while row_of[column] != 0 {
            is_used[column] = true;
            let (mut delta, mut next) = (f32::INFINITY, 0);
            for other in 1..=columns {
                if is_used[other] {
                    continue;
                }
                let at = row_of[column];
                let price = cost(at - 1, other - 1) - row_prices[at] - column_prices[other];
                if price < least[other] {
                    least[other] = price;
                    before[other] = column;
                }
                if least[other] < delta {
                    delta = least[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if is_used[other] {
                    row_prices[row_of[other]] += delta;
                    column_prices[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut found = vec![None; rows];
    for (column, row) in row_of.iter().enumerate().skip(1) {
        if *row != 0 && values[*row - 1].get(column - 1).is_some_and(|value| *value > 0.0) {
            found[*row - 1] = Some(column - 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_greatest() {
        assert_eq!(assign(&[vec![2.0, 1.9], vec![1.9, 0.1]]), [Some(1), Some(0)]);
        assert_eq!(assign(&[vec![1.0], vec![2.0]]), [None, Some(0)]);
        assert_eq!(assign(&[vec![0.0, 0.0, 0.5]]), [Some(2)]);
        assert_eq!(assign(&[vec![], vec![]]), [None, None]);
        assert_eq!(assign(&[]), [None; 0]);
    }

    #[test]
    fn it_is_as_good_as_trying_all() {
        let mut state = 7_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from(u16::try_from(state >> 24).unwrap_or(0)) / 64.0 - 1.0
        };
        for _ in 0..200 {
            let values: Vec<Vec<f32>> =
                (0..3).map(|_| (0..4).map(|_| random()).collect()).collect();
            let sum: f32 = assign(&values)
                .iter()
                .zip(&values)
                .filter_map(|(column, row)| column.map(|column| row[column]))
                .sum();
            assert!((sum - best(&values, 0, &mut [false; 4])).abs() < 1e-3, "{values:?}");
        }
    }

    fn best(values: &[Vec<f32>], row: usize, used: &mut [bool; 4]) -> f32 {
        if row == values.len() {
            return 0.0;
        }
        let mut found = best(values, row + 1, used);
        for column in 0..4 {
            if !used[column] && values[row][column] > 0.0 {
                used[column] = true;
                found = found.max(values[row][column] + best(values, row + 1, used));
                used[column] = false;
            }
        }
        found
    }
}
