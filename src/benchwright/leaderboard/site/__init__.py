"""The leaderboard as a folder of pages that any web server, or a browser alone, can show."""
