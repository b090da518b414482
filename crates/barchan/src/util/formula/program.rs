//! What a formula becomes: operations on a stack, operands before their operator.

/// Values that wait for their operator, at most.
pub(super) const DEPTH: usize = 64;

/// One operation.
#[derive(Clone, Copy)]
pub(super) enum Op {
    /// Puts a number on the stack.
    Number(f64),
    /// Puts the time there.
    Time,
    /// Replaces the last value.
    One(fn(f64) -> f64),
    /// Replaces the last two by one.
    Two(fn(f64, f64) -> f64),
    /// Replaces the last three by one.
    Three(fn(f64, f64, f64) -> f64),
}

impl Op {
    /// How many values it takes.
    pub(super) fn arity(self) -> usize {
        match self {
            Self::Number(_) | Self::Time => 0,
            Self::One(_) => 1,
            Self::Two(_) => 2,
            Self::Three(_) => 3,
        }
    }
}

/// Every function, by its name.
pub(super) const FUNCTIONS: &[(&str, Op)] = &[
    ("sin", Op::One(f64::sin)),
    ("cos", Op::One(f64::cos)),
    ("tan", Op::One(f64::tan)),
    ("asin", Op::One(f64::asin)),
    ("acos", Op::One(f64::acos)),
    ("atan", Op::One(f64::atan)),
    ("atan2", Op::Two(f64::atan2)),
    ("exp", Op::One(f64::exp)),
    ("ln", Op::One(f64::ln)),
    ("sqrt", Op::One(f64::sqrt)),
    ("abs", Op::One(f64::abs)),
    ("min", Op::Two(f64::min)),
    ("max", Op::Two(f64::max)),
    ("floor", Op::One(f64::floor)),
    ("sign", Op::One(sign)),
    ("step", Op::One(step)),
    ("clamp", Op::Three(clamp)),
    ("smooth", Op::One(smooth)),
    ("if", Op::Three(either)),
];

/// −1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// 0 below zero, 1 from there on.
fn step(x: f64) -> f64 {
    f64::from(u8::from(x >= 0.0))
}

/// `x`, but no less than `low` and no more than `high`, which counts where they contradict each other.
fn clamp(x: f64, low: f64, high: f64) -> f64 {
    x.max(low).min(high)
}

/// From 0 at zero to 1 at one without a kink, level at both ends and beyond.
pub(crate) fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// `a` if the condition is anything but zero, else `b`.
fn either(condition: f64, a: f64, b: f64) -> f64 {
    if condition != 0.0 { a } else { b }
}

/// The value of a program at a time. The parser has made sure that the stack suffices.
#[inline]
pub(super) fn run(program: &[Op], t: f64) -> f64 {
    let mut stack = [0.0; DEPTH];
    let mut top = 0;
    for op in program {
        // The operands become the result.
        let first = top - op.arity();
        let of = |k: usize| stack[first + k];
        stack[first] = match *op {
            Op::Number(x) => x,
            Op::Time => t,
            Op::One(f) => f(of(0)),
            Op::Two(f) => f(of(0), of(1)),
            Op::Three(f) => f(of(0), of(1), of(2)),
        };
        top = first + 1;
    }
    stack[0]
}
