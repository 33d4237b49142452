//! Tests of the program from its command line. One program, so that the workspace is linked once.

mod bad_input;
mod check;
mod commands;
mod common;
mod compare;
mod linear;
mod run;
mod view;
