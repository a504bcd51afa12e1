//! The turn loop: history, the choice of road, the run that folds events into a response.
