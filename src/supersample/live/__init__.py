"""A service that watches streams: rows come in, a history is kept, alarms go out.

`Client` sends rows and asks for alarms; the service itself is started by `supersample watch`.
"""

from supersample.live.client import Client, ServiceError

__all__ = ["Client", "ServiceError"]
