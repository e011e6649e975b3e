//! Regular expressions of numbers within bounds.

use gramc_json_schema::regular::{CharSet, Regex};

use crate::decimal::Decimal;

/// The most digits after the point of a bounded number, and before and after it together. Doubles
/// tell numbers of so many digits apart.
const MAX_PRECISION: usize = 15;

/// The most multiples that are written one by one.
const MAX_LISTED: i128 = 200;

/// A bound, and whether it is excluded.
pub(crate) type Bound = (Decimal, bool);

/// Constraints on numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberRule {
    pub(crate) integer: bool,
    pub(crate) low: Option<Bound>,
    pub(crate) high: Option<Bound>,
    /// The number that all numbers are multiples of.
    pub(crate) step: Option<Decimal>,
}

impl NumberRule {
    /// The numbers in plain notation, and whether these are all of them.
    pub(crate) fn regex(&self) -> (Regex, bool) {
        let Some(step) = &self.step else {
            return (if self.integer { self.integers() } else { self.decimals(None) }, true);
        };
        let Some((digits, scale)) = digits_and_scale(step) else { return (Regex::NEVER, false) };
        if !self.integer && digits == 1 && scale > 0 {
            return (self.decimals(Some(scale)), true);
        }
        if !self.integer && scale > 0 {
            return match self.listed_fractions(digits, scale) {
                Some(listed) => (listed, true),
                None => (self.multiples(integer_step(digits, scale)).0, false),
            };
        }
        self.multiples(integer_step(digits, scale))
    }

    fn low_integer(&self) -> Option<Decimal> {
        self.low.as_ref().map(|(low, exclusive)| low.ceiling(*exclusive))
    }

    fn high_integer(&self) -> Option<Decimal> {
        self.high.as_ref().map(|(high, exclusive)| high.floor(*exclusive))
    }

    fn integers(&self) -> Regex {
        let whole = |bound: Option<Decimal>| bound.map(|it| (it, false));
        let bounds = (whole(self.low_integer()), whole(self.high_integer()));
        by_sign(bounds, |low, high, is_negative| {
            // There is no -0.
            let low = if is_negative && low.0.is_zero() { "1" } else { &low.0.whole };
            natural(low, high.map(|it| &*it.0.whole))
        })
    }

    /// Numbers with a point, of at most so many digits after it.
    fn decimals(&self, places: Option<usize>) -> Regex {
        if self.low.is_none() && self.high.is_none() {
            let whole = with_signs(natural("0", None), natural("0", None));
            let most = places.and_then(|places| u32::try_from(places).ok());
            let fraction = Regex::seq([Regex::literal("."), digit().repeat(1, most)]).optional();
            let exponent = Regex::seq([
                Regex::chars(CharSet::chars("eE")),
                Regex::chars(CharSet::chars("+-")).optional(),
                digit().repeat(1, Some(3)),
            ]);
            let exponent = if places.is_none() { exponent.optional() } else { Regex::EMPTY };
            return Regex::seq([whole, fraction, exponent]);
        }
        let longest = [&self.low, &self.high].into_iter().flatten().map(|it| it.0.whole.len());
        let room = MAX_PRECISION.saturating_sub(longest.max().unwrap_or(0));
        let room = places.map_or(room, |places| places.min(room));
        let bounds = (self.low.clone(), self.high.clone());
        by_sign(bounds, |low, high, _| numbers_between(low, high, room))
    }

    /// The multiples of a step with a fraction, `digits` of the power of ten `-scale`, if there are
    /// few.
    fn listed_fractions(&self, digits: i128, scale: usize) -> Option<Regex> {
        let power = 10_i128.checked_pow(u32::try_from(scale).ok()?)?;
        let scaled = |bound: &Option<Bound>, up: bool| {
            let (bound, exclusive) = bound.as_ref()?;
            let shifted = bound.shift(scale);
            let rounded = if up { shifted.ceiling(*exclusive) } else { shifted.floor(*exclusive) };
            rounded.to_i128()
        };
        let first = div_ceil(scaled(&self.low, true)?, digits);
        let last = scaled(&self.high, false)?.div_euclid(digits);
        (last.checked_sub(first)? < MAX_LISTED).then(|| {
            Regex::alt((first..=last).map(|n| {
                let value = n * digits;
                let (sign, value) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
                let (whole, rest) = (value / power.unsigned_abs(), value % power.unsigned_abs());
                let fraction = format!("{rest:0scale$}");
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                Regex::literal(&format!("{sign}{whole}{point}{fraction}"))
            }))
        })
    }

