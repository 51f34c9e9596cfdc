"""The executor: performs the operations of the component on a folder, as docs/writing-a-host.md says.

`Folder.perform` takes an operation, `("read", {...})`, and gives its result: `("ok", outcome)` or `("err", fs_error)`.
It needs `flock` and calls that take an open folder, so it runs on Linux and macOS. Its versions are those of `sha256-hex`.
"""

import contextlib
import errno
import fcntl
import functools
import hashlib
import itertools
import os
import re
import secrets
import stat
import time

LOCKS, RECOVERED, UNSYNCED = ".saddlebag/locks-3", ".saddlebag/recovered", ".saddlebag/locks-3/unsynced"
TEMPORARY = (".saddlebag-*.tmp", "saddle~#", "saddle~#.tmp")
DEAD_AFTER, RENEW_AFTER = 8, 4
MAX_BYTES, PAGE, PATIENCE, ATTEMPTS = 16 * 1024 * 1024, 4096, 10, 32
COUNT, RANDOM = itertools.count(), secrets.token_hex(8)
ERRORS = dict(EACCES="denied", EPERM="denied", ENOSPC="no-space", EDQUOT="no-space", EROFS="read-only",
              EISDIR="is-directory", ENOTDIR="not-directory", ELOOP="symbolic-link", ETIMEDOUT="timed-out")


class Refused(Exception):
    """The operation is not performed; the arguments are the `fs-error`."""


class Stale(Exception):
    """The precondition does not hold; the argument is the version of the file, `None` if there is none."""


class Again(Exception):
    """Another host has taken the lock over: the operation is begun again."""


