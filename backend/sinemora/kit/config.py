"""Settings, read once from the environment (`SINEMORA_…`) and from `.env`. `.env.example` explains them."""

import re
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from sinemora.kit import special_networks
from sinemora.kit.archive_settings import ArchiveSettings
from sinemora.kit.folder_settings import FolderSettings
from sinemora.kit.misspelt_settings import MisspeltSettings
from sinemora.kit.secret_files import SecretFiles
from sinemora.kit.service_plans import Plans
from sinemora.kit.service_plans import parse as parse_plans
from sinemora.kit.special_networks import Network

_POSTGRES = ("postgresql+psycopg",), "postgresql://USER:PASSWORD@HOST:5432/DATABASE"
_ADDRESSES = {
    "database_url": _POSTGRES,
    "database_owner_url": _POSTGRES,
    "database_system_url": _POSTGRES,
    "database_archive_url": _POSTGRES,
    "redis_url": (("redis", "rediss", "unix"), "redis://:PASSWORD@HOST:6379/0 or unix:///path/to/socket?db=0"),
    "public_url": (("http", "https"), "https://sinemora.example.com"),
    "agents_url": (("http", "https"), "https://gateway.example.com:8430"),
    "traces_url": (("http", "https"), "http://collector:4318/v1/traces"),
    "oidc_issuer": (("http", "https"), "https://login.example.com/realms/noc"),
    "storage_endpoint": (("http", "https"), "https://s3.example.com"),
}
_FRAMING_HOST = re.compile(r"\*|none|(https?://)?(\*\.)?[A-Za-z0-9.-]+(:([0-9]+|\*))?")
_KEY_PART = re.compile(r"[A-Za-z0-9._-]{1,100}")
_NEED_HOST = ("redis", "rediss", "http", "https")  # PostgreSQL's may be a socket named in the query
# The password of each address may be a setting of its own.
_PASSWORDS = {
    "database_url": "database_password",
    "database_owner_url": "database_owner_password",
    "database_system_url": "database_system_password",
    "database_archive_url": "database_archive_password",
    "redis_url": "redis_password",
}
# Not repeated on a terminal or in a log. Each may be in a file: SINEMORA_…_FILE.
SECRETS = {
    *("owner_password", "secret_key", "smtp_url", "traces_url", "traces_headers", "oidc_client_secret"),
    "storage_secret_key",
    *_PASSWORDS.keys(),
    *_PASSWORDS.values(),
}


