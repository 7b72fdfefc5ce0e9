"""The service by HTTP: end points, who may use them, and the page."""