class Folder:
    VERSION_SCHEME = "sha256-hex"

    def __init__(self, root):
        self.path = os.path.abspath(root)
        self.root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def perform(self, op):
        kind, args = op
        try:
            for key in ("path", "to", "folder", "keep_as", "like"):
                if args.get(key) is not None:
                    check_path(args[key])
            if len(args.get("content", b"")) > MAX_BYTES:
                raise Refused("too-large", MAX_BYTES)
            if not os.path.samestat(os.stat(self.path), os.fstat(self.root)):
                raise Refused("other", "the store's folder was replaced by another one; open it again")
            method = getattr(self, kind.replace("-", "_"))
            for _ in range(ATTEMPTS):
                # A folder may be removed at any time, because that takes no lock.
                with contextlib.suppress(Again, FileNotFoundError):
                    return "ok", (kind, method(**{key.replace("-", "_"): value for key, value in args.items()}))
            raise Refused("other", "the folder of the file kept disappearing; try again")
        except Stale as stale:
            return "ok", (kind, ("stale", *stale.args))
        except Refused as refused:
            return "err", refused.args
        except OSError as error:
            name = ERRORS.get(errno.errorcode.get(error.errno))
            return "err", (name,) if name else ("other", os.strerror(error.errno))

    # The operations.

    def read(self, path, offset, max_bytes):
        if self.is_unsynced(path):  # The bytes may be in the cache alone: nothing may rest on them.
            self.append(path, b"", False, ("any",), settling=True)
        with self.above(path) as (folder, name):
            whole = content_of(folder, name)
        if whole is None:
            return ("absent",)
        version, part = version_of(whole), whole[offset:offset + max_bytes]
        if len(part) > MAX_BYTES:
            raise Refused("too-large", MAX_BYTES)
        return ("content", dict(bytes=part, version=version, size=len(whole)))

    def write(self, path, content, precondition, keep_as, like):
        with self.locked(path, *filter(None, [keep_as])) as guard:
            return "written", self.replace(path, content, precondition, guard, keep_as, like)

    def append(self, path, content, newline_first, precondition, may_tear=False, may_vanish=False, settling=False):
        """`settling`: only writes a file again, to new blocks, whose last change could not be synced."""
        with self.locked(path) as guard:
            return "written", self.add(path, content, newline_first, precondition, may_tear, may_vanish, guard, settling)

    def list_directory(self, folder, after, limit, unless):
        entries, others = [], []
        with self.folder(folder or "") as opened:
            for name in os.listdir(opened) if opened is not None else []:
                spelled = "".join("\ufffd" if is_forbidden(letter) else letter for letter in name)
                path = f"{folder or ''}/{spelled.encode()[:255].decode(errors='ignore')}".lstrip("/")
                # What is the host's own and what is gone by now is left out.
                with contextlib.suppress(Refused, FileNotFoundError):
                    if spelled != name:
                        others.append(dict(path=path, kind=status_of(opened, name)[1]))
                        continue
                    check_path(path)
                    entry = entry_of(opened, name, path)
                    entries += [entry] if after is None or path > after else []
        entries.sort(key=lambda entry: entry["path"])  # Code points sort as the bytes of UTF-8 do.
        page = entries[:max(1, limit)]
        cursor = page[-1]["path"] if len(entries) > len(page) else None
        others = sorted(others, key=lambda other: other["path"]) if after is None else []
        version = version_of_page(page, cursor, others)
        if version is not None and version == unless:
            return ("unchanged",)
        return ("page", dict(entries=page, next=cursor, left_out=dict(names=others[:64], count=len(others)), version=version))

    def remove(self, path, precondition, keep_as, may_return):
        with self.locked(path, *filter(None, [keep_as])) as guard, self.above(path) as (folder, name):
            old = content_of(folder, name)
            if old is not None:
                require(old, precondition)
                guard.check()
                if keep_as is None:
                    os.unlink(name, dir_fd=folder)
                else:
                    self.keep(path, folder, name, name, keep_as)
                self.mark(path, False)
                self.sync(path, *([] if may_return else [folder]))
            return ("done",)

    def rename(self, path, to, precondition):
        with self.locked(path, to) as guard, self.above(path) as (folder, name):
            old = content_of(folder, name)
            if old is None:
                return ("absent",)
            require(old, precondition)
            with self.above(to, make=True) as (new_folder, new_name):
                guard.check()
                if not place_new(folder, name, new_folder, new_name):
                    return ("exists",)
                self.mark(to, self.is_unsynced(path))
                self.mark(path, False)
                self.sync(to, new_folder, folder)
            return ("done",)

    def make_directory(self, path):
        with self.folder(path, make=True):
            return None

    def remove_directory(self, path):
        with self.above(path) as (above, name), self.folder(path) as folder:
            if folder is None:
                return "absent"
            try:
                os.rmdir(name, dir_fd=above)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    return "not-empty"
                raise
            self.sync(path, above)
            return "removed"

    def generation(self, **_):
        raise Refused("unsupported")  # People may edit the files.

    # Changes, by the holder of the lock.

    def replace(self, path, content, precondition, guard, keep_as=None, like=None):
        """Puts a whole new file in the place of the old one, and gives its version."""
        with self.above(path, make=precondition[0] != "matches") as (folder, name):
            old = content_of(folder, name)
            require(old, precondition)
            keep_as = None if old is None else keep_as
            temporary = f".saddlebag-{os.getpid()}-{next(COUNT)}-{secrets.token_hex(8)}.tmp"
            second = second_name(temporary)
            stage, kept = ("staged", "") if keep_as is None else ("keeping", f"\t{keep_as}")
            guard.note(f"{stage}\t{path[:len(path) - len(name)]}{temporary}\t{path}{kept}\n")
            try:
                with opened(folder, temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
                    with self.above(path if old is not None or like is None else like) as model:
                        take_over(file, *model)
                    write_all(file, content)
                    os.fsync(file)
                if keep_as is not None:
                    os.link(name, second, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                guard.check()
                if precondition[0] == "absent":
                    if not place_new(folder, temporary, folder, name):
                        raise Stale(version_of(content_of(folder, name) or b""))
                else:
                    require(content_of(folder, name), precondition)  # Editors take no lock: one more look.
                    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                if keep_as is not None:
                    self.keep(path, folder, second, name, keep_as)
            finally:
                for left in (second, temporary):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(left, dir_fd=folder)
            self.sync(path, folder)
            self.mark(path, False)
            return version_of(content)

    def keep(self, path, folder, name, place, keep_as):
        """Moves the old file, which has the name `name`, to the path where it is kept. If that fails, it gets its place back."""
        try:
            with opened(folder, name, os.O_RDONLY) as file, self.above(keep_as, make=True) as (kept, kept_name):
                os.fsync(file)  # An editor may not have synced it.
                content_of(kept, kept_name)
                move(folder, name, kept, kept_name)
                self.mark(keep_as, self.is_unsynced(path))
                self.sync(keep_as, kept)
        except (OSError, Refused) as error:
            if error.args[:1] != ("not-durable",) and name != place:
                os.rename(name, place, src_dir_fd=folder, dst_dir_fd=folder)
            raise

    def add(self, path, content, newline_first, precondition, may_tear, may_vanish, guard, settling):
        """Adds to a file by one write, and gives its version."""
        added = False
        for _ in range(ATTEMPTS):
            with self.above(path, make=precondition[0] != "matches") as (folder, name):
                old = content_of(folder, name)
                if settling and old is None:
                    return self.mark(path, False)
                if not added:
                    require(old, precondition)
                again = added and old is not None and old.endswith(content)  # An editor may have read it in.
                newline = b"\n" if newline_first and old and not old.endswith(b"\n") else b""
                addition = b"" if again else newline + content
                # A process that is killed may write a part of the pages.
                is_long = len(addition) > PAGE and not may_tear
                with contextlib.suppress(FileExistsError, Stale, *([] if old is None else [FileNotFoundError])):
                    if old is None and is_long:
                        return self.replace(path, addition, ("absent",), guard)
                    flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_EXCL if old is None else 0)
                    with opened(folder, name, flags) as file:
                        before = os.fstat(file)
                        # Another name may be outside of the store: it keeps its text.
                        if before.st_nlink > 1 or is_long or self.is_unsynced(path):
                            return self.replace(path, old + addition, ("matches", version_of(old)), guard)
                        guard.check()
                        if os.write(file, addition) < len(addition):
                            os.ftruncate(file, before.st_size)
                            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                        added = True
                        if os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), before):
                            if old is None or not may_vanish:
                                self.sync(path, file, *([folder] if old is None else []))
                            return version_of(read_all(file))
        raise Refused("other", "the file kept being replaced while it was appended to; try again")

    def sync(self, path, *files):
        """Makes a change survive a power cut. Where that fails it is there all the same, and is marked."""
        try:
            for file in files:
                os.fsync(file)
        except OSError as error:
            self.mark(path, True)
            raise Refused("not-durable", error.strerror) from error

    # Files that could not be synced.

    def is_unsynced(self, path):
        return os.path.lexists(os.path.join(self.path, UNSYNCED, marker(path)))

    def mark(self, path, unsynced):
        """The marker tells other hosts; a disk that fails may not take it either."""
        if unsynced != self.is_unsynced(path):
            with contextlib.suppress(OSError), self.folder(UNSYNCED, make=True) as folder:
                if not unsynced:
                    return os.unlink(marker(path), dir_fd=folder)
                with opened(folder, marker(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
                    write_all(file, path.encode())

    # Locks.

    @contextlib.contextmanager
    def locked(self, *paths):
        """Holds the locks of the paths, in one order for everybody, or two renames would wait for each other."""
        with contextlib.ExitStack() as held:
            # Two paths may have one number.
            yield Guard(held.enter_context(self.lock(number)) for number in sorted(set(map(number_of, paths))))

    @contextlib.contextmanager
    def lock(self, number, patience=PATIENCE):
        current, wait = os.path.join(self.path, LOCKS, f"{number:02}"), Wait(patience)
        while True:
            with self.folder(LOCKS, make=True) as folder, opened(folder, f"{number:02}", os.O_RDWR | os.O_CREAT) as file:
                while not try_lock(file):
                    wait.give_up(wait.unchanged(time.monotonic(), (read_all(file), self.lease(number))))
                # Somebody may have deleted the file while it was waited for.
                if os.path.exists(current) and os.path.samestat(os.lstat(current), os.fstat(file)):
                    lock = Lock(self, number, file)
                    try:
                        lock.wait_for_leases(wait)
                        yield lock
                    finally:
                        lock.release()
                    return

    def lease(self, number):
        """The newest lease: its number and its content; `None` if no host has leases of this lock."""
        with self.folder(f"{LOCKS}/leases/{number:02}") as folder:
            while folder is not None and (counts := counts_in(folder)):
                with contextlib.suppress(FileNotFoundError), opened(folder, str(counts[-1]), os.O_RDONLY) as file:
                    return counts[-1], read_all(file)
            return None if folder is None else (0, b"free")

    def take_lease_over(self, number, dead):
        """Makes the lease after one whose holder died, clears up, and gives it free. Another host may be faster."""
        with self.folder(f"{LOCKS}/leases/{number:02}") as folder, contextlib.suppress(FileExistsError):
            with opened(folder, str(dead + 1), os.O_WRONLY | os.O_CREAT | os.O_EXCL) as mine:
                os.pwrite(mine, line(), 0)
                counts = counts_in(folder)
                if counts[-1] != dead + 1:
                    return os.unlink(str(dead + 1), dir_fd=folder)
                for count in counts[:-1]:
                    with opened(folder, str(count), os.O_RDONLY) as file:
                        self.clear(read_all(file))
                    os.unlink(str(count), dir_fd=folder)
                os.pwrite(mine, b"free", 0)

    def clear(self, content):
        """Clears up after a holder that died: removes its own temporary file, keeps what may be somebody's text."""
        lines = [] if content.startswith(b"free") else content.decode(errors="replace").split("\n")
        fields = lines[1].split("\t") if len(lines) > 2 else []
        stage, temporary, path, new, old, kept = (fields + [""] * 6)[:6]
        if is_spelling(temporary.rpartition("/")[2], TEMPORARY[0]):
            with contextlib.suppress(Refused, OSError), self.above(temporary) as (folder, name):
                second = second_name(name)
                if stage == "staged":
                    os.unlink(name, dir_fd=folder)
                elif stage == "keeping" and os.path.lexists(os.path.join(self.path, temporary)):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(second, dir_fd=folder)
                    os.unlink(name, dir_fd=folder)
                elif stage == "keeping" or (kept and not is_new(folder, name, new)):
                    kept = kept or new  # The field where "keeping" has the path at which the old file is kept.
                    check_path(kept)
                    with self.above(kept, make=True) as (above, kept_name):
                        move(folder, second if stage == "keeping" else name, above, kept_name)
                elif stage == "placing" and kept:
                    os.unlink(name, dir_fd=folder)
                elif stage == "placing":
                    with self.folder(RECOVERED, make=True) as kept:
                        names = (f"{path.replace('/', '-')[:60]}.{number}" for number in itertools.count(1))
                        next(kept_as for kept_as in names if place_new(folder, name, kept, kept_as))

    # Folders, one segment at a time and through no link.

    @contextlib.contextmanager
    def folder(self, path, make=False):
        """The open folder; `None` where there is none."""
        with contextlib.ExitStack() as stack:
            current = self.root
            for name in path.split("/") if path else []:
                current = open_folder(current, name, make)
                if current is None:
                    break
                stack.callback(os.close, current)
            yield current

    @contextlib.contextmanager
    def above(self, path, make=False):
        """The folder that a path is in, and its last segment."""
        above, _, name = path.rpartition("/")
        with self.folder(above, make) as folder:
            yield folder, name


class Guard(list):
    """The locks of an operation."""

    def note(self, record):
        """Notes which temporary file is in use, for the next holder if this process dies."""
        for lock in self:
            lock.sign(record)
        self.check()

    def check(self):
        """Comes directly before each step that changes a file."""
        for lock in self * 2:
            lock.check()


class Lock:
    """One lock file whose kernel lock is held."""

    def __init__(self, folder, number, file):
        self.folder, self.number, self.file = folder, number, file
        # Another name of the file may be outside of the store.
        self.is_ours = os.fstat(file).st_nlink == 1
        if self.is_ours:
            folder.clear(read_all(file))

    def wait_for_leases(self, wait):
        self.sign("\n")
        while (lease := self.folder.lease(self.number)) and not lease[1].startswith(b"free"):
            self.release()
            at, lease = time.monotonic(), self.folder.lease(self.number)
            if not lease[1].startswith(b"free"):
                unchanged = wait.unchanged(at, lease)
                if unchanged >= DEAD_AFTER:
                    self.folder.take_lease_over(self.number, lease[0])
                else:
                    wait.give_up(unchanged)
            self.sign("\n")
        if lease and not self.is_ours:
            raise Refused("other", "a lock file has a second name")
        self.count = lease and lease[0]

    def sign(self, record):
        self.time, self.record = time.monotonic(), record
        if self.is_ours:
            os.pwrite(self.file, line() + record.encode(), 0)

    def check(self):
        if time.monotonic() - self.time > RENEW_AFTER:
            self.sign(self.record)
            lease = self.folder.lease(self.number)
            if (lease[0] if lease else 0) != (self.count or 0):
                raise Again()

    def release(self):
        if self.is_ours:
            os.pwrite(self.file, b"free", 0)


class Wait:
    """A wait for a lock, which goes on as long as the lock passes from one holder to the next."""

    def __init__(self, patience):
        self.patience, self.seen, self.began = patience, None, time.monotonic()

    def unchanged(self, at, seen):
        """For how long the lock is the same. `at` is a time before this look; the first one counts from its end."""
        if seen != self.seen:
            self.seen, self.since = seen, time.monotonic()
        return max(0, at - self.since)

    def give_up(self, unchanged):
        if unchanged >= self.patience or time.monotonic() - self.began >= 12 * self.patience:
            raise Refused("locked", f"another program has held the lock of this file for {unchanged:.0f} s: {self.seen}")
        time.sleep(0.0005)


def line():
    return f"held\t{os.getpid()}\tpython_host\t{RANDOM}-{next(COUNT)}\n".encode()


def counts_in(folder):
    return sorted(int(name) for name in os.listdir(folder) if re.fullmatch("[1-9][0-9]{0,14}", name))


def open_folder(above, name, make):
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except FileNotFoundError:
        if not make:
            return None
    except OSError:
        # Systems differ in the error for a link here.
        link = stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
        raise Refused("symbolic-link" if link else "not-directory") from None
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=above)
        os.fsync(above)
    return open_folder(above, name, False)


@contextlib.contextmanager
def opened(folder, name, flags):
    file = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        yield file
    finally:
        os.close(file)


def content_of(folder, name):
    """The bytes of a regular file at one moment; `None` where there is none."""
    for _ in range(ATTEMPTS if folder is not None else 0):
        try:
            found, kind = status_of(folder, name)
        except FileNotFoundError:
            return None
        if kind != "file":
            other = "symbolic-link" if stat.S_ISLNK(found.st_mode) else "not-regular"
            raise Refused("is-directory" if kind == "directory" else other)
        with contextlib.suppress(FileNotFoundError), opened(folder, name, os.O_RDONLY) as file:
            before, whole, after = os.fstat(file), read_all(file), os.fstat(file)
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) == (after.st_mtime_ns, len(whole)):
                return whole
    if folder is not None:
        raise Refused("other", "the file kept changing while it was read; try again")
    return None


