"""From evidence to verdict; pure, and the only builder of verdicts."""
