//! Images in files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gramc_tools::Image;

/// Maximum size of an image in bytes, which is that of the most generous provider.
const MAX_BYTES: usize = 20 << 20;

/// The media types that providers accept, with the first bytes of such files.
const MEDIA_TYPES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// An image that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file cannot be read.
    #[error("cannot read the image {}: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    /// The file is too large for all providers.
    #[error("the image {} is larger than 20 MiB", .0.display())]
    TooLarge(PathBuf),
    /// The file has another format.
    #[error("{} is not a PNG, JPEG, GIF or WebP image", .0.display())]
    UnknownFormat(PathBuf),
}

/// Reads an image: a PNG, JPEG, GIF or WebP file of at most 20 MiB.
pub fn read_image(path: &Path) -> Result<Image, ImageError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| ImageError::Read(path.to_owned(), error))?;
    if bytes.len() > MAX_BYTES {
        return Err(ImageError::TooLarge(path.to_owned()));
    }
    let media_type =
        media_type(&bytes).ok_or_else(|| ImageError::UnknownFormat(path.to_owned()))?;
    Ok(Image { media_type: media_type.to_owned(), data: BASE64_STANDARD.encode(bytes) })
}

fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let (media_type, _) = MEDIA_TYPES.iter().find(|(_, start)| bytes.starts_with(start))?;
    let is_webp = || bytes.get(8..12) == Some(b"WEBP");
    (*media_type != "image/webp" || is_webp()).then_some(*media_type)
}
