//! Tests of the loop, with every port played by a fake.

mod carriers;
mod counts;
mod drops;
mod ends;
mod events;
mod failover;
mod fakes;
mod fan_outs;
mod fold;
mod forms;
mod history;
mod locality;
mod media;
mod names;
mod pure;
mod rewrites;
mod runs;
mod single_calls;
mod stops;
mod storage;
mod weight;