class Settings(ArchiveSettings, FolderSettings):
    """Settings of the backend's processes. Names of durations end with their unit."""

    host: str = "127.0.0.1"
    port: int = Field(8420, ge=1, le=65535)
    public_url: str = ""
    agents_url: str = ""
    agents_pin: str = Field("", pattern=r"^(sha256//[A-Za-z0-9+/]{43}=)?$")
    frontend_dir: Path | None = None
    packages_dir: Path | None = None

    database_url: str = ""
    database_owner_url: str = ""
    database_system_url: str = ""
    database_pool_size: int = Field(20, ge=1, le=200)
    database_password: SecretStr | None = None
    database_owner_password: SecretStr | None = None
    database_system_password: SecretStr | None = None
    redis_url: str = ""
    redis_password: SecretStr | None = None
    worker_pulse_file: Path | None = None

    owner_email: str = "owner@sinemora.example"
    owner_password: SecretStr | None = None
    demo_agents: int = Field(6, ge=0, le=64)
    demo_story: Literal["on", "off"] = "on"

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"
    traces_url: str = ""
    traces_headers: SecretStr | None = None

    session_hours: int = Field(12, ge=1, le=24 * 30)
    cookie_secure: bool | None = None
    tenant_creation: Literal["on", "off"] = "off"
    tenant_deletion_days: int = Field(7, ge=0, le=90)
    sign_in_attempts: int = Field(10, ge=1)
    sign_in_window_s: int = Field(300, ge=1)
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr | None = None
    oidc_name: str = "single sign-on"
    oidc_scopes: str = "openid email profile"
    oidc_tenant: str = "Sinemora"
    oidc_groups_claim: str = "groups"
    oidc_roles: str = ""
    embed_hosts: str = "*"
    rate_limit_per_minute: int = Field(1200, ge=1)
    tenant_limit_per_minute: int = Field(12_000, ge=1)
    anonymous_limit_per_minute: int = Field(300, ge=1)
    agent_reports_per_minute: int = Field(1200, ge=1)
    body_limit_bytes: int = Field(256 * 1024, ge=1024)
    data_limit_bytes: int = Field(4 * 1024 * 1024, ge=1024)
    report_limit_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    import_limit_bytes: int = Field(64 * 1024 * 1024, ge=1024)

    ingest_queue_reports: int = Field(2000, ge=1)
    ingest_batch_ms: int = Field(20, ge=1, le=1000)
    retention_raw_days: int = Field(3, ge=1)
    retention_1m_days: int = Field(30, ge=1)
    retention_15m_days: int = Field(90, ge=1)
    retention_1h_days: int = Field(400, ge=1)
    retention_1d_days: int = Field(1830, ge=1)
    retention_jobs_days: int = Field(7, ge=1)
    aged_after_days: int = Field(0, ge=0)
    storage_endpoint: str = ""
    storage_bucket: str = ""
    storage_prefix: str = "sinemora"
    storage_region: str = "us-east-1"
    storage_access_key: str = ""
    storage_secret_key: SecretStr | None = None
    storage_ca_file: Path | None = None
    stale_windows: int = Field(3, ge=1)
    alert_settling_s: int = Field(300, ge=0, le=3600)
    remembered_mb: int = Field(256, ge=0)
    quota_vms: int = Field(2000, ge=0)
    quota_paths: int = Field(4_000_000, ge=0)
    quota_windows_per_s: float = Field(400_000, ge=0)
    quota_artifact_mib: int = Field(4096, ge=0)
    service_plans: str = ""
    quota_contact: str = Field("", max_length=200)
    metric_source_networks: str = ""
    receiver_networks: str = ""
    trusted_proxies: str = ""
    metrics_networks: str = "127.0.0.0/8 ::1/128"
    secret_key: SecretStr | None = None
    smtp_url: SecretStr | None = None
    smtp_from: str = "sinemora@sinemora.example"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings, the strongest first."""
        files = SecretFiles(settings_cls, SECRETS, env_settings, dotenv_settings)
        misspelt = MisspeltSettings(settings_cls, SECRETS, env_settings, dotenv_settings)
        return init_settings, misspelt, files, env_settings, dotenv_settings

    @field_validator("database_url", "database_owner_url", "database_system_url", "database_archive_url")
    @classmethod
    def _psycopg(cls, url: str) -> str:
        """Add the driver, so that the usual form of the address works."""
        for scheme in ("postgres://", "postgresql://"):
            if url.startswith(scheme):
                return "postgresql+psycopg://" + url.removeprefix(scheme)
        return url

    @field_validator(
        *("database_url", "database_owner_url", "database_system_url", "database_archive_url"),
        *("redis_url", "public_url", "agents_url", "traces_url", "oidc_issuer", "storage_endpoint"),
    )
    @classmethod
    def _address(cls, url: str, info: ValidationInfo) -> str:
        """Refuse an address that no client could open. The message omits the address: it may contain a password."""
        schemes, example = _ADDRESSES[str(info.field_name)]
        try:
            parts = urlsplit(url)
            good = parts.scheme in schemes and (parts.port is None or parts.port > 0)
        except ValueError:
            good = False
        if url and not (good and (parts.netloc or parts.scheme not in _NEED_HOST)):
            raise ValueError(f"should look like {example}")
        if info.field_name in ("public_url", "agents_url") and (parts.path.strip("/") or parts.query or parts.fragment):
            raise ValueError(f"should end after its host, as {example} does: there is no path prefix")
        return url

    @field_validator("metric_source_networks", "receiver_networks", "metrics_networks", "trusted_proxies")
    @classmethod
    def _networks(cls, networks: str) -> str:
        special_networks.parse(networks)
        return networks

    @field_validator("storage_prefix")
    @classmethod
    def _prefix(cls, prefix: str) -> str:
        """Refuse a prefix that would need escaping in a key, or that names a folder above."""
        parts = prefix.strip("/").split("/")
        if not all(_KEY_PART.fullmatch(part) and not part.startswith(".") for part in parts if part):
            raise ValueError("should be parts of letters, digits, . _ and -, joined by /, such as backups/sinemora")
        return "/".join(part for part in parts if part)

    @field_validator("storage_ca_file")
    @classmethod
    def _authorities(cls, file: Path | None) -> Path | None:
        """Refuse a file without certificates at the start, not when the first object is stored."""
        if file is not None:
            try:
                ssl.create_default_context(cafile=file)
            except (OSError, ssl.SSLError) as error:
                reason = "it has no certificate" if isinstance(error, ssl.SSLError) else error.strerror
                raise ValueError(
                    f"cannot be used: {reason}; it should be a PEM file with the certificates of authorities,"
                    " -----BEGIN CERTIFICATE-----"
                ) from None
        return file

    @field_validator("service_plans")
    @classmethod
    def _plans(cls, plans: str) -> str:
        parse_plans(plans)
        return plans

    @field_validator("embed_hosts")
    @classmethod
    def _hosts(cls, hosts: str) -> str:
        """Refuse what is no list of sources of a Content-Security-Policy: it would end the directive."""
        if not all(_FRAMING_HOST.fullmatch(host) for host in hosts.split()):
            raise ValueError("should be *, none, or hosts such as https://wiki.example.com https://*.example.org")
        return " ".join(hosts.split())

    @model_validator(mode="after")
    def _derive(self) -> "Settings":
        self.public_url = (self.public_url or self.local_url).rstrip("/")
        for address, password in _PASSWORDS.items():
            setattr(self, address, _with_password(getattr(self, address), getattr(self, password), address, password))
        self.database_owner_url = self.database_owner_url or self.database_url
        self.database_system_url = self.database_system_url or self.database_owner_url
        if self.oidc_issuer and not (self.oidc_client_id and self.oidc_client_secret):
            raise ValueError("SINEMORA_OIDC_ISSUER needs SINEMORA_OIDC_CLIENT_ID and SINEMORA_OIDC_CLIENT_SECRET too")
        self._check_storage()
        if self.cookie_secure is None:
            self.cookie_secure = self.public_url.startswith("https://")
        return self

    def _check_storage(self) -> None:
        """Check what the storage, and what is kept in it, needs. ValueError."""
        if self.storage_bucket and not (self.storage_access_key and self.storage_secret_key):
            raise ValueError(
                "SINEMORA_STORAGE_BUCKET needs SINEMORA_STORAGE_ACCESS_KEY and SINEMORA_STORAGE_SECRET_KEY too"
            )
        if self.archive == "on" and not self.storage_bucket:
            raise ValueError("SINEMORA_ARCHIVE=on needs SINEMORA_STORAGE_BUCKET and its keys too")
        if not self.aged_after_days:
            return
        if not self.storage_bucket:
            raise ValueError("SINEMORA_AGED_AFTER_DAYS needs SINEMORA_STORAGE_BUCKET and its keys too")
        if self.aged_after_days < self.aged_after_days_min:
            raise ValueError(
                f"SINEMORA_AGED_AFTER_DAYS={self.aged_after_days} is too short: late reports still change tiers for"
                f" SINEMORA_RETENTION_RAW_DAYS={self.retention_raw_days} days, so use at least"
                f" {self.aged_after_days_min}, or 0 for never"
            )

    @property
    def aged_after_days_min(self) -> int:
        """Return the fewest days before ageing: two more than late reports are accepted for."""
        return self.retention_raw_days + 2

    @property
    def allowed_metric_sources(self) -> tuple[Network, ...]:
        """Return the networks that may have metric sources, apart from the public internet."""
        return special_networks.parse(self.metric_source_networks)

    @property
    def allowed_receivers(self) -> tuple[Network, ...]:
        """Return the networks that may have receivers, apart from the public internet."""
        return special_networks.parse(self.receiver_networks)

    @property
    def proxies(self) -> tuple[Network, ...]:
        """Return the networks of the proxies whose `X-Forwarded-…` count."""
        return special_networks.parse(self.trusted_proxies)

    @property
    def metrics_readers(self) -> tuple[Network, ...]:
        """Return the networks that may read /metrics."""
        return special_networks.parse(self.metrics_networks)

    @property
    def plans(self) -> Plans:
        """Return the service plans: the quotas that each sets."""
        return parse_plans(self.service_plans)

    @property
    def local_url(self) -> str:
        """Return the URL the API listens at; clients use it unless PUBLIC_URL is set."""
        return f"http://{self.host}:{self.port}"


def _with_password(url: str, password: SecretStr | None, address: str, name: str) -> str:
    """Return an address with its password. An address of a socket is left alone: the system identifies the user."""
    if password is None or not (parts := urlsplit(url)).hostname:
        return url
    if parts.password:
        raise ValueError(f"SINEMORA_{address.upper()} has a password, and SINEMORA_{name.upper()} is set; set only one")
    user, _, host = parts.netloc.rpartition("@")
    secret = quote(password.get_secret_value(), safe="")
    return parts._replace(netloc=f"{user.removesuffix(':')}:{secret}@{host}").geturl()


@lru_cache
def settings() -> Settings:
    """Return the settings of this process; read at first use."""
    return Settings()


def explain(error: ValidationError) -> str:
    """Return the invalid settings, one a line with value and reason, and where they are documented."""
    lines = []
    for problem in error.errors():
        name = "_".join(map(str, problem["loc"]))
        value = "" if name in SECRETS else f"={problem['input']}"
        # Problems between several settings have no name: their message has the names.
        where = f"SINEMORA_{name.upper()}{value}: " if name else ""
        lines.append(where + problem["msg"].removeprefix("Value error, "))
    return "\n".join([*lines, "See .env.example for what each setting takes."])
