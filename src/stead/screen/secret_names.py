"""Secrets without a shape of their own, by the issuer's name that stands before them, as data.

Layer: screen. Data only; ``detection`` applies it. Sources and attribution as in ``secret_rules``.
"""

from __future__ import annotations

from stead.screen.secret_rules import SEPARATOR, UUID, Rule

_HEX = "[a-f0-9]"
_LOW = "[a-z0-9]"
_EXT = "[a-z0-9_=-]"

NAMED: tuple[tuple[str, str, str, float], ...] = (
    ("adafruit-key", "adafruit", "[a-z0-9_-]{32}", 0),
    ("adobe-client-id", "adobe", f"{_HEX}{{32}}", 2.5),
    ("airtable-key", "airtable", f"{_LOW}{{17}}", 2.5),
    ("algolia-key", "algolia", f"{_LOW}{{32}}", 2.5),
    ("alibaba-secret", "alibaba|aliyun", f"{_LOW}{{30}}", 2.5),
    ("asana-id", "asana", "[0-9]{16}", 2),
    ("asana-secret", "asana", f"{_LOW}{{32}}", 2.5),
    ("atlassian-key", "atlassian|confluence|jira", f"{_LOW}{{20}}[a-f0-9]{{4}}", 3.2),
    ("beamer-token", "beamer", f"b_{_EXT}{{44}}", 3),
    ("bitbucket-id", "bitbucket", f"{_LOW}{{32}}", 2.5),
    ("bitbucket-secret", "bitbucket", f"{_EXT}{{64}}", 3),
    ("bittrex-key", "bittrex", f"{_LOW}{{32}}", 2.5),
    ("codecov-token", "codecov", f"{_LOW}{{32}}|{UUID}", 2.5),
    ("cloudflare-key", "cloudflare", "[a-z0-9_-]{40}", 2.5),
    ("cloudflare-global-key", "cloudflare", f"{_HEX}{{37}}", 2.5),
    ("cohere-key", "cohere|co_api_key", f"{_LOW}{{40}}", 3.5),
    ("coinbase-token", "coinbase", "[a-z0-9_-]{64}", 3),
    ("confluent-key", "confluent", f"{_LOW}{{16}}", 2.5),
    ("confluent-secret", "confluent", "[a-z0-9+/]{64}", 3),
    ("contentful-token", "contentful", f"{_EXT}{{43}}", 3),
    ("datadog-key", "datadog|dd_a[a-z]{2}_key", f"{_LOW}{{40}}|{_HEX}{{32}}", 2.5),
    ("discord-token", "discord", f"{_HEX}{{64}}", 2.5),
    ("discord-id", "discord", "[0-9]{17,19}", 2),
    ("discord-secret", "discord", f"{_EXT}{{32}}", 2.2),
    ("drone-token", "droneci|drone_", f"{_LOW}{{32}}", 2.5),
    ("dropbox-token", "dropbox", f"{_LOW}{{15}}", 2.5),
    ("dropbox-long-token", "dropbox", f"{_LOW}{{11}}AAAAAAAAAA{_EXT}{{43}}", 2.5),
    ("etsy-key", "etsy", f"{_LOW}{{24}}", 3),
    ("facebook-secret", "facebook", f"{_HEX}{{32}}", 2.8),
    ("fastly-token", "fastly", f"{_EXT}{{32}}", 2.5),
    ("finicity-token", "finicity", f"{_HEX}{{32}}", 2.5),
    ("finicity-secret", "finicity", f"{_LOW}{{20}}", 2.5),
    ("finnhub-token", "finnhub", f"{_LOW}{{20}}", 2.5),
    ("flickr-token", "flickr", f"{_LOW}{{32}}", 2.5),
    ("freshbooks-token", "freshbooks", f"{_LOW}{{64}}", 3),
    ("gitter-token", "gitter", "[a-z0-9_-]{40}", 2.5),
    ("gocardless-token", "gocardless", f"(?:live|sandbox)_{_EXT}{{40}}", 3),
    ("heroku-key", "heroku", UUID, 2.5),
    ("hubspot-key", "hubspot", UUID, 2.5),
    ("intercom-key", "intercom", f"{_EXT}{{60}}", 3),
    ("jfrog-key", "jfrog|artifactory|bintray|xray", f"{_LOW}{{73}}", 3),
    ("jfrog-identity-token", "jfrog|artifactory|bintray|xray", f"{_LOW}{{64}}", 3),
    ("kraken-token", "kraken", "[a-z0-9/=_+-]{80,90}", 3),
    ("kucoin-token", "kucoin", f"{_HEX}{{24}}", 2.5),
    ("kucoin-secret", "kucoin", UUID, 2.5),
    ("launchdarkly-token", "launchdarkly", f"{_EXT}{{40}}", 2.5),
    ("linear-secret", "linear", f"{_HEX}{{32}}", 2.5),
    ("linkedin-id", "linked[_-]?in", f"{_LOW}{{14}}", 2.5),
    ("linkedin-secret", "linked[_-]?in", f"{_LOW}{{16}}", 2.5),
    ("lob-key", "lob", f"(?:live|test)_(?:{_HEX}{{35}}|pub_{_HEX}{{31}})", 2.5),
    ("looker-id", "looker", f"{_LOW}{{20}}", 2.5),
    ("looker-secret", "looker", f"{_LOW}{{24}}", 2.5),
    ("mailgun-signing-key", "mailgun", "[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}", 2.5),
    ("mapbox-token", "mapbox", r"pk\.[a-z0-9]{60}\.[a-z0-9]{22}", 3),
    ("mattermost-token", "mattermost", f"{_LOW}{{26}}", 2.5),
    ("meraki-key", "meraki", f"{_HEX}{{40}}", 3),
    ("messagebird-id", "message[_-]?bird", UUID, 2.5),
    ("messagebird-token", "message[_-]?bird", f"{_LOW}{{25}}", 2.5),
    ("mistral-key", "mistral", f"{_LOW}{{32}}", 3),
    ("netlify-token", "netlify", f"{_EXT}{{40,46}}", 2.5),
    ("new-relic-user-id", "new[_-]?relic", f"{_LOW}{{64}}", 3),
    ("nytimes-token", "nytimes|new-york-times|newyorktimes", f"{_EXT}{{32}}", 2.5),
    ("okta-token", "okta", r"00[\w=-]{40}", 3.5),
    ("plaid-id", "plaid", f"{_LOW}{{24}}", 3),
    ("plaid-secret", "plaid", f"{_LOW}{{30}}", 3),
    ("plaid-token", "plaid", f"access-(?:sandbox|development|production)-{UUID}", 2.5),
    ("privateai-token", "private[_-]?ai", f"{_LOW}{{32}}", 2.8),
    ("rapidapi-token", "rapidapi", "[a-z0-9_-]{50}", 3),
    ("sendbird-id", "sendbird", UUID, 2.5),
    ("sendbird-token", "sendbird", f"{_HEX}{{40}}", 2.5),
    ("sentry-token", "sentry", f"{_HEX}{{64}}", 2.8),
    ("snowflake-password", r"snowflake[\w.-]{0,20}passw", r"[^\s\"'<>{}$]{8,64}", 2.8),
    ("snyk-token", "snyk", UUID, 2.5),
    ("sonar-token", r"sonar[_.-]?(?:login|token)|sonar", f"(?:sq[upa]_)?{_EXT}{{40}}", 2.5),
    ("sourcegraph-key", "sourcegraph", f"{_HEX}{{40}}", 3),
    ("squarespace-token", "squarespace", UUID, 2.5),
    ("sumologic-id", "sumo", f"su{_LOW}{{12}}", 2.8),
    ("sumologic-key", "sumo", f"{_LOW}{{64}}", 3),
    ("travis-token", "travis", f"{_LOW}{{22}}", 2.5),
    ("trello-token", "trello", "[a-z0-9-]{32}", 2.5),
    ("twilio-auth-token", "twilio", f"{_HEX}{{32}}", 3),
    ("twitch-token", "twitch", f"{_LOW}{{30}}", 2.5),
    ("twitter-token", "twitter", "[0-9]{15,25}-[a-z0-9]{20,40}", 3),
    ("twitter-key", "twitter", f"{_LOW}{{25}}", 2.5),
    ("twitter-secret", "twitter", f"{_LOW}{{45}}|{_LOW}{{50}}", 3),
    ("twitter-bearer", "twitter", "A{22}[a-z0-9%]{80,100}", 2.5),
    ("yandex-key", "yandex", r"YC[\w-]{38}", 3),
    ("zendesk-key", "zendesk", f"{_LOW}{{40}}", 2.5),
)
"""Name of the rule, of the issuer in front, shape of the value, least entropy. Case does not count."""


_ALSO_IN_WORDS = frozenset({"etsy", "okta", "sumo", "lob", "meraki", "linear", "travis", "looker", "sonar", "drone"})
"""Names that occur inside ordinary words: they count only as a word, or as the part of a name in camel case."""


def _issuer(words: str) -> str:
    if words not in _ALSO_IN_WORDS:
        return f"(?:{words})"
    title = words.title()
    return f"(?-i:(?:^|[^A-Za-z])(?:{words}|{title}|{words.upper()})|[a-z]{title})"


def named_rules() -> tuple[Rule, ...]:
    """The rules for named values."""
    return tuple(
        Rule(
            id=rule,
            anchor=words,
            pattern=rf"(?i){_issuer(words)}{SEPARATOR}(?:bearer )?({shape})(?:[^a-z0-9_]|$)",
            entropy=entropy,
            check="named",
        )
        for rule, words, shape, entropy in NAMED
    )
