"""What a benchmark is: data, prompts, assembly and official file formats, one folder each."""
