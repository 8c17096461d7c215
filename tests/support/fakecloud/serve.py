"""Serve the provider as Terraform's plugin protocol wants it, as well-kept providers do.

Unlike the runner of the `tf` package it goes on serving after an interrupt (the call in flight ends first), has threads
for many calls that hang, and leaves nothing in the user's home.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc  # type: ignore[import-untyped]
from tf.gen import grpc_controller_pb2, grpc_controller_pb2_grpc, grpc_stdio_pb2_grpc, tfplugin_pb2, tfplugin_pb2_grpc
from tf.provider import ProviderServicer

from tests.support.fakecloud import SOURCE
from tests.support.fakecloud.provider import FakeCloudProvider

_THREADS = 256  # a call that hangs keeps one
_PROTOCOL = 6


class _Provider(ProviderServicer):
    def StopProvider(self, request: object, context: object) -> object:  # noqa: N802  the protocol's name
        self.app.stop()
        return tfplugin_pb2.StopProvider.Response()


class _Controller(grpc_controller_pb2_grpc.GRPCControllerServicer):
    def __init__(self, asked_to_end: threading.Event) -> None:
        self.asked_to_end = asked_to_end

    def Shutdown(self, request: object, context: object) -> object:  # noqa: N802
        self.asked_to_end.set()
        return grpc_controller_pb2.Empty()


class _Stdio(grpc_stdio_pb2_grpc.GRPCStdioServicer):
    def StreamStdio(self, request: object, context: object) -> object:  # noqa: N802
        return iter(())


def serve_plugin(provider: FakeCloudProvider) -> None:
    """Serve the engine that started this process, until it says so or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is the engine's business
    engine = os.getppid()
    asked_to_end = threading.Event()
    with tempfile.TemporaryDirectory(prefix="fakecloud-") as folder:
        socket = Path(folder) / "plugin"
        certificate, key = _certificate()
        server = _server(provider, asked_to_end)
        pem = grpc.ssl_server_credentials([(key, certificate)])
        server.add_secure_port(f"unix://{socket}", pem)
        server.start()
        encoded = base64.b64encode(_der(certificate)).decode().rstrip("=")
        _say(f"1|{_PROTOCOL}|unix|{socket}|grpc|{encoded}")
        while not asked_to_end.wait(0.2) and os.getppid() == engine:
            pass
        server.stop(grace=0.1).wait()
    os._exit(0)  # hanging calls keep their threads: the interpreter would wait for them


def serve_reattached(provider: FakeCloudProvider, socket: Path) -> None:
    """Serve any number of engines until standard input ends; print what TF_REATTACH_PROVIDERS must hold."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = _server(provider, threading.Event())
    server.add_insecure_port(f"unix://{socket}")
    server.start()
    address = {"Network": "unix", "String": str(socket)}
    attach = {"Protocol": "grpc", "ProtocolVersion": _PROTOCOL, "Pid": os.getpid(), "Test": True, "Addr": address}
    _say(json.dumps({SOURCE: attach}))
    sys.stdin.read()
    os._exit(0)


def _server(provider: FakeCloudProvider, asked_to_end: threading.Event) -> grpc.Server:
    server = grpc.server(ThreadPoolExecutor(_THREADS))
    tfplugin_pb2_grpc.add_ProviderServicer_to_server(_Provider(provider), server)
    grpc_controller_pb2_grpc.add_GRPCControllerServicer_to_server(_Controller(asked_to_end), server)
    grpc_stdio_pb2_grpc.add_GRPCStdioServicer_to_server(_Stdio(), server)
    return server


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _certificate() -> tuple[bytes, bytes]:
    """Make a certificate for this process alone: (certificate, key), both PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


def _der(certificate: bytes) -> bytes:
    body = b"".join(line for line in certificate.splitlines() if not line.startswith(b"-----"))
    return base64.b64decode(body)
