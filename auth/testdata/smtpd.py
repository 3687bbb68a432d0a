"""A mail server for one test: prints its port, then each mail it takes.

usage: smtpd.py plain | starttls CERT KEY | smtps CERT KEY
With TLS it wants the login anna / s3cret, and takes it under TLS only.
"""
import asyncio
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Printer:
    async def handle_DATA(self, server, session, envelope):
        print("from", envelope.mail_from, "to", *envelope.rcpt_tos, "tls", session.ssl is not None, flush=True)
        print(repr(envelope.content.decode()), flush=True)
        return "250 taken"


def authenticate(server, session, envelope, mechanism, data):
    ok = (data.login, data.password) == (b"anna", b"s3cret")
    return AuthResult(success=ok, handled=False)


async def main(mode, *files):
    context, options = None, {}
    if files:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        options = {"authenticator": authenticate, "auth_required": True}
    if mode == "starttls":
        options |= {"tls_context": context, "require_starttls": True}
    elif mode == "smtps":
        options["auth_require_tls"] = False  # it does not see the TLS around it
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(Printer(), **options), "127.0.0.1", 0,
        ssl=context if mode == "smtps" else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))
