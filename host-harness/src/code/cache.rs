//! Compiled code on disk, so that only the first run compiles.
//!
//! A file holds the code that wasmtime made for one component, with one configuration, in one version; its name identifies all
//! three. Wasmtime trusts compiled code and runs it unchecked, so code is loaded only if all of this holds:
//!
//! - Nobody except this user and root can change the file or any folder above it ([`PrivateFolder`]).
//! - The tag at its end is a keyed hash of its name and its bytes. The key is random, in a separate file in another
//!   folder, so write access to the folder of the code is not enough to make code that runs.
//! - The bytes that were hashed are the bytes that run: they are read once, into memory that is not backed by a file.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use super::bytes::Pages;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use super::pages::Pages;
use crate::private::{PrivateError, PrivateFolder, Readers};

/// Number of files that are kept: one per build of the component that a machine uses side by side.
const KEPT_FILES: usize = 8;

const SUFFIX: &str = "cwasm";

/// Mark at the end of the code. The tag comes after it. Wasmtime sees neither.
const MAGIC: &[u8; 16] = b"saddlebag code 2";

const TAG_BYTES: usize = 32;

/// Length of the part after the code, in bytes.
const TRAILER: usize = MAGIC.len() + TAG_BYTES;

/// Number of bytes that are read and hashed at once: few enough to stay in the processor's cache.
const CHUNK: usize = 256 * 1024;

/// Maximum size of compiled code in bytes, larger than the code of any useful component.
const MAX_CODE_BYTES: u64 = 256 << 20;

/// Place of compiled code.
///
/// Compiled code runs outside of the sandbox. So a folder is not used if other users can change it, or a folder above it:
/// every run compiles then, and [`Compile::on_cache_refused`] reports it.
///
/// [`Compile::on_cache_refused`]: crate::Compile::on_cache_refused
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CodeCache {
    /// `saddlebag` in the user's folder of caches, with the user's key.
    #[default]
    User,
    /// A separate folder.
    Folder {
        /// Folder of the code, which is created.
        code: PathBuf,
        /// File with the key, which is created; `None` for the user's, `saddlebag-code-key` in the user's folder of
        /// data. Keep it out of the folder of the code: whoever can write both can make code that runs.
        key: Option<PathBuf>,
    },
    /// No cache: every run compiles.
    Off,
}

impl CodeCache {
    fn places(&self) -> Option<(PathBuf, PathBuf)> {
        use etcetera::BaseStrategy;

        let folders = || etcetera::base_strategy::choose_native_strategy().ok();
        let user_key = || Some(folders()?.data_dir().join("saddlebag-code-key"));
        match self {
            Self::User => Some((folders()?.cache_dir().join("saddlebag"), user_key()?)),
            Self::Folder { code, key } => Some((code.clone(), key.clone().or_else(user_key)?)),
            Self::Off => None,
        }
    }

    /// Returns the compiled component. Errors of the cache are not errors of this function, because it only saves
    /// time.
    ///
    /// `digest` is the SHA-256 of the bytes in hexadecimal, if known. `before_compiling` is called only if no compiled
    /// code is found, `on_refused` only if the cache is not private.
    pub(crate) fn compile(
        &self,
        engine: &Engine,
        bytes: &[u8],
        digest: Option<&str>,
        before_compiling: impl FnOnce(),
        on_refused: impl FnOnce(&PrivateError),
    ) -> wasmtime::Result<Component> {
        let Some((code, key)) = self.places() else {
            before_compiling();
            return Component::new(engine, bytes);
        };
        let cache = match Opened::open(&code, &key) {
            Ok(cache) => Some(cache),
            Err(error) => {
                if matches!(error, PrivateError::Exposed { .. }) {
                    on_refused(&error);
                }
                tracing::debug!(%error, "no compiled code is used or kept");
                None
            }
        };
        let digest = digest.map_or_else(|| hexadecimal(&Sha256::digest(bytes)), str::to_string);
        let name = format!("{digest}-{:016x}.{SUFFIX}", fingerprint(engine));
        if let Some(cache) = &cache {
            match cache.load(engine, &name) {
                Ok(component) => return Ok(component),
                Err(error) => tracing::debug!(%error, name, "no compiled code is used"),
            }
        }
        before_compiling();
        let component = Component::new(engine, bytes)?;
        if let Some(cache) = &cache
            && let Err(error) = component.serialize().and_then(|code| Ok(cache.keep(&name, &code)?))
        {
            tracing::debug!(%error, name, "compiled code is not kept");
        }
        Ok(component)
    }
}

