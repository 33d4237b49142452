//! Tests of compiled models: every registered kind against derived derivatives. One program, so that the workspace is linked once.

mod columns;
mod conformance;
mod forces;
mod includes;
mod plain_trees;
mod robot;
mod row_options;
mod tree;
mod worlds;
