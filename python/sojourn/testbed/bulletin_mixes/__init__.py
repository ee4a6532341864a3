"""Transition matrices of the bulletin board's users, from RUBBoS (C. Amza et al., Specification and Implementation of Dynamic
Web Site Benchmarks, WWC-5 (2002)): which page follows which, one row a page."""
