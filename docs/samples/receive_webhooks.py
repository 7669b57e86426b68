"""Receives webhooks of Touchline, verifies them by the Standard Webhooks specification, and
prints them.

    SECRET=whsec_… python3 receive_webhooks.py 9000
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

# During a rotation set SECRET to the new secret: each message has a signature for both.
KEY = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))
TOLERANCE = 5 * 60  # seconds; older messages may be copies that someone sends again
handled = set()  # a real service keeps these ids in its database


def is_genuine(headers, body):
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    return any(hmac.compare_digest(expected, s) for s in headers["webhook-signature"].split(" "))


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            length = int(self.headers["content-length"] or 0)
            body = self.rfile.read(max(length, 0))
            genuine = is_genuine(self.headers, body)
        except (AttributeError, TypeError, ValueError):
            genuine = False
        if not genuine:
            print("refused: the signature is wrong", flush=True)
            self.send_response(401)
            self.send_header("Content-Length", "0")
        elif self.headers["webhook-id"] in handled:
            print("known already:", self.headers["webhook-id"], flush=True)
            self.send_response(204)
        else:
            event = json.loads(body)
            print("verified:", event["type"], json.dumps(event["data"]), flush=True)
            handled.add(self.headers["webhook-id"])
            self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
