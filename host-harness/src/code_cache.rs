//! Compiled code on disk, so that only the first run compiles.
//!
//! A file holds what wasmtime made of one component with one configuration of one version; its name says
//! which. Wasmtime trusts compiled code and runs whatever it says, so a checksum after it tells whether the
//! disk has kept it whole. Checked, the file is mapped rather than copied: a call of the program touches a small
//! part of it.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// How many files are kept: of the builds of the component that a machine uses side by side.
const KEPT_FILES: usize = 8;

const SUFFIX: &str = "cwasm";

/// Marks the end of the code. The checksum of the code comes after it. Wasmtime ignores both.
const MAGIC: &[u8; 16] = b"saddlebag code 1";

/// The length of the part after the code, in bytes.
const TRAILER: usize = MAGIC.len() + size_of::<u64>();

/// The bytes that are checked at once: few enough to stay in the cache of the processor.
const CHUNK: usize = 128 * 1024;

/// Where compiled code is kept.
///
/// Whoever can write there can run code as you: it is as private as a folder of programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CodeCache {
    /// In `saddlebag` in the user's folder of caches.
    #[default]
    User,
    /// In this folder, which is made.
    Folder(PathBuf),
    /// Nowhere: every run compiles.
    Off,
}

impl CodeCache {
    fn folder(&self) -> Option<PathBuf> {
        use etcetera::BaseStrategy;

        match self {
            Self::User => etcetera::base_strategy::choose_native_strategy()
                .ok()
                .map(|folders| folders.cache_dir().join("saddlebag")),
            Self::Folder(folder) => Some(folder.clone()),
            Self::Off => None,
        }
    }

    /// The compiled component. A cache that cannot be had is done without: it saves time and nothing else.
    ///
    /// `digest` is the SHA-256 of the bytes in hexadecimal, if it is known. `before_compiling` is called only if
    /// no compiled code is found.
    pub(crate) fn compile(
        &self,
        engine: &Engine,
        bytes: &[u8],
        digest: Option<&str>,
        before_compiling: impl FnOnce(),
    ) -> wasmtime::Result<Component> {
        let Some(folder) = self.folder() else {
            before_compiling();
            return Component::new(engine, bytes);
        };
        let digest = digest.map_or_else(|| hexadecimal(&Sha256::digest(bytes)), str::to_string);
        let file = folder.join(format!("{digest}-{:016x}.{SUFFIX}", fingerprint(engine)));
        match load(engine, &file) {
            Ok(component) => return Ok(component),
            Err(error) => tracing::debug!(%error, file = %file.display(), "no compiled code is used"),
        }
        before_compiling();
        let component = Component::new(engine, bytes)?;
        if let Err(error) = component.serialize().and_then(|code| Ok(keep(&folder, &file, &code)?)) {
            tracing::debug!(%error, file = %file.display(), "compiled code is not kept");
        }
        Ok(component)
    }
}

/// What decides whether code that one engine compiled is code of another.
fn fingerprint(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[allow(unsafe_code, reason = "code on disk is run as it is; see the safety comment")]
fn load(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    let file = open(path)?;
    check_owner(&file)?;
    if !is_whole(&file)? {
        return Err(io::Error::other("the file is damaged").into());
    }
    // SAFETY: the file that is open was written by `keep`, as only the user of this process can write to it; the
    // checksum says that it is what `keep` wrote; and it is replaced by another file, never changed.
    unsafe {
        match same_file(&file) {
            Some(same) => Component::deserialize_file(engine, same),
            None => {
                let mut bytes = Vec::new();
                (&file).seek(SeekFrom::Start(0))?;
                (&file).read_to_end(&mut bytes)?;
                Component::deserialize(engine, bytes)
            }
        }
    }
}

/// A path that leads to this very file, whatever is at its name by now.
fn same_file(file: &File) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        path.exists().then_some(path)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

/// Opens the file itself: through a link it might be somebody else's.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // A pipe would otherwise be waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options.open(path)
}

/// Checks that the file is as it was written.
fn is_whole(mut file: &File) -> io::Result<bool> {
    let Some(size) = file.metadata()?.len().checked_sub(TRAILER as u64) else { return Ok(false) };
    let mut sum = Xxh3::new();
    let mut code = file.take(size);
    let mut chunk = vec![0; CHUNK];
    loop {
        match code.read(&mut chunk)? {
            0 => break,
            read => sum.update(&chunk[..read]),
        }
    }
    let mut trailer = Vec::with_capacity(TRAILER);
    file.read_to_end(&mut trailer)?;
    Ok(trailer == trailer_of(sum.digest()))
}

fn trailer_of(sum: u64) -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    trailer[..MAGIC.len()].copy_from_slice(MAGIC);
    trailer[MAGIC.len()..].copy_from_slice(&sum.to_le_bytes());
    trailer
}