/// Returns a fingerprint of the engine: engines with equal ones can run each other's code.
fn fingerprint(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A cache that nobody else can change, and the key of its tags.
struct Opened {
    folder: PrivateFolder,
    key: Key,
}

impl Opened {
    fn open(code: &Path, key: &Path) -> Result<Self, PrivateError> {
        Ok(Self { folder: PrivateFolder::make(code)?, key: Key::in_file(key)? })
    }

    #[allow(unsafe_code, reason = "code on disk is run as it is; see the safety comment")]
    fn load(&self, engine: &Engine, name: &str) -> wasmtime::Result<Component> {
        let mut file = self.folder.open_file(name, Readers::Anybody)?;
        let size = file.metadata()?.len();
        let damaged = || io::Error::other("the file is damaged, or was made under another key");
        let length = size.checked_sub(TRAILER as u64).filter(|&length| length <= MAX_CODE_BYTES).ok_or_else(damaged)?;
        let mut pages = Pages::new(usize::try_from(length)?)?;
        let mut tag = self.key.tag(name);
        for chunk in pages.bytes_mut().chunks_mut(CHUNK) {
            file.read_exact(chunk)?;
            tag.update(chunk);
        }
        let mut trailer = [0; TRAILER];
        file.read_exact(&mut trailer)?;
        let (magic, shown) = trailer.split_at(MAGIC.len());
        // The comparison takes constant time, so it reveals nothing about the tag.
        let tag = tag.finalize();
        if magic != MAGIC || tag != *shown {
            return Err(damaged().into());
        }
        // SAFETY: the tag proves that these bytes are what `keep` was given under this name, and `keep` is given
        // wasmtime's output. They are not backed by a file, so nobody changes them after the check.
        unsafe { pages.load(engine, *tag.as_bytes()) }
    }

    /// Writes a file completely and synced, and removes the oldest files over the limit.
    fn keep(&self, name: &str, code: &[u8]) -> io::Result<()> {
        let dir = self.folder.dir();
        // The suffix lets the files of a killed process be removed like old code.
        let new = format!("new-{}.{SUFFIX}", hexadecimal(&random::<8>()?));
        let mut file = self.folder.create_new(&new)?;
        let written = self.write(&mut file, name, code).and_then(|()| dir.rename(&new, dir, name));
        if let Err(error) = written {
            // The error of the write matters more than the error of the removal.
            let _ = dir.remove_file(&new);
            return Err(error);
        }
        let mut kept: Vec<_> = dir
            .entries()?
            .filter_map(Result::ok)
            .filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|suffix| suffix == SUFFIX))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.file_name())))
            .collect();
        kept.sort_unstable_by(|a, b| b.cmp(a));
        for (_, old) in kept.iter().skip(KEPT_FILES) {
            dir.remove_file(old)?;
        }
        Ok(())
    }

    fn write(&self, file: &mut File, name: &str, code: &[u8]) -> io::Result<()> {
        let mut tag = self.key.tag(name);
        tag.update(code);
        file.write_all(code)?;
        file.write_all(MAGIC)?;
        file.write_all(tag.finalize().as_bytes())?;
        file.sync_all()
    }
}

/// Secret key of the tags.
struct Key([u8; TAG_BYTES]);