    /// The integers that are multiples of a step.
    fn multiples(&self, step: i128) -> (Regex, bool) {
        if step == 1 {
            return (self.integers(), true);
        }
        let bound = |bound: Option<Decimal>| match bound.map(|bound| bound.to_i128()) {
            None => Ok(None),
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(()),
        };
        let (Ok(low), Ok(high)) = (bound(self.low_integer()), bound(self.high_integer())) else {
            return (Regex::NEVER, false);
        };
        let (positive, all) = positive_multiples(low.unwrap_or(0).max(0), high, step);
        let negative = if low.is_some_and(|low| low >= 0) {
            (Regex::NEVER, true)
        } else {
            let first = high.map_or(1, |high| high.saturating_neg().max(1));
            positive_multiples(first, low.map(i128::saturating_neg), step)
        };
        (with_signs(positive, negative.0), all && negative.1)
    }
}

/// The numbers of both signs. `magnitudes` gives absolute values within bounds, and is told whether
/// they are those of negative numbers.
fn by_sign(
    bounds: (Option<Bound>, Option<Bound>),
    magnitudes: impl Fn(&Bound, Option<&Bound>, bool) -> Regex,
) -> Regex {
    let (low, high) = bounds;
    let half = |low: Option<Bound>, high: Option<Bound>, is_negative: bool| {
        if high.as_ref().is_some_and(|it| it.0.negative) {
            return Regex::NEVER;
        }
        let low = low.filter(|it| !it.0.negative).unwrap_or_else(|| (Decimal::zero(), false));
        magnitudes(&low, high.as_ref(), is_negative)
    };
    let mirror =
        |bound: &Option<Bound>| bound.as_ref().map(|(it, excluded)| (it.negate(), *excluded));
    let negative = if low.as_ref().is_some_and(|it| !it.0.negative) {
        Regex::NEVER
    } else {
        half(mirror(&high), mirror(&low), true)
    };
    with_signs(half(low, high, false), negative)
}

fn digit() -> Regex {
    Regex::class(&[('0', '9')])
}

fn with_signs(natural: Regex, negative: Regex) -> Regex {
    if natural == negative {
        return Regex::seq([Regex::literal("-").optional(), natural]);
    }
    Regex::alt([natural, Regex::seq([Regex::literal("-"), negative])])
}

fn div_ceil(number: i128, step: i128) -> i128 {
    -(-number).div_euclid(step)
}

/// A positive number as an integer, to be divided by ten so many times.
fn digits_and_scale(step: &Decimal) -> Option<(i128, usize)> {
    let digits = step.shift(step.fraction.len()).to_i128()?;
    (digits > 0).then_some((digits, step.fraction.len()))
}

/// The step of the integers among the multiples of a step.
fn integer_step(digits: i128, scale: usize) -> i128 {
    let mut step = digits;
    for _ in 0..scale {
        // Each power of ten is cancelled as far as the step is a multiple of it.
        for prime in [2, 5] {
            if step % prime == 0 {
                step /= prime;
            }
        }
    }
    step
}

/// The multiples of a step that are not negative, and whether these are all of them.
fn positive_multiples(low: i128, high: Option<i128>, step: i128) -> (Regex, bool) {
    if high.is_some_and(|high| high < low) {
        return (Regex::NEVER, true);
    }
    let list = |first: i128, last: i128| {
        (first..=last).filter_map(|n| Some(Regex::literal(&step.checked_mul(n)?.to_string())))
    };
    let first = div_ceil(low, step);
    let last = high.map(|high| high.div_euclid(step));
    if let Some(last) = last
        && last - first < MAX_LISTED
    {
        return (Regex::alt(list(first, last)), true);
    }
    // A step that divides a power of ten shows in the last digits alone.
    let power = (1..=18).map(|places| 10_i128.pow(places)).zip(1..).find(|it| it.0 % step == 0);
    let Some((power, places)) = power.filter(|it| it.0 / step <= MAX_LISTED) else {
        let last = last.unwrap_or(i128::MAX).min(first.saturating_add(MAX_LISTED));
        return (Regex::alt(list(first, last)), false);
    };
    let block = div_ceil(low, power).max(1);
    let last_block = high.map(|high| high.saturating_add(1).div_euclid(power) - 1);
    if last_block.is_some_and(|last| last < block) {
        let last = last.unwrap_or(first).min(first.saturating_add(2 * MAX_LISTED));
        return (Regex::alt(list(first, last)), true);
    }
    let ends =
        Regex::alt((0..power / step).map(|n| Regex::literal(&format!("{:0places$}", n * step))));
    let text = last_block.map(|last| last.to_string());
    let blocks = Regex::seq([natural(&block.to_string(), text.as_deref()), ends]);
    let before = list(first, (block * power).div_euclid(step) - 1);
    let after = last.zip(last_block).map(|(last, block)| list((block + 1) * power / step, last));
    (Regex::alt(before.chain([blocks]).chain(after.into_iter().flatten())), true)
}

