"""The HTML pages: templates, the one style sheet, the script of the report, and the data they show.

HTML stands in the templates; only a benchmark's figure may bring some, such as its legend. No scores are computed here, and no page needs the network.
"""
