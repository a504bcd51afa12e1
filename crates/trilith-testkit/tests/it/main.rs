//! The golden matrix, the order machines and the properties that hold for every dialect.

#[cfg(test)]
mod deltas;
#[cfg(test)]
mod index;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod order;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod replay;
