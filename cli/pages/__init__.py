"""Pages: a report as one HTML file with charts that needs no network.

    page.py         what a page is made of: `Page`, `Section`, `Figure`, `Table`
    charts.py       figures from rows: `lines`, `heat_map`, `shares`, `bars`, `spans`
    chart_parts.py  colours, axes, legends and labels of charts
    render.py       `page_html`, and `write_page`, which writes it whole or not at all

Every figure has its rows as a table too, so that nothing is told by a picture alone. A command
makes a `Page` and calls `write_page`:

    figure = lines("Lag over time", "Lag of the three groups...", rows, unit="records")
    page = Page("Lag report", lead="prod, 24 hours", sections=(Section("Lag", (figure,)),))
    write_page(Path("report.html"), page)

Only `render.py` and the charts import Altair, and only when they are used: import this room
inside the command, not at the top of a module.
"""
