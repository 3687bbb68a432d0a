#!/usr/bin/env python3
"""A reference adapter: the frontdesk backend protocol, version 1, over SQLite.

It is what a vendor would write in the language of its own system, with nothing
but Python's standard library: four resources, their rules, idempotency keys and
users. docs/backend-protocol.md describes what it does.

    python3 adapter.py [--port N] [--gateway-rules] [--database FILE]
"""
import argparse
import hashlib
import json
import re
import sqlite3
import threading
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

TOKEN = "adapter-token"
USERS = {  # name: password, client, its name, external, e-mail address
    "anna": ("anna", 1, "Garage Anna", False, "anna@garage.example"),
    "bert": ("bert", 2, "Bert Auto's", False, "bert@garage.example"),
    "external": ("external", 1, "Garage Anna", True, "external@garage.example"),
    "noemail": ("noemail", 1, "Garage Anna", False, None),
    "bademail": ("bademail", 1, "Garage Anna", False, "anna@"),
}
COMMON = ["is_system", "is_blocked", "is_archived", "created_at", "modified_at"]
# Fields in the order of the interface's model, which answers keep.
FIELDS = {
    "turnovergroup": "id code description vat_kind ledger_account ledger_account_eu ledger_account_export".split(),
    "contact": ("id number kind name first_name infix initials company_number vat_number language birth_date "
                "payment_days is_customer is_supplier note").split(),
    "order": ("id number contact_id vehicle_id employee_id kind order_status order_date delivery_date mileage "
              "reference description invoice_number total_excl total_incl").split(),
    "orderline": ("id order_id sort_order article_id article_number description quantity unit_type price "
                  "discount_percentage turnover_group_id employee_id total").split(),
}
REFERENCES = {("order", "contact_id"): "contact", ("orderline", "order_id"): "order",
              ("orderline", "turnover_group_id"): "turnovergroup"}
UNIQUE = {"turnovergroup": "code"}
CLOSED = ("invoiced", "cancelled")


class Refusal(Exception):
    """A documented error: status, reason, message and, where one is meant, field."""

    def __init__(self, status, reason, message, field=None):
        super().__init__(message)
        self.status, self.reason, self.message, self.field = status, reason, message, field