def is_forbidden(letter):
    """No path may have it: a byte that is not UTF-8, a backslash, a control character."""
    return "\ud800" <= letter <= "\udfff" or letter == "\\" or letter < " " or "\x7f" <= letter < "\xa0"


def status_of(folder, name):
    """What `stat` says of a file, and its kind."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return found, "file" if stat.S_ISREG(found.st_mode) else "directory" if stat.S_ISDIR(found.st_mode) else "other"


def entry_of(folder, name, path):
    found, kind = status_of(folder, name)
    if kind != "file":
        return dict(path=path, kind=kind, size=0, version="", modified=0)
    size, version = found.st_size, f"unreadable {secrets.token_hex(8)}"  # A file that cannot be read hides no other one, and matches nothing.
    with contextlib.suppress(Refused, PermissionError):
        whole = content_of(folder, name)
        if whole is None:
            raise FileNotFoundError
        size, version = len(whole), version_of(whole)
    return dict(path=path, kind=kind, size=size, version=version, modified=max(0, found.st_mtime_ns))


def require(old, precondition):
    """Raises unless the precondition holds for these bytes, or for a file that does not exist."""
    version = None if old is None else version_of(old)
    if precondition != ("any",) and precondition != (("absent",) if old is None else ("matches", version)):
        raise Stale(version)


def version_of(content):
    return hashlib.sha256(content).hexdigest()


def version_of_page(entries, cursor, others):
    """`None` if a file of the page is in doubt."""
    if any(entry["version"].startswith("unreadable") for entry in entries):
        return None
    fields = [entry[key] for entry in entries for key in ("path", "kind", "size", "version", "modified")]
    fields += [other[key] for other in others[:64] for key in ("path", "kind")] + [len(others), cursor or ""]
    return version_of("".join(f"{field}\0" for field in fields).encode())


def place_new(folder, name, new_folder, new_name):
    """Moves a file to a free name. A second name cannot replace anything; then the first goes."""
    try:
        os.link(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except FileExistsError:
        return False
    os.unlink(name, dir_fd=folder)
    return True


def move(folder, name, new_folder, new_name):
    """Moves a file over what is there. Two names of one file would both stay."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(status_of(folder, name)[0], status_of(new_folder, new_name)[0]):
            return os.unlink(name, dir_fd=folder)
    os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)


