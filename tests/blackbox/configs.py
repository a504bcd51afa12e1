"""Pieces of trilith.toml."""


def one_upstream(upstream, dialect: str) -> str:
    """A configuration whose only provider is `upstream`."""
    return f"""
[[providers]]
name = "up"
dialect = "{dialect}"
base_url = "{upstream.base_url}/v1"
api_key = "upstream-secret"

[[models]]
name = "*"
targets = [{{ provider = "up", model = "*" }}]
"""


def provider(name: str, upstream, dialect: str, extra: str = "") -> str:
    """A configured provider; `upstream` has a `base_url`."""
    return f"""
[[providers]]
name = "{name}"
dialect = "{dialect}"
base_url = "{upstream.base_url}/v1"
api_key = "secret-of-{name}"
{extra}
"""


def model(pattern: str, *targets: str) -> str:
    """A configured model; a target is the name of a provider, or PROVIDER=MODEL."""
    pairs = [(target.split("=") + ["*"])[:2] for target in targets]
    listed = ", ".join(f'{{ provider = "{name}", model = "{there}" }}' for name, there in pairs)
    return f'[[models]]\nname = "{pattern}"\ntargets = [{listed}]\n'
