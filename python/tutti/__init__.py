"""Results of tutti for Python: reading (tutti.results) and plotting (tutti.plot, tutti.profile, tutti.history,
tutti.convergence)."""

__version__ = "0.1.0"
