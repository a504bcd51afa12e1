//! Tests of the loop, with every port played by a fake.

mod carriers;
mod counts;
mod drops;
mod ends;
mod events;
mod failover;
mod fakes;
mod fold;
mod history;
mod locality;
mod names;
mod pure;
mod runs;
mod stops;
mod storage;
mod weight;