/// The natural numbers from one to another one, as digits without leading zeros.
fn natural(low: &str, high: Option<&str>) -> Regex {
    let run = |first: &str, last: &str| same_length(first.as_bytes(), last.as_bytes());
    let nines = "9".repeat(low.len());
    let Some(high) = high else {
        let longer = u32::try_from(low.len()).unwrap_or(u32::MAX);
        let longer = Regex::seq([Regex::class(&[('1', '9')]), digit().repeat(longer, None)]);
        return match low {
            "0" => Regex::alt([Regex::literal("0"), starting(0, None)]),
            "1" => starting(0, None),
            _ => Regex::alt([run(low, &nines), longer]),
        };
    };
    match low.len().cmp(&high.len()) {
        std::cmp::Ordering::Greater => Regex::NEVER,
        std::cmp::Ordering::Equal if low > high => Regex::NEVER,
        std::cmp::Ordering::Equal => run(low, high),
        std::cmp::Ordering::Less => {
            let first = format!("1{}", "0".repeat(high.len() - 1));
            let between = if high.len() - low.len() > 1 {
                starting(low.len(), Some(high.len() - 2))
            } else {
                Regex::NEVER
            };
            Regex::alt([run(low, &nines), between, run(&first, high)])
        }
    }
}

/// A digit that is not zero, then at least and at most so many more.
fn starting(least: usize, most: Option<usize>) -> Regex {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Regex::seq([Regex::class(&[('1', '9')]), digit().repeat(count(least), most.map(count))])
}

/// The digits between two texts of the same length.
fn same_length(low: &[u8], high: &[u8]) -> Regex {
    let (Some((&first, low_rest)), Some((&last, high_rest))) =
        (low.split_first(), high.split_first())
    else {
        return Regex::EMPTY;
    };
    let literal = |byte: u8| Regex::chars(CharSet::one(byte.into()));
    if first == last {
        return Regex::seq([literal(first), same_length(low_rest, high_rest)]);
    }
    let any = digit().repeat(
        u32::try_from(low_rest.len()).unwrap_or(u32::MAX),
        u32::try_from(low_rest.len()).ok(),
    );
    let low_whole = low_rest.iter().all(|&byte| byte == b'0');
    let high_whole = high_rest.iter().all(|&byte| byte == b'9');
    let (from, to) = (first + u8::from(!low_whole), last - u8::from(!high_whole));
    let middle = if from <= to {
        Regex::seq([Regex::class(&[(from.into(), to.into())]), any])
    } else {
        Regex::NEVER
    };
    let edge = |whole: bool, byte: u8, low: &[u8], high: &[u8]| {
        if whole { Regex::NEVER } else { Regex::seq([literal(byte), same_length(low, high)]) }
    };
    let nines = vec![b'9'; low_rest.len()];
    let zeros = vec![b'0'; low_rest.len()];
    Regex::alt([
        edge(low_whole, first, low_rest, &nines),
        middle,
        edge(high_whole, last, &zeros, high_rest),
    ])
}

/// The numbers from one that is not negative to another one, of at most `room` digits after the
/// point.
fn numbers_between(low: &Bound, high: Option<&Bound>, room: usize) -> Regex {
    let low_digits = Some((low.0.fraction.as_bytes(), low.1));
    let high_digits = high.map(|high| (high.0.fraction.as_bytes(), high.1));
    let with = |whole: Regex, low, high| {
        let (ends, more) = digits_between(low, high, room);
        let point = Regex::seq([Regex::literal("."), more]);
        let end = if ends { Regex::EMPTY } else { Regex::NEVER };
        Regex::seq([whole, Regex::alt([end, point])])
    };
    let above = Decimal { fraction: String::new(), ..low.0.clone() }.ceiling(true).whole;
    let Some(high) = high else {
        let rest = with(natural(&above, None), None, None);
        return Regex::alt([with(Regex::literal(&low.0.whole), low_digits, None), rest]);
    };
    if low.0.whole == high.0.whole {
        return with(Regex::literal(&low.0.whole), low_digits, high_digits);
    }
    let longer = (low.0.whole.len(), &low.0.whole) > (high.0.whole.len(), &high.0.whole);
    if longer {
        return Regex::NEVER;
    }
    let below = Decimal { fraction: String::new(), ..high.0.clone() }.floor(true).whole;
    Regex::alt([
        with(Regex::literal(&low.0.whole), low_digits, None),
        with(natural(&above, Some(&below)), None, None),
        with(Regex::literal(&high.0.whole), None, high_digits),
    ])
}