def take_over(file, folder, name):
    """Gives a new file the mode of the one that it replaces, and its owner where that is allowed."""
    with contextlib.suppress(FileNotFoundError):
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
        with contextlib.suppress(PermissionError):
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode) & 0o777)


def read_all(file):
    return os.pread(file, os.fstat(file).st_size, 0)


def write_all(file, content):
    while content:
        content = content[os.write(file, content):]


def try_lock(file):
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True


def number_of(path):
    fnv_1a = lambda digest, byte: (digest ^ byte) * 0x100000001B3 % (1 << 64)
    number = functools.reduce(fnv_1a, path.encode("ascii", "ignore").lower(), 0xCBF29CE484222325) % 64
    return number + 64 * (b".saddlebag" in path.encode().lower().split(b"/"))


def marker(path):
    return hashlib.sha256(path.encode()).hexdigest()[:32]


def is_spelling(name, own):
    """Whether a file system may take a name for an own one, in which `*` are any characters and `#` digits. A character that is
    not ASCII may stand for one of them or for none, but one ASCII letter must be equal."""
    states = {(own, False)}
    for letter in name.split(":")[0].rstrip(". ").encode().lower().decode():
        wide, reached = letter > "\x7f", set()
        for rest, equal in states | {(rest[1:], equal) for rest, equal in states if rest[:1] == "*"}:
            digit = rest[:1] == "#" and letter.isdigit()
            if wide or digit or rest[:1] == "*":
                reached.add((rest, equal))
            if rest and (wide or digit or rest[0] == letter):
                reached.add((rest[1:], equal or not wide and letter.isalpha()))
        states = reached
    return any(equal and not rest.strip("*") for rest, equal in states)


def second_name(temporary):
    """The name that an old file has beside the new one until it is kept."""
    return temporary.removesuffix(".tmp") + "-old.tmp"


def is_new(folder, name, new):
    """Whether the temporary file is still the new one, whose stat `LocalDir` noted: then the two were not exchanged."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return "s" + ".".join(f"{part:x}" for part in (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)) == new


def is_own(names):
    in_state = len(names) > 1 and is_spelling(names[0], ".saddlebag")
    is_locks = in_state and any(is_spelling(names[1], own) for own in ("locks", "locks-#"))
    return is_locks or any(is_spelling(name, own) for name in names for own in TEMPORARY)


def check_path(path):
    names = path.split("/")
    if is_own(names):
        raise Refused("invalid-path", "this name is kept for the host")
    bad = any(map(is_forbidden, path)) or {"", ".", ".."} & set(names)
    if bad or len(path.encode()) > 4096 or any(len(name.encode()) > 255 for name in names):
        raise Refused("invalid-path", "a segment is empty, `.` or `..`, is too long, or has a forbidden character")
