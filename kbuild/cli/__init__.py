"""The command line: one file a command. A command asks another room for a result and shows it, as text or as JSON."""
