"""The shapes of secrets that issuers publish, as data.

Layer: screen. Data only; ``detection`` applies it. The patterns are ours, written from the issuers' own descriptions
of their keys. What to look for (which issuers, which prefixes and lengths) follows the public rules of gitleaks
(github.com/gitleaks/gitleaks, MIT licence), which gathered these facts; no pattern or sentence of theirs is used.
Unlike gitleaks, what may follow a secret is anything that could not be part of it: a tool that redacts meets secrets in
URLs and in the middle of sentences.

A token says by itself what it is (``ghp_...``), so its prefix is enough. A named value (``secret_names``) has no
shape of its own: its issuer's name must stand before it.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Rule(msgspec.Struct, frozen=True):
    """One shape.

    Args:
        id: stable name, shown in place of what was found.
        anchor: what must occur before the pattern is tried at all; case does not count.
        pattern: bytes pattern in the subset of ``engine``; group 1 is the secret.
        entropy: least Shannon entropy of the secret in bits a character; 0 asks for none.
        check: what else is asked of a find: ``named`` wants a digit, ``assigned`` judges name and value,
            ``password`` and ``userinfo`` turn placeholders away, ``base64`` wants whole groups of four, ``encoded-jwt``
            looks inside, ``header`` wants what no name in a program has, ``exact`` asks for nothing.
        before: bytes before the anchor in which a match can begin.
        after: bytes after the anchor's begin in which a match can end.
    """

    id: str
    anchor: str
    pattern: str
    entropy: float = 0.0
    check: Literal["token", "named", "assigned", "password", "userinfo", "base64", "encoded-jwt", "header", "exact"] = (
        "token"
    )
    before: int = 160
    after: int = 1400


_LEFT = r"(?:^|[^A-Za-z0-9]|\\[nrtu]|%[0-9A-Fa-f]{2})"
_END = r"(?:[^A-Za-z0-9_~-]|$)"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
SEPARATOR = r"[\w .\t-]{0,40}[\\\"'`\]\s]{0,6}(?:\|\||\?=|[=:>,(])[=:>]{0,3}[\\\"'`\s=(]{0,12}"

TOKENS: tuple[tuple[str, str, str, float], ...] = (
    ("1password-secret-key", "a3-", "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", 3.6),
    ("1password-service-account", "ops_eyj", "ops_eyJ[A-Za-z0-9+/_-]{200,800}={0,3}", 4),
    ("adobe-client-secret", "p8e-", "p8e-[A-Za-z0-9_-]{32}", 2.5),
    ("age-secret-key", "age-secret-key-1", "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", 0),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", 3),
    ("alibaba-access-key", "ltai", "LTAI[A-Za-z0-9]{12,26}", 2.5),
    ("anthropic-key", "sk-ant-", "sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{93}AA", 3),
    ("anthropic-oauth", "sk-ant-o", "sk-ant-o[a-z]{2}[0-9]{2}-[A-Za-z0-9_-]{80,120}", 3),
    ("artifactory-api-key", "akcp", "AKCp[A-Za-z0-9]{69}", 4),
    ("artifactory-reference-token", "cmvmd", "cmVmd[A-Za-z0-9]{59}", 4),
    ("atlassian-token", "atatt3", "ATATT3[A-Za-z0-9_=-]{180,220}", 3.5),
    ("bitbucket-app-password", "atbb", "ATBB[A-Za-z0-9_=.-]{24,64}", 3.5),
    (
        "authress-key",
        "[_-]?acc[_-]",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,120}",
        2,
    ),
    ("aws-access-key", "a3t|akia|asia|abia|acca", "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", 3),
    ("aws-bedrock-key", "absk", "ABSK[A-Za-z0-9+/]{100,280}={0,2}", 3),
    (
        "aws-bedrock-short-key",
        "bedrock-api-key-",
        "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]{0,900}",
        3,
    ),
    ("azure-client-secret", r"[0-9]q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", 3),
    ("azure-devops-token", "azdo", "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", 3.5),
    ("azure-storage-key", "accountkey=", "AccountKey=[A-Za-z0-9+/]{86}==", 4),
    ("brevo-key", "xkeysib-", "xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", 3),
    ("clickhouse-cloud-key", "4b1d", "4b1d[A-Za-z0-9]{38}", 3),
    ("clojars-token", "clojars_", "CLOJARS_[A-Za-z0-9]{60}", 2),
    ("cloudflare-origin-ca-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", 3),
    ("databricks-token", "dapi", "dapi[a-f0-9]{32}(?:-[0-9])?", 3),
    ("defined-networking-token", "dnkey-", "dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}", 3),
    ("digitalocean-token", "do[opr]_v1_", "do[opr]_v1_[a-f0-9]{64}", 3),
    ("discord-bot-token", r"[mno][a-z0-9_-]{22,26}\.", r"[MNO][\w-]{22,26}\.[\w-]{6}\.[\w-]{27,38}", 4),
    ("docker-hub-token", "dckr_", "dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,56}", 3),
    ("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,80}", 3),
    ("dropbox-short-lived-token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_=-]{130,1000}", 4),
    ("duffel-token", "duffel_", "duffel_(?:test|live)_[A-Za-z0-9_=-]{43}", 3),
    ("dynatrace-token", "dt0[a-z]", r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}", 4),
    ("easypost-key", "ezak|eztk", "EZ[AT]K[A-Za-z0-9]{54}", 3.5),
    ("facebook-page-token", "eaa[mc]", "EAA[MC][A-Za-z0-9]{100,400}", 4),
    ("facebook-app-token", r"[0-9]{15}(?:\||%)", r"[0-9]{15,16}(?:\||%7C|%)[A-Za-z0-9_-]{27,40}", 3),
    ("figma-token", "fig[dur]_", "fig[dur]_[A-Za-z0-9_-]{36,60}", 3),
    ("flutterwave-key", "flw", "FLW(?:SECK|PUBK)(?:_TEST)?-(?:[a-h0-9]{32}-X|[a-h0-9]{12})", 2),
    (
        "fly-token",
        "fo1_|fm1|fm2_",
        r"(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{100,900}={0,3}|fm2_[A-Za-z0-9+/]{100,900}={0,3})",
        4,
    ),
    ("frameio-token", "fio-u-", "fio-u-[A-Za-z0-9_=-]{64}", 3),
    ("gcp-api-key", "aiza", r"AIza[\w-]{35}", 4),
    ("gcp-oauth-secret", "gocspx-", r"GOCSPX-[\w-]{28}", 3),
    ("gcp-oauth-token", r"ya29\.", r"ya29\.[\w-]{40,900}", 4),
    ("github-token", "gh[pousr]_", "gh[pousr]_[0-9A-Za-z]{36,255}", 3),
    ("github-fine-grained-token", "github_pat_", r"github_pat_\w{82,255}", 3),
    ("gitlab-ci-job-token", "glcbt-", r"glcbt-[0-9a-zA-Z]{1,5}_[\w-]{20,300}", 3),
    ("gitlab-pipeline-trigger", "glptt-", "glptt-[0-9a-f]{40}", 3),
    ("gitlab-routable-token", "glpat-|glrt-", r"gl(?:pat|rt)-(?:t[0-9]_)?[\w-]{20,300}(?:\.[0-9a-z]{9})?", 3),
    ("gitlab-runner-registration", "gr1348941", r"GR1348941[\w-]{20,50}", 3),
    ("gitlab-session", "_gitlab_session=", "_gitlab_session=[0-9a-z]{32}", 3),
    (
        "gitlab-token",
        "gl(?:dt|ffct|ft|imt|agent|oas|soat|wt)-",
        r"gl(?:dt|ffct|ft|imt|agent|oas|soat|wt)-[\w-]{20,300}",
        3,
    ),
    ("grafana-api-key", "eyjrijoi", "eyJrIjoi[A-Za-z0-9]{60,400}={0,3}", 3),
    ("grafana-cloud-token", "glc_", "glc_[A-Za-z0-9+/]{32,400}={0,3}", 3.2),
    ("grafana-service-account", "glsa_", "glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", 3),
    ("groq-key", "gsk_", "gsk_[A-Za-z0-9]{48,60}", 4),
    ("harness-token", r"[ps]at\.[a-z0-9_-]{22}\.", r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", 3),
    ("heroku-platform-key", "hrku-aa", r"HRKU-AA[\w-]{58}", 4),
    ("hubspot-private-app", "pat-(?:na|eu)[0-9]", f"pat-(?:na|eu)[0-9]-{UUID}", 3),
    ("huggingface-token", "hf_|api_org_", "(?:hf|api_org)_[A-Za-z]{34}", 3),
    ("intra42-secret", "s-s4t2", "s-s4t2(?:ud|af)-[a-f0-9]{64}", 3),
    ("jwt", r"ey[a-z0-9_-]{15,}\.ey", r"ey[A-Za-z0-9_-]{15,}\.ey[\w/\\-]{15,}\.(?:[\w/\\+-]{10,}={0,2})?", 3),
    ("linear-key", "lin_(?:api|oauth)_", "lin_(?:api|oauth)_[A-Za-z0-9]{40,64}", 3),
    ("mailchimp-key", "-us[0-9]", "[a-f0-9]{32}-us[0-9]{1,2}", 3),
    ("mailgun-key", "key-[0-9a-f]{8}", "(?:pub)?key-[a-f0-9]{32}", 3),
    ("mapbox-secret-token", r"sk\.eyj", r"sk\.eyJ[\w-]{60,200}\.[\w-]{20,40}", 4),
    ("maxmind-key", "_mmk", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", 4),
    ("new-relic-key", "nr(?:ak|js|ii|ra|ll)-", "NR(?:AK|JS|II|RA|LL)-[A-Za-z0-9-]{19,40}", 3),
    ("notion-token", "ntn_|secret_[a-z0-9]{43}", "(?:ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})", 4),
    ("npm-token", "npm_", "npm_[A-Za-z0-9]{36}", 3),
    ("nvidia-key", "nvapi-", r"nvapi-[\w-]{60,80}", 4),
    ("octopus-deploy-key", "api-[a-z0-9]{26}", "API-[A-Z0-9]{26}", 3),
    ("openai-key", "t3blbkfj", r"sk-(?:(?:proj|svcacct|admin)-)?[\w-]{20,100}T3BlbkFJ[\w-]{20,100}", 3),
    ("openai-project-key", "sk-(?:proj|svcacct|admin)-", r"sk-(?:proj|svcacct|admin)-[\w-]{100,200}", 4),
    ("openrouter-key", "sk-or-v1-", "sk-or-v1-[a-f0-9]{64}", 3),
    ("openshift-token", "sha256~", r"sha256~[\w-]{43}", 3.5),
    ("paypal-token", r"access_token\$production", r"access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}", 3),
    ("perplexity-key", "pplx-", "pplx-[A-Za-z0-9]{48}", 4),
    ("planetscale-secret", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}", 3),
    ("postman-key", "pmak-", "PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}", 3),
    ("prefect-key", "pn[ub]_", "pn[ub]_[A-Za-z0-9]{36}", 3),
    ("pulumi-token", "pul-", "pul-[a-f0-9]{40}", 2.5),
    ("pypi-token", "pypi-ageichlwas5vcmc", r"pypi-AgEIcHlwaS5vcmc[\w-]{50,900}", 3),
    ("readme-key", "rdme_", "rdme_[a-z0-9]{70}", 3),
    ("replicate-token", "r8_", "r8_[A-Za-z0-9]{37}", 4),
    ("rubygems-key", "rubygems_", "rubygems_[a-f0-9]{48}", 3),
    ("scalingo-token", "tk-us-", r"tk-us-[\w-]{48}", 3),
    ("sendgrid-key", r"sg\.", r"SG\.[\w=.-]{66}", 3),
    ("sentry-org-token", "sntrys_ey", "sntrys_ey[A-Za-z0-9+/]{30,500}={0,2}_[A-Za-z0-9+/]{43}", 4),
    ("sentry-user-token", "sntryu_", "sntryu_[a-f0-9]{64}", 3.2),
    ("settlemint-token", "sm_[aps]at_", "sm_[aps]at_[A-Za-z0-9]{16}", 3),
    ("shippo-key", "shippo_", "shippo_(?:live|test)_[a-fA-F0-9]{40}", 3),
    ("shopify-token", "shp(?:at|ca|pa|ss)_", "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", 2.5),
    ("slack-app-token", "xapp-", "(?i:xapp-[0-9]-[A-Z0-9]{1,20}-[0-9]{1,20}-[a-z0-9]{20,100})", 2.5),
    ("slack-config-token", "xoxe", r"(?i:xoxe(?:\.xox[bp])?-[0-9]-[A-Z0-9]{140,170})", 2.5),
    ("slack-cookie", "xoxd-", r"xoxd-[A-Za-z0-9%+/]{60,300}", 3.5),
    ("slack-token", "xox[bpe]-", "xox[bpe](?:-[0-9]{7,14}){1,4}-[0-9]{0,8}[A-Za-z][A-Za-z0-9-]{14,64}", 2.6),
    ("slack-legacy-token", "xox[os]-", "xox[os](?:-[0-9]{5,14}){3}-[a-f0-9]{8,64}", 2.6),
    ("slack-workspace-token", "xox[ar]-", "xox[ar]-(?:[0-9]-)?(?:[0-9]{5,14}-){0,3}[0-9A-Za-z]{8,48}", 2.6),
    (
        "slack-webhook",
        r"hooks\.slack\.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,60}",
        0,
    ),
    ("sourcegraph-token", "sgp_", "sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}", 3),
    ("square-token", "sq0[a-z]{3}-|eaaa", r"(?:EAAA[\w-]{54,64}|sq0(?:atp|csp|idp)-[\w\\^\[\]-]{20,60})", 3),
    ("stripe-key", "[sr]k_(?:test|live|prod)_", "[sr]k_(?:test|live|prod)_[A-Za-z0-9]{10,120}", 2.6),
    ("stripe-webhook-secret", "whsec_", "whsec_[A-Za-z0-9+/=]{32,80}", 3),
    ("supabase-key", "sb(?:p|_secret)_", "(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{31,50})", 3),
    (
        "teams-webhook",
        r"webhook\.office\.com",
        r"https://[a-z0-9]{1,63}\.webhook\.office\.com/webhookb2/[a-z0-9@-]{60,80}/IncomingWebhook/[a-z0-9]{20,40}/[a-z0-9-]{30,40}",
        0,
    ),
    ("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[\w-]{60,80}", 0),
    ("telegram-bot-token", "[0-9]{5}:a", r"[0-9]{5,16}:A[\w-]{34}", 4),
    ("terraform-token", "atlasv1", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}", 3.5),
    ("twilio-key", "(?:sk|ac)[0-9a-f]{32}", "(?:SK|AC)[0-9a-f]{32}", 3),
    ("typeform-token", "tfp_", r"tfp_[\w.=-]{40,80}", 3.5),
    ("vault-token", r"hv[bsr]\.", r"hv[bsr]\.[\w-]{24,300}", 3.5),
    ("vault-legacy-token", r"s\.[a-z0-9]{24}", r"s\.[A-Za-z0-9]{24}", 3.6),
    ("vercel-token", "vc[pkcair]_", "vc[pkcair]_[A-Za-z0-9]{24,60}", 3.5),
    ("xai-key", "xai-", "xai-[A-Za-z0-9]{70,90}", 4),
    ("yandex-token", r"t1\.|aqvn", r"(?:t1\.[A-Za-z0-9_-]{1,200}={0,2}\.[\w-]{86}={0,2}|AQVN[\w-]{35,38})", 3),
)
"""Tokens that say what they are: name, anchor, shape, least entropy."""

_FREE_LEFT = frozenset({"azure-devops-token", "gitlab-session", "jwt", "jwt-base64", "aws-bedrock-short-key"})
_BOUNDED = frozenset(
    {
        "aws-access-key",
        "azure-client-secret",
        "clickhouse-cloud-key",
        "easypost-key",
        "facebook-app-token",
        "gcp-api-key",
        "huggingface-token",
        "octopus-deploy-key",
        "replicate-token",
        "sentry-org-token",
        "sentry-user-token",
        "telegram-bot-token",
        "twilio-key",
        "vault-legacy-token",
    }
)
"""Tokens whose prefix is short or usual: what is longer than they are is something else."""

_WITH_DIGIT = frozenset({"vault-legacy-token", "replicate-token", "discord-bot-token"})

_SHAPES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        "-----begin",
        r"(?i)(-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^\x00]{64,}?-----END[ A-Z0-9_-]{0,60}-----|(?:\\{1,4}[nr]|[A-Za-z0-9+/=:,;\s\"'()-]){64,}))",
        0,
        "token",
        after=20_000,
    ),
    Rule(
        "gcp-service-account",
        "service_account",
        r"(?s)(\{[^{}]{0,400}\\?\"type\\?\"\s{0,4}:\s{0,4}\\?\"service_account\\?\".{0,900}"
        r"\\?\"private_key(?:_id)?\\?\"[^{}]{0,}\}?)",
        0,
        "exact",
        before=600,
        after=8000,
    ),
    Rule(
        "aws-secret-key",
        "aws|secret.?access",
        r"(?i)(?:aws|secret.?access)[\w .\t-]{0,30}[\"'\]\s]{0,4}[=:>,(][=:>]{0,2}[\"'\s=(]{0,8}"
        r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        4,
        "named",
    ),
    Rule("azure-sas", "sig=", r"[?&;\s](?i:sig)=([A-Za-z0-9%+/]{40,120}(?:%3D|=))", 4, "token"),
    Rule(
        "url-password",
        r"://[^\s/:@\"'<>]{0,64}:[^\s/@\"'<>]{3,128}@",
        r"://[^\s/:@\"'<>]{0,64}:([^\s/@\"'<>]{3,128})@",
        0,
        "userinfo",
    ),
    Rule(
        "authorization-header",
        "authorization",
        r"(?i)authorization[\\\"']{0,3}\s{0,3}[:=][\s\\\"']{0,4}"
        r"(?:(?:basic|bearer|(?:api-?)?token|apikey|key)[ \t]{1,3})?"
        r"([\w=~@.+/-]{8,})",
        2.75,
        "header",
    ),
    Rule(
        "key-header",
        r"(?:-H|--header)[\s=]{0,4}[\"']",
        r"(?i)(?:-H|--header)[\s=]{0,4}[\"'](?:x-(?:[a-z]{1,20}-){0,2})?(?:api-?|auth-?)?(?:key|token):\s{0,5}([\w=~@.+/-]{8,})",
        2.75,
        "password",
    ),
    Rule("infracost-key", "ico-", r"(?:^|[^A-Za-z0-9.])(ico-[A-Za-z0-9]{32})(?:[^A-Za-z0-9_]|$)", 3.3),
    Rule(
        "curl-user",
        r"curl",
        r"(?s)\bcurl\b.{0,400}?\s(?:-u|--user)(?:=|\s{0,4})(\"[^\"\s:]{0,80}\"?:\"?[^\"]{2,200}\"|'[^'\s:]{0,80}:[^'\s]{2,200}'|\"[^\":]{3,}:\"|[\w$@.-]{1,80}:(?:'[^']{3,200}'|\"[^\"]{3,200}\"|[\w$@.!~#-]{3,200}))",
        2,
        "userinfo",
    ),
    Rule(
        "kubernetes-secret",
        r"kind:\s{0,4}[\"']?secret(?:[\"'\s]|$)",
        r"\n[ \t]{1,12}[\w.-]{1,80}:[ \t]{0,4}(?:[|>][+-]?\s{1,20})?[\"']?([A-Za-z0-9+/]{8,}={0,3})[\"']?(?:\s|$)",
        0,
        "base64",
        before=4000,
        after=8000,
    ),
    Rule("jwt-base64", "zxlk", r"(ZXlK[A-Za-z0-9+/_-]{60,}={0,2})", 3, "encoded-jwt", after=9000),
    Rule(
        "nuget-password",
        'password"',
        r"(?i)<add key=\"(?:cleartext)?password\"\s{0,4}value=\"([^\"]{8,200})\"",
        1,
        "password",
    ),
    Rule(
        "sidekiq-credentials",
        r"contribsys",
        rf"(?i)(?:CONTRIBSYS__COM{SEPARATOR}([a-f0-9]{{8}}:[a-f0-9]{{8}})|//[a-f0-9]{{8}}:[a-f0-9]{{8}}@)",
        0,
        "token",
    ),
    Rule(
        "freemius-secret-key",
        "secret_key",
        r"(?i)[\"']secret_key[\"']\s{0,8}=>\s{0,8}[\"'](sk_[^\s\"']{29})[\"']",
        0,
        "password",
    ),
    Rule(
        "assigned-password",
        "passw|pwd|passphrase",
        r"(?i)(?:passw(?:or)?d|pwd|passphrase)[\w.-]{0,12}[\\\"'\]\s]{0,4}(?:=>|:=|\?=|[=:])\s{0,4}\\?[\"'`]([^\s\"'`\\]{8,64})[\"'`\\]",
        2.6,
        "password",
    ),
    Rule(
        "assigned-secret",
        "passw|pwd|secret|token|credential|creds|auth|key",
        r"(?i)(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|creds|auth|key)[\w.-]{0,20}"
        r"(?:[ \t]{1,3}[a-zA-Z]{2,10})?[\\\"'`\])\s]{0,4}"
        r"(?:\|\||\?=|\.=|[=:>,])[=:>]{0,3}[\\\"'`\s=(]{0,6}([\w.=/+-]{10,})",
        3.5,
        "assigned",
    ),
)


def token_rules() -> tuple[Rule, ...]:
    """The rules for tokens, each with what may stand before it, and those of other shapes."""
    made = tuple(
        Rule(
            id=name,
            anchor=anchor,
            pattern=f"{'' if name in _FREE_LEFT else _LEFT}({shape}){_END if name in _BOUNDED else ''}",
            entropy=entropy,
            check="named" if name in _WITH_DIGIT else "token",
            after=14_000 if name == "jwt" else 1400,
        )
        for name, anchor, shape, entropy in TOKENS
    )
    return made + _SHAPES
