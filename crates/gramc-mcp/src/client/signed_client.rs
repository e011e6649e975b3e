//! Access tokens for a client that signs its requests for them with a private key (RFC 7523).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gramc_tools::http_client;
use gramc_tools::sanitize::sanitize_line;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::token_error::TokenError;

/// The media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";
/// How long a signed request is valid.
const VALIDITY: Duration = Duration::from_mins(5);
/// How long a token is used if its server does not say when it expires.
const DEFAULT_LIFE: Duration = Duration::from_mins(5);
/// The maximum time that a token is not used any more before it expires.
const MAX_MARGIN: Duration = Duration::from_secs(30);
/// The maximum size of a response with a token, in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// A private key and the algorithm with which it signs.
#[derive(Debug)]
pub struct SigningKey(Key);

#[derive(Debug)]
enum Key {
    Es256(EcdsaKeyPair),
    Es384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

/// A client with a private key.
#[derive(Debug)]
pub(super) struct SignedClient<'c> {
    pub(super) id: &'c str,
    pub(super) key: &'c SigningKey,
    pub(super) scopes: &'c [String],
}

/// An access token, and when it is not used any more.
pub(super) struct SignedToken {
    pub(super) text: String,
    pub(super) end: Instant,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    /// The seconds until it expires. Some servers send it as text.
    expires_in: Option<Value>,
    error: Option<String>,
    error_description: Option<String>,
}

/// Why a private key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text has no key in this format.
    #[error(
        "there is no private key in PEM format with `BEGIN PRIVATE KEY`; `openssl pkcs8 -topk8 \
         -nocrypt` converts others"
    )]
    NoKey,
    /// The type of the key is not supported.
    #[error("the private key is of none of the types P-256, P-384, Ed25519 and RSA")]
    UnknownType,
}

impl SigningKey {
    /// The key in a PEM text (PKCS #8): an elliptic curve (P-256 or P-384), Ed25519 or RSA.
    ///
    /// # Errors
    ///
    /// The text holds no such key.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes());
        let der = der.map_err(|_| KeyError::NoKey)?;
        let (der, random) = (der.secret_pkcs8_der(), SystemRandom::new());
        let ecdsa = |algorithm| EcdsaKeyPair::from_pkcs8(algorithm, der, &random).ok();
        let key = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING)
            .map(Key::Es256)
            .or_else(|| ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING).map(Key::Es384))
            .or_else(|| Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Key::Ed25519))
            .or_else(|| RsaKeyPair::from_pkcs8(der).ok().map(Key::Rs256));
        key.map(Self).ok_or(KeyError::UnknownType)
    }

    /// The name of its algorithm in JSON Web Tokens.
    fn algorithm(&self) -> &'static str {
        match self.0 {
            Key::Es256(_) => "ES256",
            Key::Es384(_) => "ES384",
            Key::Ed25519(_) => "EdDSA",
            Key::Rs256(_) => "RS256",
        }
    }

    fn sign(&self, text: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match &self.0 {
            Key::Es256(key) | Key::Es384(key) => {
                key.sign(&random, text).ok().map(|it| it.as_ref().to_vec())
            }
            Key::Ed25519(key) => Some(key.sign(text).as_ref().to_vec()),
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).ok()?;
                Some(signature)
            }
        }
    }

    /// A JSON Web Token with these claims.
    fn token(&self, claims: &Value) -> Option<String> {
        let header = json!({"alg": self.algorithm(), "typ": "client-authentication+jwt"});
        let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.sign(text.as_bytes())?);
        Some(format!("{text}.{signature}"))
    }
}

