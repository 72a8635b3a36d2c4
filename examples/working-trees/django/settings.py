from pathlib import Path

import environ

env = environ.Env()
environ.Env.read_env(str(Path(__file__).parent / ".env"))

SECRET_KEY = "example"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": env.db()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
