"""The authority that machines trust in addition to the system's: it vouches for the proxy, where it may open TLS.

Layer: egress. Its key is made when the daemon first needs it, lives in memory, and is never written anywhere. Machines
do not outlive the daemon, so nobody is left who trusts a key that is gone.
"""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAY = timedelta(days=1)
_DAYS = 365
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep the certificates that they trust, in one file."""


class Authority:
    """Makes the certificates that the proxy shows inside. Made once a workspace, which takes about a millisecond."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Stead workspace authority")])
        self._certificate = self._begin(self._name, self._key, signs=True).sign(self._key, hashes.SHA256())
        self.context = lru_cache(maxsize=64)(self._make_context)
        """How to be a host towards a machine."""

    def bundle(self) -> str:
        """What machines trust, as PEM: the system's certificates, as far as it keeps them in one file, and this one."""
        own = self._certificate.public_bytes(serialization.Encoding.PEM).decode()
        found = next((path for path in _BUNDLES if os.path.exists(path)), None)
        return f"{Path(found).read_text('utf-8').rstrip()}\n{own}" if found else own

    def _make_context(self, host: str) -> ssl.SSLContext:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        leaf = self._begin(name, self._leaf_key, signs=False)
        leaf = leaf.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        leaf = leaf.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        key = self._leaf_key.private_bytes(encoding, form, serialization.NoEncryption())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        fd = os.memfd_create("leaf", os.MFD_CLOEXEC)  # the library reads files only
        try:
            os.write(fd, key + leaf.sign(self._key, hashes.SHA256()).public_bytes(encoding))
            context.load_cert_chain(f"/proc/self/fd/{fd}")
        finally:
            os.close(fd)
        return context

    def _begin(self, name: x509.Name, key: ec.EllipticCurvePrivateKey, *, signs: bool) -> x509.CertificateBuilder:
        """A certificate for a key that signs certificates, or proves who one is."""
        # Digital signature, four that are never needed, signing of certificates and of lists, two more.
        usage = x509.KeyUsage(not signs, False, False, False, False, signs, signs, False, False)
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(now + _DAYS * _DAY)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.BasicConstraints(ca=signs, path_length=0 if signs else None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
