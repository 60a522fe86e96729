"""The built front end: one page for its own addresses, its assets for ever, nothing else of the disk."""

import gzip
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from sinemora.kit import errors
from sinemora.kit.http.frontend import NONCE, content_policy, serve_frontend
from sinemora.kit.http.middleware import HttpMiddleware
from tests.api_clients import code_of

PAGE = f"""<html><meta property="csp-nonce" nonce="{NONCE}"><style nonce="{NONCE}">a {{}}</style>
<script>let a = 1</script><script type="module" src="/assets/index-abc.js"></script></html>"""
POLICY = re.compile(r"style-src 'self' 'nonce-([A-Za-z0-9_-]{22})';")
PATH = "/assets/index-abc.js"
SCRIPT = "let a = 1;" * 200
# No decoder is installed here: the bytes only have to arrive as they are.
BROTLI = b"\x0b\x02\x80not really\x03"


@pytest.fixture
def site(tmp_path: Path) -> TestClient:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "index.html").write_text(PAGE)
    script = folder / "assets" / "index-abc.js"
    script.write_text(SCRIPT)
    script.with_name("index-abc.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    script.with_name("index-abc.js.br").write_bytes(BROTLI)
    (tmp_path / "secret.txt").write_text("of the house")
    app = FastAPI()
    errors.install(app)
    app.add_middleware(HttpMiddleware, hsts=False, body_limit_bytes=1024)
    app.post("/v1/known")(lambda: {})
    serve_frontend(app, folder)
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/sign-in", "/meshes/1/paths/2/3", "/meshes/a.b"])
def test_addresses_of_the_app_get_the_page(site: TestClient, path: str):
    answer = site.get(path)
    policy = answer.headers["Content-Security-Policy"]
    (nonce,) = POLICY.findall(policy)
    assert answer.text == PAGE.replace(NONCE, nonce)
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "script-src 'self' 'sha256-" in policy


def test_no_inline_style_is_allowed_but_with_the_nonce_of_the_response(site: TestClient):
    answers = [site.get("/") for _ in range(20)]
    policies = [answer.headers["Content-Security-Policy"] for answer in answers]
    assert not any("unsafe" in policy for policy in policies)
    assert len({nonce for policy in policies for nonce in POLICY.findall(policy)}) == 20
    # A browser that got 304 would show the page of before, with a nonce that the new policy does not have.
    assert not {"etag", "last-modified"} & set(answers[0].headers)
    again = site.get("/", headers={"If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 2099 00:00:00 GMT"})
    assert again.status_code == 200


@pytest.mark.parametrize(("accepted", "coding"), [("gzip, deflate, br", "gzip"), ("br", None), ("identity", None)])
def test_the_page_is_sent_compressed(site: TestClient, accepted: str, coding: str | None):
    with site.stream("GET", "/", headers={"Accept-Encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())
    assert (answer.headers.get("Content-Encoding"), answer.headers["Vary"]) == (coding, "Accept-Encoding")
    page = (gzip.decompress(sent) if coding else sent).decode()
    assert page == PAGE.replace(NONCE, POLICY.findall(answer.headers["Content-Security-Policy"])[0])


def test_a_path_that_is_only_a_page_is_unknown_to_other_methods(site: TestClient):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        for path in ("/v1/nothing", "/sign-in"):
            answer = site.request(method, path)
            assert (answer.status_code, answer.json()["code"]) == (404, "route_unknown"), (method, path)
    assert site.post("/v1/known").status_code == 200
    answer = site.delete("/v1/known")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_assets_are_kept_for_ever(site: TestClient):
    assert "immutable" in site.get("/assets/index-abc.js").headers["Cache-Control"]
    assert site.get("/favicon.svg").headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gzip"), ("br;q=0, gzip", "gzip"), ("identity", None)],
)
def test_files_are_sent_compressed(site: TestClient, accepted: str, coding: str | None):
    with site.stream("GET", PATH, headers={"Accept-Encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())
    assert answer.headers.get("Content-Encoding") == coding
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Content-Type"].startswith("text/")
    plain = SCRIPT.encode()
    assert {"br": BROTLI, "gzip": plain, None: plain}[coding] == (gzip.decompress(sent) if coding == "gzip" else sent)


def test_a_file_without_a_compressed_one_is_sent_as_it_is(site: TestClient):
    answer = site.get("/favicon.svg", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers
    assert (answer.text, answer.headers["Vary"]) == ("<svg/>", "Accept-Encoding")


def test_each_coding_has_its_own_entity_tag(site: TestClient):
    tags = {}
    for coding in ("identity", "gzip", "br"):
        with site.stream("GET", PATH, headers={"Accept-Encoding": coding}) as answer:
            tags[coding] = answer.headers["ETag"]
    assert len(set(tags.values())) == 3
    for coding, tag in tags.items():
        answer = site.get(PATH, headers={"Accept-Encoding": coding, "If-None-Match": f'"other", W/{tag}'})
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag)
    assert site.get(PATH, headers={"Accept-Encoding": "gzip", "If-None-Match": tags["br"]}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/nothing", "/assets/index-old.js", "/healthz"])
def test_what_is_missing_is_missing(site: TestClient, path: str):
    assert code_of(site.get(path)) == (404, "route_unknown")


@pytest.mark.parametrize("path", ["/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"])
def test_nothing_outside_the_folder_is_read(site: TestClient, path: str):
    assert "of the house" not in site.get(path).text


def test_the_policy_knows_inline_scripts_by_hash():
    # printf '%s' 'let a = 1' | openssl dgst -sha256 -binary | base64
    assert "script-src 'self' 'sha256-LAfYd7pbFUgwfQu8b4q135PeTG2z+/coPEUYCd74eCQ=';" in content_policy(PAGE, "n")
    assert "script-src 'self';" in content_policy('<script src="x"></script>', "n")
