//! The backends that contenders call: real ones and the replay of their recordings.
