from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[("id", models.BigAutoField(primary_key=True)), ("item", models.TextField())],
        ),
    ]
