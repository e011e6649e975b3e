//! Text to tokens to tree.