def not_found(record_id):
    return Refusal(404, "record_not_found", f"Field: id value: {record_id} not found", "id")


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Books:
    """The administration. Every call is one transaction of one client."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        for name, fields in FIELDS.items():
            columns = ", ".join(f'"{f}"' for f in fields[1:] + COMMON)
            self.db.execute(f'CREATE TABLE IF NOT EXISTS "{name}" (id INTEGER PRIMARY KEY AUTOINCREMENT, '
                            f'client INTEGER NOT NULL, "_version" INTEGER NOT NULL, {columns})')
        self.db.execute("CREATE TABLE IF NOT EXISTS once (client INTEGER, key TEXT, sum TEXT, answer TEXT, "
                        "PRIMARY KEY (client, key))")

    def run(self, work):
        with self.lock:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                result = work()
                self.db.execute("COMMIT")
                return result
            except BaseException:
                self.db.execute("ROLLBACK")
                raise

    def row(self, client, name, record_id):
        row = self.db.execute(f'SELECT * FROM "{name}" WHERE id = ? AND client = ?', (record_id, client)).fetchone()
        if row is None:
            raise not_found(record_id)
        return row

    def record(self, name, row, fields=None):
        """A record as the protocol has it: the model's fields in order, then _version and whose it is."""
        known = FIELDS[name] + COMMON
        wanted = [f for f in known if fields is None or f in fields or f == "id"]
        record = {f: row[f] for f in wanted}
        if name == "order" and fields and "orderlines" in fields:
            lines = self.db.execute('SELECT * FROM orderline WHERE order_id = ? ORDER BY id', (row["id"],))
            record["orderlines"] = [self.record("orderline", line) for line in lines.fetchall()]
        record["_version"], record["_client"] = row["_version"], row["client"]
        return record

    def list(self, client, name, query):
        where, args = ["client = ?"], [client]
        for key, value in query.items():
            if key.startswith("filter.") and key[7:] in FIELDS[name] + COMMON:
                where.append(f'CASE typeof("{key[7:]}") WHEN \'text\' THEN "{key[7:]}" = ? ELSE "{key[7:]}" = CAST(? AS NUMERIC) END')
                args += [value, value]
        if "modified_since" in query:
            where.append("modified_at >= ?")
            args.append(query["modified_since"])
        condition = " AND ".join(where)
        answer = {"records": [], "more": False}
        if query.get("total") == "1":
            answer["total"] = self.db.execute(f'SELECT count(*) FROM "{name}" WHERE {condition}', args).fetchone()[0]
        if "after" in query:
            condition += " AND id > ?"
            args.append(int(query["after"]))
        keys = [k for k in query.get("sort", "").split(",") if k.lstrip("-") in FIELDS[name] + COMMON]
        order = ", ".join(f'"{k.lstrip("-")}"' + (" DESC" if k.startswith("-") else "") for k in keys + ["id"])
        limit = int(query.get("limit", 100))
        args += [limit + 1, int(query.get("offset", 0))]
        rows = self.db.execute(f'SELECT * FROM "{name}" WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?', args).fetchall()
        fields = query["fields"].split(",") if "fields" in query else None
        answer["records"] = [self.record(name, row, fields) for row in rows[:limit]]
        answer["more"] = len(rows) > limit
        return answer

    def create(self, client, name, body, key):
        total = hashlib.sha256(json.dumps([name, body], sort_keys=True).encode()).hexdigest()
        if key:
            kept = self.db.execute("SELECT sum, answer FROM once WHERE client = ? AND key = ?", (client, key)).fetchone()
            if kept and kept["sum"] != total:
                raise Refusal(422, "idempotency_reused", "Idempotency-Key was used with another body")
            if kept:
                return json.loads(kept["answer"]), True
        record = self.insert(client, name, body)
        if key:
            self.db.execute("INSERT INTO once VALUES (?, ?, ?, ?)", (client, key, total, json.dumps(record)))
        return record, False

    def insert(self, client, name, body):
        lines = body.pop("orderlines", [])
        self.judge(client, name, body)
        created = now()
        values = {"is_system": 0, "is_blocked": 0, "is_archived": 0, **body, "created_at": created, "modified_at": created}
        columns = ", ".join(f'"{c}"' for c in values)
        marks = ", ".join("?" * len(values))
        new = self.db.execute(f'INSERT INTO "{name}" (client, "_version", {columns}) VALUES (?, 1, {marks})',
                              [client, *values.values()]).lastrowid
        if name in ("contact", "order"):
            self.db.execute(f'UPDATE "{name}" SET number = ? WHERE id = ?', (f"{name[0].upper()}{new:06d}", new))
        for i, line in enumerate(lines):
            try:
                self.insert(client, "orderline", {**line, "order_id": new})
            except Refusal as r:
                field = f"orderlines[{i}].{r.field}"
                raise Refusal(r.status, r.reason, r.message.replace(f"Field: {r.field}", f"Field: {field}", 1), field)
        self.total(name, new)
        return self.record(name, self.row(client, name, new))

    def update(self, client, name, record_id, body, version):
        row = self.row(client, name, record_id)
        if version is not None and version != f'"{row["_version"]}"':
            raise Refusal(412, "precondition_changed", "Record has been changed")
        self.judge(client, name, body, row)
        values = {**body, "modified_at": now()}
        sets = ", ".join(f'"{c}" = ?' for c in values)
        self.db.execute(f'UPDATE "{name}" SET {sets}, "_version" = "_version" + 1 WHERE id = ?', [*values.values(), record_id])
        self.total(name, record_id)
        return self.record(name, self.row(client, name, record_id))

    def delete(self, client, name, record_id, version):
        row = self.row(client, name, record_id)
        if version is not None and version != f'"{row["_version"]}"':
            raise Refusal(412, "precondition_changed", "Record has been changed")
        self.judge_status(client, name, row)
        for (user, field), target in REFERENCES.items():
            if target == name and self.db.execute(f'SELECT 1 FROM "{user}" WHERE "{field}" = ?', (record_id,)).fetchone():
                raise Refusal(406, "in_use", f"Field: id in use at: {user}", "id")
        self.db.execute(f'DELETE FROM "{name}" WHERE id = ?', (record_id,))
        if name == "orderline":
            self.total("order", row["order_id"])

    def judge(self, client, name, body, before=None):
        """The rules: what is referred to exists, what is unique stays so, a closed order stays as it is."""
        for (user, field), target in REFERENCES.items():
            if user == name and body.get(field) is not None and not self.db.execute(
                    f'SELECT 1 FROM "{target}" WHERE id = ? AND client = ?', (body[field], client)).fetchone():
                raise Refusal(404, "related_id_not_found", f"Field: {field} value: {body[field]} ID not found", field)
        unique = UNIQUE.get(name)
        if unique in body:
            other = self.db.execute(f'SELECT id FROM "{name}" WHERE "{unique}" = ? AND client = ?', (body[unique], client)).fetchone()
            if other and (before is None or other["id"] != before["id"]):
                word = "value" if before is None else "Value"
                raise Refusal(409, "duplicate_value", f"Field: {unique} {word}: {body[unique]} has a duplicate illegal value", unique)
        self.judge_status(client, name, before or body)

    def judge_status(self, client, name, record):
        """A closed order keeps its lines. That it is itself left alone the gateway sees to, as it does of all that a record alone tells."""
        status = self.row(client, "order", record["order_id"])["order_status"] if name == "orderline" else None
        if status in CLOSED:
            raise Refusal(409, "status_forbids_change", f"order_status is {status}, cannot add/update/delete")

    def total(self, name, record_id):
        """Totals of a line, and of the order that it is of."""
        cents, order = Decimal("0.01"), record_id
        if name == "orderline":
            line = self.db.execute("SELECT * FROM orderline WHERE id = ?", (record_id,)).fetchone()
            part = Decimal(str(line["quantity"])) * Decimal(str(line["price"])) * (1 - Decimal(str(line["discount_percentage"] or 0)) / 100)
            self.db.execute("UPDATE orderline SET total = ? WHERE id = ?", (float(part.quantize(cents, ROUND_HALF_UP)), record_id))
            order = line["order_id"]
        if name in ("order", "orderline"):
            lines = self.db.execute("SELECT total FROM orderline WHERE order_id = ?", (order,)).fetchall()
            net = sum((Decimal(str(line["total"])) for line in lines), Decimal(0))
            gross = (net * Decimal("1.21")).quantize(cents, ROUND_HALF_UP)
            changed = ', "_version" = "_version" + 1' if name == "orderline" else ""
            self.db.execute(f'UPDATE "order" SET total_excl = ?, total_incl = ?{changed} WHERE id = ?', (float(net), float(gross), order))


