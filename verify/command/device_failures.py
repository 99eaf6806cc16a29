"""Error numbers that are not faults of the input: a disk or a file system failed."""

import errno

_NAMES = (
    "EIO ENODEV ENOMEDIUM EUCLEAN EBADMSG ENOSPC EDQUOT EFBIG ENOMEM "
    "ESTALE EREMOTEIO ENOLINK ECOMM EPROTO ENONET ENOTCONN ESHUTDOWN ETIMEDOUT "
    "ECONNRESET ECONNABORTED ECONNREFUSED ENETDOWN ENETUNREACH ENETRESET EHOSTDOWN "
    "EHOSTUNREACH"
)
DEVICE_FAILURES = frozenset(
    getattr(errno, name) for name in _NAMES.split() if hasattr(errno, name)
)
