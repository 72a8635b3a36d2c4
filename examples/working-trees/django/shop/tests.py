from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import TestCase

from shop.models import Order


class OrderTest(TestCase):
    def test_is_kept(self):
        Order.objects.create(item="tea")
        self.assertEqual(Order.objects.get().item, "tea")

    def test_database_has_the_migrations_of_this_tree(self):
        loader = MigrationLoader(connection)
        self.assertEqual(set(loader.applied_migrations), set(loader.disk_migrations))