/// Checks that nobody else can have written the file.
#[cfg(unix)]
fn check_owner(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & WRITABLE_BY_OTHERS != 0
    {
        return Err(io::Error::other("not a file that only this user can write"));
    }
    Ok(())
}

/// Elsewhere the user's folders are private by their access lists.
#[cfg(not(unix))]
fn check_owner(file: &File) -> io::Result<()> {
    file.metadata().map(drop)
}

/// Puts a file in its place, whole and synced, and drops the oldest of too many.
fn keep(folder: &Path, file: &Path, code: &[u8]) -> io::Result<()> {
    make_private(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(code)?;
    new.write_all(&trailer_of(xxh3_64(code)))?;
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    let mut kept: Vec<_> = fs::read_dir(folder)?
        .filter_map(Result::ok)
        .filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|suffix| suffix == SUFFIX))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    kept.sort_unstable_by(|a, b| b.cmp(a));
    for (_, old) in kept.iter().skip(KEPT_FILES) {
        fs::remove_file(old)?;
    }
    Ok(())
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"(component)";

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn component(number: usize) -> Vec<u8> {
        // A custom section tells one empty component from another.
        let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
        bytes.extend([0, 2, 1, u8::try_from(number).unwrap()]);
        bytes
    }

    #[test]
    fn what_was_compiled_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().join("cache"));
        let engine = Engine::default();
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        let [file] = &files(&folder.path().join("cache"))[..] else { unreachable!("one file is kept") };
        load(&engine, file).unwrap();
        let written = fs::metadata(file).unwrap().modified().unwrap();
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        assert_eq!(fs::metadata(file).unwrap().modified().unwrap(), written);
    }

    #[test]
    fn what_is_no_code_is_compiled_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().to_path_buf());
        let engine = Engine::default();
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        let file = files(folder.path()).remove(0);
        let whole = fs::read(&file).unwrap();
        for broken in [&b""[..], b"# Markdown\n", &whole[..whole.len() / 2]] {
            fs::remove_file(&file).unwrap();
            fs::write(&file, broken).unwrap();
            cache.compile(&engine, &component(0), None, || ()).unwrap();
            assert_eq!(fs::read(&file).unwrap(), whole);
        }
    }

    #[test]
    fn another_configuration_has_code_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().to_path_buf());
        let mut config = wasmtime::Config::new();
        config.epoch_interruption(true);
        cache.compile(&Engine::default(), &component(0), None, || ()).unwrap();
        cache.compile(&Engine::new(&config).unwrap(), &component(0), None, || ()).unwrap();
        assert_eq!(files(folder.path()).len(), 2);
    }

    #[test]
    fn old_code_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().to_path_buf());
        fs::write(folder.path().join("another file"), EMPTY).unwrap();
        for number in 0..KEPT_FILES + 3 {
            cache.compile(&Engine::default(), &component(number), None, || ()).unwrap();
        }
        assert_eq!(files(folder.path()).len(), KEPT_FILES + 1);
    }

    #[test]
    fn damaged_code_is_never_run_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().to_path_buf());
        let engine = Engine::default();
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        let file = files(folder.path()).remove(0);
        let good = fs::read(&file).unwrap();
        let step = (good.len() / 150).max(1);
        for place in (0..good.len()).step_by(step).chain([good.len() - 1]) {
            let mut damaged = good.clone();
            damaged[place] ^= 0x10;
            fs::write(&file, &damaged).unwrap();
            assert!(load(&engine, &file).is_err(), "byte {place} of {}", good.len());
        }
        for damaged in [&good[..good.len() - 1], &good[..good.len() - TRAILER], &[&good[..], b"x"].concat()[..]] {
            fs::write(&file, damaged).unwrap();
            assert!(load(&engine, &file).is_err(), "{} of {} bytes", damaged.len(), good.len());
        }
        let mut compiled = 0;
        cache.compile(&engine, &component(0), None, || compiled += 1).unwrap();
        assert_eq!((compiled, fs::read(&file).unwrap() == good), (1, true));
    }

    #[cfg(unix)]
    #[test]
    fn code_is_not_run_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().to_path_buf());
        let engine = Engine::default();
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        let file = files(folder.path()).remove(0);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(load(&engine, &file).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn code_that_others_can_write_is_not_run() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::Folder(folder.path().to_path_buf());
        let engine = Engine::default();
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        let file = files(folder.path()).remove(0);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(load(&engine, &file).is_err());
        cache.compile(&engine, &component(0), None, || ()).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_cache_that_cannot_be_had_is_done_without() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, EMPTY).unwrap();
        CodeCache::Folder(file).compile(&Engine::default(), &component(0), None, || ()).unwrap();
    }
}