class Adapter(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    books, own_rules = None, True

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                raise Refusal(401, "token_invalid", "Not authorized")
            self.route(urlsplit(self.path), json.loads(body) if body else {})
        except Refusal as r:
            error = {"errorCode": r.status, "message": r.message, "reason": r.reason}
            self.answer(r.status, {**error, "field": r.field} if r.field else error)
        except Exception as e:  # the gateway logs it and tells its clients nothing
            self.answer(500, {"errorCode": 500, "message": f"{type(e).__name__}: {e}", "reason": "internal_error"})

    do_GET = do_POST = do_PATCH = do_DELETE = serve

    def route(self, url, body):
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        if url.path == "/v1/health":
            return self.answer(200, {"status": "ok"})
        if url.path == "/v1/model":
            operations = {"operations": ["get", "list", "create", "update", "delete"]}
            return self.answer(200, {"protocol": 1, "name": "reference adapter", "version": "1.0", "own_rules": self.own_rules,
                                     "idempotency": True, "describes_model": False, "tells_client": True,
                                     "resources": {r: operations for r in FIELDS}})
        if url.path == "/v1/login" and self.command == "POST":
            user = USERS.get(body.get("username"))
            if user is None or user[0] != body.get("password"):
                raise Refusal(401, "credentials_invalid", "Not authorized")
            return self.answer(200, self.user(body["username"]))
        if m := re.fullmatch(r"/v1/users/([^/]+)", url.path):
            if unquote(m[1]) not in USERS:
                raise Refusal(404, "record_not_found", f"Field: username value: {unquote(m[1])} not found", "username")
            return self.answer(200, self.user(unquote(m[1])))
        m = re.fullmatch(r"/v1/records/([a-z]+)(?:/([1-9][0-9]*))?", url.path)
        if not m or m[1] not in FIELDS or (self.command == "POST") == bool(m[2]) and self.command != "GET":
            raise Refusal(400, "endpoint_unknown", f"Invalid endpoint: {url.path}")
        client, name, version = int(self.headers["Frontdesk-Client"]), m[1], self.headers.get("If-Match")
        record_id, books = int(m[2] or 0), self.books
        fields = query["fields"].split(",") if "fields" in query else None
        if self.command == "GET" and record_id:
            self.answer(200, books.run(lambda: books.record(name, books.row(client, name, record_id), fields)))
        elif self.command == "GET":
            self.answer(200, books.run(lambda: books.list(client, name, query)))
        elif self.command == "POST":
            record, again = books.run(lambda: books.create(client, name, body, self.headers.get("Idempotency-Key")))
            self.answer(201, record, {"Idempotent-Replayed": "true"} if again else {})
        elif self.command == "PATCH":
            self.answer(200, books.run(lambda: books.update(client, name, record_id, body, version)))
        else:
            books.run(lambda: books.delete(client, name, record_id, version))
            self.answer(204, None)

    def user(self, name):
        _, client, client_name, external, email = USERS[name]
        return {"id": client, "username": name, "email": email, "client_id": client,
                "client_name": client_name, "external": external, "blocked": False}

    def answer(self, status, body, headers=None):
        data = b"" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *args):
        pass


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--gateway-rules", action="store_true", help="leave the rules to the gateway")
    options.add_argument("--database", default=":memory:")
    options = options.parse_args()
    Adapter.books, Adapter.own_rules = Books(options.database), not options.gateway_rules
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Adapter)
    server.daemon_threads = True
    print(f"ready: http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
