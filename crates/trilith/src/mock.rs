//! `trilith mock`.

use trilith_mock::RunOptions;

use crate::{
    cli::MockOptions,
    say::{self, Failure},
};

/// Plays a script until the process is asked to end.
pub(crate) fn run(options: MockOptions) -> Result<(), Failure> {
    let Some(dialect) = trilith_dialect::dialect(options.dialect.into()) else {
        return Err("this dialect is not part of this build".into());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let options =
            RunOptions { file: options.file, dialect, listen: options.listen, record: options.record };
        let mut print = |line: &str| say::out(line);
        tokio::select! {
            ended = trilith_mock::run(options, &mut print) => ended.map_err(Into::into),
            () = crate::serve::asked_to_end() => Ok(()),
        }
    })
}
