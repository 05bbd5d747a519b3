"""A real IMAP server, Debian's dovecot, with one mailbox: TLS alone, on loopback, in a folder of its own.

It takes no root, and as root it serves mail as nobody, as it insists on.
"""

from __future__ import annotations

import grp
import imaplib
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

USER, PASSWORD = "pia@example.com", "pears-and-plums-for-pia"
_CONFIG = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
ssl = required
ssl_cert = <{folder}/cert.pem
ssl_key = <{folder}/key.pem
mail_location = maildir:{folder}/mail/%u
mail_uid = {mail_user}
mail_gid = {mail_group}
first_valid_uid = 0
first_valid_gid = 0
{users}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={mail_user} gid={mail_group} home={folder}/mail
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  client_limit = 100
}}
"""


class Dovecot:
    """The server.

    Args:
        folder: of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.authorities = folder / "cert.pem"
        self.port = 0
        self.password = PASSWORD
        self.capability = ""
        """What it says that it can, in place of all; as of the next start."""
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serve, on the port of before if there was one."""
        folder, root = self._folder, os.geteuid() == 0
        if not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            certificate, key = own_certificate()
            (folder / "cert.pem").write_bytes(certificate)
            (folder / "key.pem").write_bytes(key)
            (folder / "mail").mkdir()
            user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
            if root:
                user, group = "nobody", grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name
                os.chown(folder / "mail", pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)
            own = "" if root else f"default_internal_user = {user}\ndefault_login_user = {user}\n"
            own += "" if root else f"default_internal_group = {group}\n"
            text = _CONFIG.format(
                folder=folder, mail_user=user, mail_group=group, users=own, password=PASSWORD, port=self.port
            )
            (folder / "dovecot.conf").write_text(text)
        if self.capability:
            with (folder / "dovecot.conf").open("a") as file:
                file.write(f"imap_capability = {self.capability}\n")
        self._process = subprocess.Popen(
            [program(), "-F", "-c", str(folder / "dovecot.conf")], stdin=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None and time.monotonic() < deadline, self.log()
                time.sleep(0.05)

    def take_password(self, word: str) -> None:
        """Have another password; who is signed in has to do so again."""
        self.stop()
        config = self._folder / "dovecot.conf"
        config.write_text(config.read_text().replace(f"password={self.password}", f"password={word}"))
        self.password = word
        self.start()

    def stop(self) -> None:
        """Be gone."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def log(self) -> str:
        """What it wrote."""
        path = self._folder / "log"
        return path.read_text("utf-8", "replace") if path.exists() else "(no log)"

    def client(self) -> imaplib.IMAP4_SSL:
        """Somebody who is signed in."""
        context = ssl.create_default_context(cafile=str(self.authorities))
        client = imaplib.IMAP4_SSL("localhost", self.port, ssl_context=context, timeout=20)
        client.login(USER, self.password)
        return client

    def deliver(self, *mails: bytes) -> None:
        """Have mail come in."""
        client = self.client()
        for mail in mails:
            status, _ = client.append("INBOX", "", None, mail.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
            assert status == "OK"
        client.logout()

    def flags(self) -> list[bytes]:
        """What is marked of each mail."""
        client = self.client()
        client.select("INBOX", readonly=True)
        _, found = client.fetch("1:*", "(FLAGS)")
        client.logout()
        return [one for one in found if isinstance(one, bytes)]

    def count_anew(self) -> None:
        """Give the mailbox other UIDs under another UIDVALIDITY, as a server does that was rebuilt."""
        self.stop()
        for path in list((self._folder / "mail").rglob("dovecot*")):
            path.unlink()
        self.start()


def own_certificate(*names: str) -> tuple[bytes, bytes]:
    """Of these names, or of localhost, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(one) for one in names or ("localhost",)]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    return made.public_bytes(encoding), key.private_bytes(encoding, form, serialization.NoEncryption())


def program() -> str:
    """Where dovecot is; "" where it is not."""
    found = shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    return found or ""


@contextmanager
def running_dovecot() -> Iterator[Dovecot]:
    """A server with an empty mailbox."""
    folder = Path(tempfile.mkdtemp(prefix="dovecot"))
    folder.chmod(0o755)
    server = Dovecot(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