impl Key {
    /// Reads the key from a file, or creates a new one if the file does not exist.
    fn in_file(file: &Path) -> Result<Self, PrivateError> {
        let io = |source| PrivateError::Io { path: file.to_path_buf(), source };
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
            return Err(io(io::ErrorKind::InvalidFilename.into()));
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = PrivateFolder::make(folder)?;
        match Self::read(&folder, name) {
            Err(error) if error.is_missing() => {}
            read => return read,
        }
        let key = random().map_err(io)?;
        let made = folder.create_new(name).and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()
        });
        match made {
            Ok(()) => Ok(Self(key)),
            // Another process was faster. Until it has finished writing, its key is too short, and this run uses no
            // cache.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::read(&folder, name),
            Err(error) => Err(io(error)),
        }
    }

    fn read(folder: &PrivateFolder, name: &str) -> Result<Self, PrivateError> {
        let mut key = [0; TAG_BYTES];
        folder
            .open_file(name, Readers::Owner)?
            .read_exact(&mut key)
            .map_err(|source| PrivateError::Io { path: name.into(), source })?;
        Ok(Self(key))
    }

    /// Begins the tag of a file. Its name is part of it, so that one file cannot replace another.
    fn tag(&self, name: &str) -> blake3::Hasher {
        let mut tag = blake3::Hasher::new_keyed(&self.0);
        tag.update(&(name.len() as u64).to_le_bytes());
        tag.update(name.as_bytes());
        tag
    }
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::print_stderr)]
mod tests {
    use std::fs;

    use super::*;

    fn component(number: usize) -> Vec<u8> {
        // A custom section tells one empty component from another.
        let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
        bytes.extend([0, 2, 1, u8::try_from(number).unwrap()]);
        bytes
    }