impl SignedClient<'_> {
    /// Requests a token for a server.
    pub(super) async fn request(
        &self,
        http: &Client,
        issuer: &str,
        endpoint: &Url,
        resource: &str,
    ) -> Result<SignedToken, TokenError> {
        let scope = self.scopes.join(" ");
        let mut fields = vec![
            ("grant_type", "client_credentials".to_owned()),
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".to_owned(),
            ),
            ("client_assertion", self.assertion(issuer)?),
            ("resource", resource.to_owned()),
        ];
        if !scope.is_empty() {
            fields.push(("scope", scope));
        }
        let server = http_client::without_secrets(endpoint);
        let failed = |reason: String| TokenError::Refused { server: server.clone(), reason };
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let fields = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        let request = http.post(endpoint.clone()).header(CONTENT_TYPE, FORM);
        let sent = request.body(body).send().await;
        let mut response = sent.map_err(|error| failed(http_client::root(&error)))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(part) =
            response.chunk().await.map_err(|error| failed(http_client::root(&error)))?
        {
            if body.len() + part.len() > MAX_RESPONSE {
                return Err(failed("gives no token, but something long".to_owned()));
            }
            body.extend_from_slice(&part);
        }
        let answer: Option<TokenResponse> = serde_json::from_slice(&body).ok();
        let Some(TokenResponse { access_token, expires_in, error, error_description }) = answer
        else {
            let status = http_client::status_words(status.as_u16());
            return Err(failed(format!("answered with {status}, and with no token")));
        };
        let Some(text) = access_token.filter(|_| status.is_success()) else {
            let why = [error, error_description].into_iter().flatten().collect::<Vec<_>>();
            let why = why.join(": ");
            let status = http_client::status_words(status.as_u16());
            return Err(failed(format!("answered with {status}: {}", sanitize_line(&why))));
        };
        let seconds = expires_in.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()));
        let life = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
        let life = life.unwrap_or(DEFAULT_LIFE);
        let used = life.saturating_sub(MAX_MARGIN.min(life / 10));
        let end = Instant::now().checked_add(used).unwrap_or_else(Instant::now);
        Ok(SignedToken { text, end })
    }

    /// What proves to the issuer who the client is.
    fn assertion(&self, issuer: &str) -> Result<String, TokenError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let claims = json!({
            "iss": self.id,
            "sub": self.id,
            "aud": issuer,
            "iat": now.as_secs(),
            "exp": (now + VALIDITY).as_secs(),
            "jti": Uuid::new_v4().to_string(),
        });
        self.key.token(&claims).ok_or(TokenError::Signature)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair as _, UnparsedPublicKey};

    use super::*;

    /// A key in PEM format.
    fn pem(der: &[u8]) -> String {
        let text = base64::prelude::BASE64_STANDARD.encode(der);
        format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
    }

    #[test]
    fn requests_are_signed() {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = SigningKey::from_pem(&pem(der.as_ref())).unwrap();
        let client = SignedClient { id: "robot", key: &key, scopes: &[] };
        let assertion = client.assertion("https://id.example").unwrap();
        let (text, signature) = assertion.rsplit_once('.').unwrap();
        let Key::Es256(pair) = &key.0 else { unreachable!("it is of that type") };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key());
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert!(public.verify(text.as_bytes(), &signature).is_ok());
        let claims = BASE64_URL_SAFE_NO_PAD.decode(text.split_once('.').unwrap().1).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("robot"), &json!("robot")));
        assert_eq!(claims["aud"], "https://id.example");
    }

    #[test]
    fn keys_of_other_types_sign_too() {
        let random = SystemRandom::new();
        let p384 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).unwrap();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        for (der, algorithm) in [(p384.as_ref(), "ES384"), (ed25519.as_ref(), "EdDSA")] {
            let key = SigningKey::from_pem(&pem(der)).unwrap();
            assert_eq!(key.algorithm(), algorithm);
            assert!(key.sign(b"text").is_some());
        }
        for text in ["", "secret", &pem(b"no key")] {
            let error = SigningKey::from_pem(text).unwrap_err().to_string();
            assert!(error.contains("private key") && !error.contains("secret"), "{error}");
        }
    }
}