/// The digits of a bound after the point, and whether the bound is excluded.
type Digits<'d> = Option<(&'d [u8], bool)>;

/// What is left of a bound after a digit that is on it.
fn rest(digits: Digits<'_>, on: bool) -> Digits<'_> {
    digits.filter(|_| on).map(|(digits, it)| (digits.get(1..).unwrap_or_default(), it))
}

/// The digits after a point that keep a number between bounds: whether there may be none, and those
/// that there may be, at most `room`.
fn digits_between(low: Digits<'_>, high: Digits<'_>, room: usize) -> (bool, Regex) {
    let ends_low = low.is_none_or(|(digits, excluded)| digits.is_empty() && !excluded);
    let ends_high = high.is_none_or(|(digits, excluded)| !digits.is_empty() || !excluded);
    let ends = ends_low && ends_high;
    if room == 0 {
        return (ends, Regex::NEVER);
    }
    let left = u32::try_from(room - 1).unwrap_or(u32::MAX);
    let zero = Regex::literal("0");
    match (low, high) {
        (Some(([], false)), high) => return digits_between(None, high, room),
        (None, Some(([], false))) => return (ends, zero.repeat(1, Some(left + 1))),
        (Some(([], true)), None) => {
            let zeros = left / 2;
            let more = digit().repeat(0, Some(left - zeros));
            let first = Regex::class(&[('1', '9')]);
            return (ends, Regex::seq([zero.repeat(0, Some(zeros)), first, more]));
        }
        _ => {}
    }
    if low.is_none() && high.is_none() {
        return (ends, digit().repeat(1, Some(left + 1)));
    }
    let mut free = String::new();
    let mut bound = Vec::new();
    for byte in b'0'..=b'9' {
        let step = |digits: Digits<'_>| {
            digits.map(|(digits, _)| byte.cmp(digits.first().unwrap_or(&b'0')))
        };
        let (low_order, high_order) = (step(low), step(high));
        if low_order.is_some_and(std::cmp::Ordering::is_lt)
            || high_order.is_some_and(std::cmp::Ordering::is_gt)
        {
            continue;
        }
        let (on_low, on_high) = (
            low_order.is_some_and(std::cmp::Ordering::is_eq),
            high_order.is_some_and(std::cmp::Ordering::is_eq),
        );
        if !on_low && !on_high {
            free.push(byte.into());
            continue;
        }
        let (ends, more) = digits_between(rest(low, on_low), rest(high, on_high), room - 1);
        let end = if ends { Regex::EMPTY } else { Regex::NEVER };
        bound.push(Regex::seq([Regex::chars(CharSet::one(byte.into())), Regex::alt([end, more])]));
    }
    let free = Regex::seq([Regex::chars(CharSet::chars(&free)), digit().repeat(0, Some(left))]);
    (ends, Regex::alt(bound.into_iter().chain([free])))
}

#[cfg(test)]
mod tests {
    use serde_json::Number;

    use super::*;
    use crate::tests::matches;

    fn bound(text: &str) -> Option<Bound> {
        let (text, exclusive) = match text.strip_prefix('!') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let number: Number = serde_json::from_str(text).ok()?;
        Some((Decimal::of(&number)?, exclusive))
    }

    fn rule(integer: bool, low: &str, high: &str, step: &str) -> NumberRule {
        let step = bound(step).map(|it| it.0);
        NumberRule { integer, low: bound(low), high: bound(high), step }
    }

