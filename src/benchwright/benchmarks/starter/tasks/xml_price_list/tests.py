import unittest
from decimal import Decimal as D


class TestCases(unittest.TestCase):
    def names(self, document):
        return [entry["name"] for entry in task_func(document)]

    def test_example(self):
        self.assertEqual(
            task_func("<list><item><name>Pen</name><price>1.20</price></item></list>"),
            [{"name": "Pen", "price": D("1.20"), "currency": "EUR"}],
        )

    def test_currency(self):
        document = '<l><item><price currency="USD">2</price><name>Cap</name></item></l>'
        self.assertEqual(task_func(document), [{"name": "Cap", "price": D(2), "currency": "USD"}])

    def test_order_is_by_number(self):
        document = (
            "<l><item><name>a</name><price>10</price></item><item><name>b</name><price>9.5</price></item>"
            "<item><name>c</name><price>100</price></item></l>"
        )
        self.assertEqual(self.names(document), ["b", "a", "c"])

    def test_same_price_keeps_the_order(self):
        document = (
            "<l><item><name>z</name><price>1.0</price></item><item><name>y</name><price>1.00</price></item>"
            "<item><name>x</name><price>1</price></item></l>"
        )
        self.assertEqual(self.names(document), ["z", "y", "x"])

    def test_items_at_any_depth(self):
        document = "<shop><part><item><name> Ink &amp; pen\n</name><price> 3 </price></item></part></shop>"
        self.assertEqual(self.names(document), ["Ink & pen"])

    def test_incomplete_items(self):
        document = (
            "<l><item><name>a</name></item><item><price>1</price></item><item><name> </name><price>1</price></item>"
            "<item><name>b</name><price/></item><item><name>c</name><price> </price></item></l>"
        )
        self.assertEqual(task_func(document), [])

    def test_not_well_formed(self):
        for document in ("", "<l><item></l>", "plain"):
            with self.assertRaises(ValueError):
                task_func(document)
