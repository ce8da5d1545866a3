import re

from plait.report import Page, Picture, Section, Table, reliability_diagram


def picture(curve, title="Reliability"):
    return Picture(reliability_diagram({"": curve}), title, "What it <shows>.")


def test_a_page_loads_nothing_and_holds_everything(curve, tmp_path):
    items = ["A <b> paragraph.", Table(("a",), [("1",)]), {"key & name": "value"}, picture(curve)]
    page = Page("Title & more", "The lead.", [Section("One", items)])
    page.write(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    # The namespaces of SVG are names; nothing is fetched.
    assert not re.search(r"<(script|link|img|iframe)\b|\bsrc=|url\(http|@import", html)
    assert not [address for address in re.findall(r'href="([^"]*)"', html) if not address.startswith("#")]
    for text in ("A &lt;b&gt; paragraph.", "Title &amp; more", "The lead.", "key &amp; name", "What it &lt;shows&gt;."):
        assert text in html
    assert html.count("<svg") == 1
    assert "prefers-color-scheme: dark" in html


def test_pictures_that_follow_each_other_share_a_line(curve):
    items = [picture(curve), picture(curve, "Again"), "Between.", picture(curve, "Last")]
    html = Page("t", "l", [Section("One", items)]).html()
    assert html.count('<div class="pictures">') == 2
    assert re.search(
        r'<div class="pictures"><figure.*?Reliability.*?</figure><figure.*?Again.*?</figure></div>', html, re.S
    )
