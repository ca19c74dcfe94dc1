"""Reports: figures of a fit, and a run as an HTML page, Markdown or LaTeX tables.

Entry points: ``fit.plot(kind)`` and ``fit.report(path)`` in Python, ``voirdire report`` and ``voirdire compare`` on the
command line. A run becomes a :class:`.page.Page` (sections of texts, tables and figures) that is written in a format.
"""
