"""A certificate authority of the tests, and a server's certificate from it for 127.0.0.1 and ``service.test``.

Made once with openssl (P-256, valid for a century); the authority's own key was not kept.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

AUTHORITY: Final = """\
-----BEGIN CERTIFICATE-----
MIIBijCCATCgAwIBAgIUStEwOabtx4/j/jD06BleCs3rakUwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXcnVud2F0Y2ggdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMDEy
MjI1WhgPMjEyNjEwMjgwMTIyMjVaMCIxIDAeBgNVBAMMF3J1bndhdGNoIHRlc3Qg
YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmawvOZEJe0H13CkO
nbO9SfQvHljffsll5LgRDX8fLyPPa2rl3RYOwZC20CNgFz2ymheenKuv/L680Ttg
2EtRl6NCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0O
BBYEFBmKyDKtbQN+PFn6QWDY5q97fjeAMAoGCCqGSM49BAMCA0gAMEUCIQDARRVY
D6N7P6ixnLgs1RerPHEsjjwNaXlSECokAy9QcgIgVhC0DJTRaxucBtZnJF9v13Sb
5ZGpVd+YDM+/blFTh4w=
-----END CERTIFICATE-----
"""

SERVER: Final = """\
-----BEGIN CERTIFICATE-----
MIIB0zCCAXmgAwIBAgIUV63OrbECheaYmWxNA01OR7a+sKwwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXcnVud2F0Y2ggdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMDEy
MjI1WhgPMjEyNjEwMjgwMTIyMjVaMBcxFTATBgNVBAMMDHNlcnZpY2UudGVzdDBZ
MBMGByqGSM49AgEGCCqGSM49AwEHA0IABBv2SB1+L2VCRis3C2tqFbm6yau5m4Fh
7ICWBAwR9MT8NU4nhYXsJSzWto3JRhLDGarkzEReyqkOTYBo3w6z0/6jgZUwgZIw
DAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwEwYDVR0lBAwwCgYIKwYBBQUH
AwEwHQYDVR0OBBYEFHlH2Avo/6aUT+lBOx74d+cXLULfMB8GA1UdIwQYMBaAFBmK
yDKtbQN+PFn6QWDY5q97fjeAMB0GA1UdEQQWMBSHBH8AAAGCDHNlcnZpY2UudGVz
dDAKBggqhkjOPQQDAgNIADBFAiEAoMgajdYFkmFc3Why3UlL9/W3dUdztV4sbABd
yPM4z6oCIErC0t2ixJaa9yosFxYgiX/ewTPB65dlHcaf/QobjQ13
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJhbwagaf7dVXD9r8
RoPLasHtbP6MV7UMUqIbzof3Vp+hRANCAAQb9kgdfi9lQkYrNwtrahW5usmruZuB
YeyAlgQMEfTE/DVOJ4WF7CUs1raNyUYSwxmq5MxEXsqpDk2AaN8Os9P+
-----END PRIVATE KEY-----
"""


def server_context(directory: Path) -> ssl.SSLContext:
    """What a server with the certificate speaks TLS with; the directory is for files that ssl wants to read."""
    path = directory / "server.pem"
    path.write_text(SERVER)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def authority_file(directory: Path) -> Path:
    path = directory / "authority.pem"
    path.write_text(AUTHORITY)
    return path
