//! How answers end for those who watch.

use trilith_core::{FinishReason, Status};

use super::{
    events::{done, finish, part_done, saying, usage},
    fakes::{World, request, turn, upstream},
};

#[tokio::test]
async fn every_finish_gives_its_status() {
    let cases = [
        (FinishReason::Stop, Status::Completed),
        (FinishReason::ToolCalls, Status::Completed),
        (FinishReason::Length, Status::Incomplete),
        (FinishReason::ContentFilter, Status::Incomplete),
        (FinishReason::MalformedCall, Status::Failed),
        (FinishReason::Other("tired".into()), Status::Completed),
    ];
    for (reason, status) in cases {
        let world = World::new();
        let mut events = saying("hi");
        events.extend([part_done(0, 0), done(0), usage(1, 1), finish(reason.clone())]);
        let (run, _) = world.run(request(turn(Vec::new()), &upstream(events))).await;
        assert_eq!(run.response().status, status, "{reason:?}");
        assert_eq!(run.response().incomplete.is_some(), status == Status::Incomplete);
        assert_eq!(run.response().error.is_some(), status == Status::Failed);
        assert_eq!(world.committed(), *run.response());
    }
}