    #[test]
    fn integers_are_exactly_those_within_bounds() {
        let bounds = [
            ("", ""),
            ("0", "0"),
            ("1", "100"),
            ("-5", "5"),
            ("-120", "-7"),
            ("17", "2048"),
            ("!0", "!10"),
            ("-1", ""),
            ("", "-1"),
            ("", "99"),
            ("100", ""),
            ("2.5", "7.5"),
            ("-7.5", "!-2"),
            ("5", "3"),
            ("999", "1000"),
            ("-300", "299"),
        ];
        for (low, high) in bounds {
            for step in ["", "1", "2", "3", "5", "10", "25", "100", "0.5", "2.5"] {
                let (regex, exact) = rule(true, low, high, step).regex();
                let near = [-301..=-298, -130..=130, 298..=301, 998..=1_001, 2_046..=2_050_i32];
                for number in near.into_iter().flatten() {
                    let wanted = is_allowed(f64::from(number), low, high, step);
                    let found = matches(&regex, &number.to_string());
                    assert!(found == wanted || (!exact && wanted), "{low} {high} {step} {number}");
                }
                for text in ["", "-", "01", "-0", "+1", "1.0", "1e1"] {
                    assert!(!matches(&regex, text), "{low} {high} {text}");
                }
            }
        }
    }

    #[test]
    fn bounds_of_many_digits_do_not_overflow() {
        let (least, most) = (i128::MIN.to_string(), i128::MAX.to_string());
        let long = format!("1{}", "0".repeat(35));
        for low in ["", &least, &most, "-1.7014118346046924e+37", &long] {
            for high in ["", &least, &most, "0", &long] {
                for step in ["10", "3", "0.3", "0.25", "7e30", &most, &long] {
                    for integer in [true, false] {
                        let (regex, exact) = rule(integer, low, high, step).regex();
                        assert!(
                            !regex.is_never() || !exact || !high.is_empty(),
                            "{low} {high} {step}"
                        );
                    }
                }
            }
        }
        let (regex, exact) = rule(true, &long, "", "10").regex();
        assert!(
            exact && matches(&regex, &long) && !matches(&regex, &format!("1{}5", "0".repeat(34)))
        );
    }

    fn is_allowed(number: f64, low: &str, high: &str, step: &str) -> bool {
        let parse = |text: &str| text.trim_start_matches('!').parse::<f64>().ok();
        let low_fits = parse(low).is_none_or(|bound| {
            if low.starts_with('!') { number > bound } else { number >= bound }
        });
        let high_fits = parse(high).is_none_or(|bound| {
            if high.starts_with('!') { number < bound } else { number <= bound }
        });
        low_fits && high_fits && parse(step).is_none_or(|step| (number / step).fract() == 0.0)
    }

    #[test]
    fn decimals_are_exactly_those_within_bounds() {
        let bounds = [
            ("0", "1"),
            ("!0", "!1"),
            ("-0.5", "0.25"),
            ("1.25", "1.75"),
            ("!1.25", "!1.75"),
            ("-3", "-1.5"),
            ("", "2.5"),
            ("-1", ""),
            ("9.75", "10.25"),
            ("!-1", "!0"),
            ("2", "1"),
            ("-0.25", "!0"),
            ("0.5", "0.5"),
            ("!0.5", "0.5"),
        ];
        let texts = (-48..=48_i32).flat_map(|n| {
            let value = f64::from(n) / 4.0;
            [format!("{value}"), format!("{value:.2}"), format!("{value:.4}")]
        });
        for text in texts.collect::<Vec<_>>() {
            for (low, high) in bounds {
                for step in ["", "0.25", "0.01", "0.1", "2", "1"] {
                    let (regex, exact) = rule(false, low, high, step).regex();
                    let value: f64 = text.parse().unwrap_or(f64::NAN);
                    // A quarter is no multiple of a tenth, whatever doubles say.
                    let exact_step = ["", "0.25", "2", "1"].contains(&step)
                        || (step == "0.01")
                        || (value * 10.0).fract() == 0.0;
                    let step_for = if ["0.01", "0.1"].contains(&step) { "" } else { step };
                    let wanted = is_allowed(value, low, high, step_for) && exact_step;
                    let found = matches(&regex, &text);
                    assert!(!found || wanted, "{low} {high} {step} {text}");
                    let plain = step.is_empty() || !text.ends_with('0') || text == "0";
                    let negative_zero = text.starts_with("-0") && value == 0.0;
                    if exact && plain && !negative_zero {
                        assert_eq!(found, wanted, "{low} {high} {step} {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn unbounded_numbers_have_exponents() {
        let (regex, exact) = rule(false, "", "", "").regex();
        assert!(exact);
        for text in ["0", "-0.5", "1e10", "1.5E-3", "12345678901234567890"] {
            assert!(matches(&regex, text), "{text}");
        }
        for text in ["01", ".5", "1.", "e5", "1e", "--1", "NaN"] {
            assert!(!matches(&regex, text), "{text}");
        }
    }
}
