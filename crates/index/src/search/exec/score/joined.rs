//! Weights, by codes alone, of rows that hold every word of the query.

use super::super::joined::Joined;
use super::super::lists::View;
use super::Scorer;

impl Scorer<'_> {
    /// Adds the rows that are not below the threshold, with their weights. Only of a simple scorer and of rows of every word that
    /// counts: their postings are known, so each word's codes are added up in one go.
    #[inline(always)]
    pub(in super::super) fn pick_joined(
        &self,
        rows: &mut Joined,
        view: &View<'_>,
        out: &mut Vec<(u16, i64)>,
    ) {
        let mut sums = std::mem::take(&mut rows.sums);
        sums.clear();
        sums.resize(rows.lows().len(), 0);
        for (at, word) in rows.words().iter().enumerate() {
            let codes = view.word(*word).codes;
            let table = self.weigher.table(*word);
            for (sum, posting) in sums.iter_mut().zip(rows.postings(at)) {
                let posting = usize::from(*posting);
                let Some(code) = codes.get(posting).copied() else {
                    continue;
                };
                *sum += match code >> 5 {
                    0 => self.weigher.value(*word, code, view.hits(*word, posting)),
                    _ => i64::from(table[usize::from(code)]),
                };
            }
        }
        for (low, sum) in rows.lows().iter().zip(&sums) {
            if *sum >= self.least {
                let weight = self.weigher.bound(self.all, *sum);
                if weight >= self.threshold {
                    out.push((*low, weight));
                }
            }
        }
        rows.sums = sums;
    }
}
