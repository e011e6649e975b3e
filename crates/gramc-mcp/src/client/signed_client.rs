//! Access tokens for a client that signs its requests for them with a private key (RFC 7523).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gramc_tools::access_token::AccessToken;
use gramc_tools::http_client;
use reqwest::{Client, Url};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use uuid::Uuid;

use super::token_error::TokenError;

/// How long a signed request is valid.
const VALIDITY: Duration = Duration::from_mins(5);
/// How long a token is used if its server does not say when it expires.
const DEFAULT_LIFE: Duration = Duration::from_secs(270);

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

pub(super) struct SignedClient<'c> {
    pub(super) id: &'c str,
    pub(super) key: &'c SigningKey,
    pub(super) scopes: &'c [String],
}

/// Why a private key cannot be used.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error(
        "there is no private key in PEM format with `BEGIN PRIVATE KEY`; `openssl pkcs8 -topk8 \
         -nocrypt` converts others"
    )]
    NoKey,
    #[error("the private key is of none of the types P-256, P-384, Ed25519 and RSA")]
    UnknownType,
}

impl SigningKey {
    /// The key in a PEM text (PKCS #8): an elliptic curve (P-256 or P-384), Ed25519 or RSA.
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
    ) -> Result<AccessToken, TokenError> {
        let (scope, assertion) = (self.scopes.join(" "), self.assertion(issuer)?);
        let mut fields = vec![
            ("grant_type", "client_credentials"),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", &*assertion),
            ("resource", resource),
        ];
        if !scope.is_empty() {
            fields.push(("scope", &*scope));
        }
        let token = AccessToken::request(http, endpoint, &fields, None).await;
        let AccessToken { text, ends } = token.map_err(|reason| TokenError::Refused {
            server: http_client::without_secrets(endpoint),
            reason,
        })?;
        let ends = ends.unwrap_or_else(|| Instant::now() + DEFAULT_LIFE);
        Ok(AccessToken { text, ends: Some(ends) })
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
