//! A small seeded generator of random choices.
//!
//! The tests need reproducible choices and nothing more, so this is `SplitMix64`: one word of
//! state, no dependency, and the sequence will never change under a dependency's upgrade.

/// A source of random choices that depends on its seed only.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The sequence of one case of a campaign.
    ///
    /// Every case has its own sequence, so a case can be repeated alone, and the cases can be
    /// divided over threads in any way without a change of any of them.
    pub fn for_case(seed: u64, case: usize) -> Self {
        let mut rng = Self::new(seed ^ (case as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93));
        rng.state = rng.word();
        rng
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number below `bound`, and 0 where `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.word()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        self.word().to_le_bytes()[0]
    }
}
