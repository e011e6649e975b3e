"""Writes an authority, and certificates with private keys for a server at 127.0.0.1 and a client, into
the folder that is named."""

import datetime
import ipaddress
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

FOLDER = pathlib.Path(sys.argv[1])
NOW = datetime.datetime.now(datetime.timezone.utc)


def certificate(name, issuer=None):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - datetime.timedelta(hours=1))
        .not_valid_after(NOW + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
    )
    made = builder.sign(issuer[1] if issuer else key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (FOLDER / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (FOLDER / f"{name}.key").write_bytes(private)
    return made, key


authority = certificate("ca")
certificate("server", authority)
certificate("client", authority)
