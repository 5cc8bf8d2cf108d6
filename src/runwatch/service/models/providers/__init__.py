"""Model providers: their wire formats, the sample source, prices, and what comes of a call."""
