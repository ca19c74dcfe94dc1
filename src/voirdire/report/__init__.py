"""Reports: figures of a fit, and a run as an HTML page, Markdown or LaTeX tables.

``fit.plot(kind)`` and ``fit.report(path)`` are the ways in from Python, ``voirdire report`` and ``voirdire compare`` on
the command line. A run becomes a :class:`.page.Page` (sections of texts, tables and figures), which a format writes.
"""
