"""In conftest.py, with pytest-xdist, where gw0 is number 1:

worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) + 1
os.environ["DATABASE_URL"] = os.environ[f"DATABASE_URL_{worker}"]

and reset(worker) before each test, after `tool branch serve shop test --yes --json > .reset.json &`.
"""

import http.client
import json
import socket


def reset(worker, file=".reset.json"):
    with open(file) as lines:
        path = json.loads(lines.readline())["socket"]
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(path)
    connection.request("POST", f"/reset/{worker}")
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    assert answer.status == 200, body
    return body