    /// A component with a function that gives 7, so that there is code to run.
    const SEVEN: &str = r#"(component
        (core module $m (func (export "seven") (result i32) i32.const 7))
        (core instance $i (instantiate $m))
        (func (export "seven") (result s32) (canon lift (core func $i "seven"))))"#;

    fn run(engine: &Engine, component: &Component) -> i32 {
        let mut store = wasmtime::Store::new(engine, ());
        let instance = wasmtime::component::Linker::new(engine).instantiate(&mut store, component).unwrap();
        let seven = instance.get_typed_func::<(), (i32,)>(&mut store, "seven").unwrap();
        seven.call(&mut store, ()).unwrap().0
    }

    fn engine() -> Engine {
        let mut config = wasmtime::Config::new();
        crate::code::use_memory(&mut config);
        Engine::new(&config).unwrap()
    }

    /// A folder for code and one for the key, beside each other.
    struct Place {
        folder: tempfile::TempDir,
        code: PathBuf,
        key: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let (code, key) = (folder.path().join("cache"), folder.path().join("keys/key"));
            Self { folder, code, key }
        }

        fn cache(&self) -> CodeCache {
            CodeCache::Folder { code: self.code.clone(), key: Some(self.key.clone()) }
        }

        /// Returns the component, the number of compilations, and the reason why the cache was refused.
        fn compile(&self, engine: &Engine, bytes: &[u8]) -> (Component, usize, Option<String>) {
            let (mut compiled, mut refused) = (0, None);
            let made =
                self.cache().compile(engine, bytes, None, || compiled += 1, |error| refused = Some(error.to_string()));
            (made.unwrap(), compiled, refused)
        }

        fn load(&self, engine: &Engine, file: &Path) -> wasmtime::Result<Component> {
            Opened::open(&self.code, &self.key)?.load(engine, file.file_name().unwrap().to_str().unwrap())
        }

        fn files(&self) -> Vec<PathBuf> {
            fs::read_dir(&self.code).unwrap().map(|entry| entry.unwrap().path()).collect()
        }
    }

    #[test]
    fn compiled_code_is_loaded_and_runs() {
        let (place, engine, seven) = (Place::new(), engine(), wat::parse_str(SEVEN).unwrap());
        let (component, compiled, refused) = place.compile(&engine, &seven);
        assert_eq!((run(&engine, &component), compiled, refused), (7, 1, None));
        for _ in 0..3 {
            let (component, compiled, _) = place.compile(&engine, &seven);
            assert_eq!((run(&engine, &component), compiled), (7, 0));
        }
    }

    #[test]
    fn code_that_is_loaded_twice_runs_after_one_of_the_two_is_gone() {
        let (place, engine, seven) = (Place::new(), engine(), wat::parse_str(SEVEN).unwrap());
        drop(place.compile(&engine, &seven));
        let (one, ..) = place.compile(&engine, &seven);
        let (other, ..) = place.compile(&engine, &seven);
        drop(one);
        assert_eq!(run(&engine, &other), 7);
    }

    #[test]
    fn a_file_that_is_not_code_is_compiled_again() {
        let (place, engine) = (Place::new(), engine());
        place.compile(&engine, &component(0));
        let file = place.files().remove(0);
        let whole = fs::read(&file).unwrap();
        for broken in [&b""[..], b"# Markdown\n", &whole[..whole.len() / 2]] {
            fs::remove_file(&file).unwrap();
            fs::write(&file, broken).unwrap();
            assert_eq!(place.compile(&engine, &component(0)).1, 1);
            assert_eq!(fs::read(&file).unwrap(), whole);
        }
    }

    #[test]
    fn another_configuration_has_code_of_its_own() {
        let place = Place::new();
        let mut config = wasmtime::Config::new();
        config.epoch_interruption(true);
        place.compile(&engine(), &component(0));
        place.compile(&Engine::new(&config).unwrap(), &component(0));
        assert_eq!(place.files().len(), 2);
    }

    #[test]
    fn old_code_is_dropped_and_so_is_what_a_killed_process_left() {
        let (place, engine) = (Place::new(), engine());
        fs::create_dir(&place.code).unwrap();
        fs::write(place.code.join("another file"), b"").unwrap();
        fs::write(place.code.join(format!("new-0123.{SUFFIX}")), b"half").unwrap();
        for number in 0..KEPT_FILES + 3 {
            place.compile(&engine, &component(number));
        }
        let names: Vec<_> = place.files().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
        assert_eq!(names.len(), KEPT_FILES + 1);
        assert!(!names.iter().any(|name| name.to_str().unwrap().starts_with("new-")), "{names:?}");
    }

    #[test]
    fn damaged_code_is_never_run_and_is_replaced() {
        let (place, engine) = (Place::new(), engine());
        place.compile(&engine, &component(0));
        let file = place.files().remove(0);
        let good = fs::read(&file).unwrap();
        let step = (good.len() / 150).max(1);
        for at in (0..good.len()).step_by(step).chain(good.len() - TRAILER..good.len()) {
            let mut damaged = good.clone();
            damaged[at] ^= 0x10;
            fs::write(&file, &damaged).unwrap();
            assert!(place.load(&engine, &file).is_err(), "byte {at} of {}", good.len());
        }
        for damaged in [&good[..good.len() - 1], &good[..good.len() - TRAILER], &[&good[..], b"x"].concat()[..]] {
            fs::write(&file, damaged).unwrap();
            assert!(place.load(&engine, &file).is_err(), "{} of {} bytes", damaged.len(), good.len());
        }
        assert_eq!(place.compile(&engine, &component(0)).1, 1);
        assert_eq!(fs::read(&file).unwrap(), good);
    }

    #[test]
    fn code_that_was_made_under_another_key_or_name_is_not_run() {
        let (mine, theirs, engine) = (Place::new(), Place::new(), engine());
        mine.compile(&engine, &component(0));
        theirs.compile(&engine, &component(0));
        let (file, forged) = (mine.files().remove(0), theirs.files().remove(0));
        assert_eq!(file.file_name(), forged.file_name());
        mine.load(&engine, &file).unwrap();
        fs::copy(&forged, &file).unwrap();
        assert!(mine.load(&engine, &file).is_err());

        // Code of one component in the place of another, under the right key.
        assert_eq!(mine.compile(&engine, &component(0)).1, 1);
        mine.compile(&engine, &component(1));
        let other = mine.files().into_iter().find(|found| *found != file).unwrap();
        fs::copy(&other, &file).unwrap();
        assert!(mine.load(&engine, &file).is_err());
        mine.load(&engine, &other).unwrap();
    }

    #[test]
    fn a_key_is_made_once_random_and_for_its_owner_alone() {
        let (one, other, engine) = (Place::new(), Place::new(), engine());
        one.compile(&engine, &component(0));
        other.compile(&engine, &component(0));
        let key = fs::read(&one.key).unwrap();
        assert_eq!(key.len(), TAG_BYTES);
        assert_ne!(key, fs::read(&other.key).unwrap());
        assert_eq!(one.compile(&engine, &component(0)).1, 0);
        assert_eq!(fs::read(&one.key).unwrap(), key);
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&one.key).unwrap()) & 0o777, 0o600);
    }

    #[cfg(unix)]
    mod on_unix {
        use std::os::unix::fs::PermissionsExt;

        use super::*;

        const NOBODY: u32 = 65534;

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn code_is_not_run_through_a_link() {
            let (place, engine) = (Place::new(), engine());
            place.compile(&engine, &component(0));
            let file = place.files().remove(0);
            let elsewhere = place.folder.path().join("elsewhere");
            fs::rename(&file, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
            assert!(place.load(&engine, &file).is_err());
        }

        #[test]
        fn code_that_others_can_write_is_not_run_and_is_replaced() {
            let (place, engine) = (Place::new(), engine());
            place.compile(&engine, &component(0));
            let file = place.files().remove(0);
            set_mode(&file, 0o666);
            assert!(place.load(&engine, &file).is_err());
            assert_eq!(place.compile(&engine, &component(0)).1, 1);
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }

        #[test]
        fn a_folder_that_others_can_write_is_neither_read_nor_written() {
            let (place, engine) = (Place::new(), engine());
            place.compile(&engine, &component(0));
            let top = place.folder.path();
            for exposed in [&place.code, top] {
                set_mode(exposed, 0o777);
                let (_, compiled, refused) = place.compile(&engine, &component(0));
                let message = format!("`{}` can be written by other users", exposed.canonicalize().unwrap().display());
                assert_eq!((compiled, refused), (1, Some(message)));
                place.compile(&engine, &component(1));
                assert_eq!(place.files().len(), 1);
                set_mode(exposed, 0o700);
            }
            assert_eq!(place.compile(&engine, &component(0)).1, 0);
        }

        #[test]
        fn a_key_that_others_can_read_is_not_used() {
            let (place, engine) = (Place::new(), engine());
            place.compile(&engine, &component(0));
            set_mode(&place.key, 0o644);
            let (_, compiled, refused) = place.compile(&engine, &component(0));
            assert_eq!(compiled, 1);
            assert!(refused.unwrap().ends_with("can be read by other users"));
        }

        #[test]
        fn code_of_another_user_is_not_run() {
            if !rustix::process::geteuid().is_root() {
                eprintln!("code_of_another_user_is_not_run: not run, as only root can give a file away");
                return;
            }
            let (place, engine) = (Place::new(), engine());
            place.compile(&engine, &component(0));
            let file = place.files().remove(0);
            rustix::fs::chown(&file, Some(rustix::fs::Uid::from_raw(NOBODY)), None).unwrap();
            assert!(place.load(&engine, &file).is_err());
            rustix::fs::chown(&place.code, Some(rustix::fs::Uid::from_raw(NOBODY)), None).unwrap();
            let (_, compiled, refused) = place.compile(&engine, &component(0));
            assert_eq!(compiled, 1);
            assert!(refused.unwrap().ends_with("belongs to another user"));
        }
    }

    #[test]
    fn a_cache_that_cannot_be_had_is_done_without() {
        let place = Place::new();
        let file = place.folder.path().join("file");
        fs::write(&file, b"").unwrap();
        let cache = CodeCache::Folder { code: file, key: Some(place.key.clone()) };
        cache.compile(&engine(), &component(0), None, || (), |_| ()).unwrap();
    }

    /// Prints what the start of a program pays for: `cargo test --release -p saddlebag-host -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn the_time_to_load() {
        let (place, engine) = (Place::new(), engine());
        let opened = Opened::open(&place.code, &place.key).unwrap();
        let functions: String = (0..60_000)
            .map(|n| format!("(func (export \"f{n}\") (param i32) (result i32) local.get 0 i32.const {n} i32.add)"))
            .collect();
        let bytes = wat::parse_str(format!("(component (core module {functions}))")).unwrap();
        let code = Component::new(&engine, bytes).unwrap().serialize().unwrap();
        opened.keep("x.cwasm", &code).unwrap();
        let begin = std::time::Instant::now();
        Opened::open(&place.code, &place.key).unwrap().load(&engine, "x.cwasm").unwrap();
        eprintln!("{} bytes of code were loaded in {:?}", code.len(), begin.elapsed());
    }
}
