//! The images of `--image`.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gram_tools::Image;

use crate::failure::Failure;

/// Maximum size of an image in bytes, which is that of the most generous provider.
const MAX_BYTES: usize = 20 << 20;

/// The media types that providers take, with the first bytes of such files.
const MEDIA_TYPES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// Reads the file of an image.
pub(super) fn read(path: &Path) -> Result<Image, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::path("read the image", path, &error))?;
    let path = path.display();
    if bytes.len() > MAX_BYTES {
        return Err(Failure::new(format!("the image {path} is larger than 20 MiB")));
    }
    let Some(media_type) = media_type(&bytes) else {
        return Err(Failure::new(format!("{path} is not a PNG, JPEG, GIF or WebP image")));
    };
    Ok(Image { media_type: media_type.to_owned(), data: BASE64_STANDARD.encode(bytes) })
}

fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let (media_type, _) = MEDIA_TYPES.iter().find(|(_, start)| bytes.starts_with(start))?;
    let is_webp = || bytes.get(8..12) == Some(b"WEBP");
    (*media_type != "image/webp" || is_webp()).then_some(*media_type)
}
