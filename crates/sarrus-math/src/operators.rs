//! The operators that follow from the assigning ones, written once for every scalar.

/// Implements `+`, `-` and `*` from `+=`, `-=` and `*=`.
macro_rules! operators_from_assignments {
    ([$($parameters:tt)*] $scalar:ty) => {
        operators_from_assignments!(@ [$($parameters)*] $scalar, Add add add_assign);
        operators_from_assignments!(@ [$($parameters)*] $scalar, Sub sub sub_assign);
        operators_from_assignments!(@ [$($parameters)*] $scalar, Mul mul mul_assign);
    };
    (@ [$($parameters:tt)*] $scalar:ty, $operator:ident $method:ident $assign:ident) => {
        impl<$($parameters)*> $operator for $scalar {
            type Output = Self;
            #[inline]
            fn $method(mut self, b: Self) -> Self {
                self.$assign(b);
                self
            }
        }
    };
}

pub(crate) use operators_from_assignments;
