#!/usr/bin/env python3
"""Keeps a copy of some records in an SQLite file, with what Python has of its own.

    python3 copy.py copy.db                  brings the copy up to date, as from cron
    python3 copy.py copy.db --follow 5       goes on, and asks every 5 seconds

The recipe, and what else there is to know, is the chapter "Keep a copy" of the guide.
"""
import json, os, sqlite3, sys, time
import urllib.error, urllib.parse, urllib.request

BASE = os.environ.get("BASE", "http://127.0.0.1:8080/webservice_v2")
LOGIN = {
    "api_key": os.environ.get("API_KEY", "11111111-1111-4111-8111-111111111111"),
    "username": os.environ.get("FRONTDESK_USER", "demo"),
    "password": os.environ.get("FRONTDESK_PASSWORD", "demo"),
}
RESOURCES = os.environ.get("RESOURCES", "contact,order").split(",")
token = None


class CursorGone(Exception):
    """The copy has to begin again."""


def get(path, **query):
    """Asks until there is an answer: logs in, waits where it is told to, and tries again."""
    global token
    for attempt in range(10):
        if token is None and path != "/authenticate":
            token = get("/authenticate", **LOGIN)["token"]
        used = token or ""
        request = urllib.request.Request(BASE + path + "?" + urllib.parse.urlencode(query), headers={"token": used})
        wait = min(2**attempt, 30)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            problem = refused.read().decode()
            if refused.code == 401 and used:  # a session lasts half an hour
                token = None
                continue
            if refused.code == 410:
                raise CursorGone
            if refused.code != 429 and refused.code < 500:
                sys.exit(f"{path}: {problem}")
            wait = int(refused.headers.get("Retry-After", wait))
        except OSError as failed:  # nobody answers, or not in time
            problem = failed
        print(f"{path}: {problem}; asking again in {wait} s", file=sys.stderr)
        time.sleep(wait)
    sys.exit(f"{path}: {problem}")


def put(copy, resource, record):
    copy.execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", (resource, record["id"], json.dumps(record)))


def read_everything(copy):
    """The cursor first, then all records: what changes meanwhile comes after the cursor."""
    cursor = get("/changes", resource=",".join(RESOURCES))["cursor"]
    with copy:  # one transaction: the copy is the former one until this one is whole
        copy.execute("DELETE FROM record")
        for resource in RESOURCES:
            after, page = 0, {"next": True}
            while page["next"]:
                page = get("/" + resource, after=after, page_size=1000)
                for record in page["data"]:
                    put(copy, resource, record)
                    after = record["id"]
        copy.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (cursor,))
    return cursor


def catch_up(copy):
    cursor = next(copy.execute("SELECT position FROM state"), [None])[0]
    more = True
    while more:
        try:
            cursor = cursor or read_everything(copy)
            page = get("/changes", after=cursor, resource=",".join(RESOURCES), records=1, page_size=1000)
        except CursorGone:
            cursor = None
            continue
        with copy:  # the records and the cursor together, or neither
            for change in page["data"]:
                if change["record"] is None:
                    copy.execute("DELETE FROM record WHERE resource = ? AND id = ?", (change["resource"], change["id"]))
                else:
                    put(copy, change["resource"], change["record"])
            copy.execute("UPDATE state SET position = ?", (page["cursor"],))
        cursor, more = page["cursor"], page["more"]


def main(file, follow=None, every="5"):
    copy = sqlite3.connect(file)
    copy.execute("CREATE TABLE IF NOT EXISTS record (resource TEXT, id INTEGER, data TEXT, PRIMARY KEY (resource, id))")
    copy.execute("CREATE TABLE IF NOT EXISTS state (one INTEGER PRIMARY KEY, position TEXT)")
    catch_up(copy)
    while follow == "--follow":
        time.sleep(float(every))
        catch_up(copy)
    for resource in RESOURCES:
        print(resource, *next(copy.execute("SELECT count(*) FROM record WHERE resource = ?", (resource,))))


main(*sys.argv[1:])
