"""Eyes for a run: traces, variables that are watched, and stops where everything can be looked at.

All of them are watchers of `lockstep`; a run that has none of them pays nothing. `tracing` makes events, `lines` and
`chrome` write them, `changes` follows variables, `stops` and `state` stop and show.
"""
