//! A host of the simulation: it runs the code of the crate.
//!
//! The code asks and waits for the answer. So that one thread can run many hosts, step by step, an operation is run from its
//! beginning for each answer: with the answers that it had before it comes to the same place, and asks the next question.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use saddlebag_locks::{
    Error, Guard, Identity, Kernel, KernelLocks, Lease, Lock, LockFiles, Number, PATIENCE, Permit, Record,
};

use crate::world::{Answer, Call};

/// Fault of a host, to see that the simulation finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not look for a larger number after it has created a lease.
    NoSecondLook,
    /// It looks at the clock when it takes the lock, and not before a change.
    EarlyCheck,
    /// With a kernel lock, it does not look for leases.
    NoLeases,
    /// It takes a lease for free while it is empty.
    EmptyIsFree,
}

/// The question could not be answered yet.
#[derive(Debug)]
pub(crate) struct Unanswered;

/// The answers that an operation has had, and the question that it asks next.
#[derive(Debug, Default)]
struct Tape {
    answers: Vec<Answer>,
    at: usize,
    question: Option<Call>,
}

/// One operation of a host: it takes the lock and changes what it protects.
#[derive(Debug)]
pub(crate) struct Operation {
    tape: RefCell<Tape>,
    has_kernel_locks: bool,
    fault: Option<Fault>,
    /// Number that no other operation has.
    id: u64,
    /// Number of the lease that it created just now.
    created: Cell<Option<u64>>,
}

impl Operation {
    pub(crate) fn new(has_kernel_locks: bool, fault: Option<Fault>, id: u64) -> Self {
        Self { tape: RefCell::default(), has_kernel_locks, fault, id, created: Cell::default() }
    }

    pub(crate) fn answer(&self, answer: Answer) {
        self.tape.borrow_mut().answers.push(answer);
    }

    /// Returns the next question; `None` if the operation has ended.
    pub(crate) fn next(&self) -> Option<Call> {
        *self.tape.borrow_mut() = Tape { at: 0, question: None, answers: self.tape.take().answers };
        let me = Identity::new("1", "simulation", self.id);
        let _ =
            if self.has_kernel_locks { self.change::<Kernel<OpenFile<'_>>>(&me) } else { self.change::<Lease>(&me) };
        self.tape.borrow_mut().question.take()
    }

    fn change<'o, L: Lock<Files<'o>>>(&'o self, me: &Identity) -> Result<(), Unanswered> {
        let files = Files(self);
        for attempt in 0.. {
            let guard = match Guard::<_, L>::acquire(&files, me, [Number::of("a.md")], PATIENCE) {
                Ok(guard) => guard,
                Err(Error::Files(unanswered)) => return Err(unanswered),
                Err(_) => return Ok(()),
            };
            let mut early = Vec::new();
            if self.fault == Some(Fault::EarlyCheck) {
                early.extend([guard.check(), guard.check()].into_iter().flatten());
            }
            let temporary = format!(".saddlebag-{}-{attempt}.tmp", self.id);
            let mut known = self.value(Call::Load)?;
            guard.note(&Record::Staged { temporary: &temporary, path: "a.md" });
            match guard.check() {
                Ok(_) => self.ask(Call::Create(temporary.clone()))?,
                Err(Error::Files(unanswered)) => return Err(unanswered),
                Err(_) => continue,
            };
            let mut outcome = Ok(());
            // An operation makes several changes, such as an exchange and its reversal.
            for _ in 0..1 + self.id % 2 {
                self.ask(Call::Work)?;
                match early.pop().map_or_else(|| guard.check(), Ok) {
                    Ok(permit) => known = self.store(permit, known)?,
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
            self.ask(Call::Remove(temporary))?;
            match outcome {
                Ok(()) => return Ok(()),
                Err(Error::Files(unanswered)) => return Err(unanswered),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn store(&self, _: Permit<'_>, known: u64) -> Result<u64, Unanswered> {
        self.value(Call::Store(known))
    }

    fn ask(&self, call: Call) -> Result<Answer, Unanswered> {
        let mut tape = self.tape.borrow_mut();
        if tape.question.is_some() {
            return Err(Unanswered);
        }
        let Some(answer) = tape.answers.get(tape.at).cloned() else {
            tape.question = Some(call);
            return Err(Unanswered);
        };
        tape.at += 1;
        Ok(answer)
    }

    fn value(&self, call: Call) -> Result<u64, Unanswered> {
        let Answer::Value(value) = self.ask(call)? else { panic!("not a value") };
        Ok(value)
    }
}

#[derive(Debug)]
struct Files<'o>(&'o Operation);

impl Files<'_> {
    fn flag(&self, call: Call) -> Result<bool, Unanswered> {
        let Answer::Flag(flag) = self.0.ask(call)? else { panic!("not a flag") };
        Ok(flag)
    }

    fn content(&self, call: Call) -> Result<Option<Vec<u8>>, Unanswered> {
        let Answer::Content(content) = self.0.ask(call)? else { panic!("not a content") };
        Ok(content)
    }

    fn file(&self, call: Call) -> Result<Option<u64>, Unanswered> {
        let Answer::File(file) = self.0.ask(call)? else { panic!("not a file") };
        Ok(file)
    }
}

impl LockFiles for Files<'_> {
    type Error = Unanswered;

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Unanswered> {
        let mut content = self.content(Call::Read(path.into()))?;
        if self.0.fault == Some(Fault::EmptyIsFree) && content.as_ref().is_some_and(Vec::is_empty) {
            content = Some(b"free".into());
        }
        Ok(content)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<bool, Unanswered> {
        self.flag(Call::Write(path.into(), bytes.into()))
    }

    fn create(&self, path: &str, content: &[u8]) -> Result<bool, Unanswered> {
        let Some(file) = self.file(Call::Create(path.into()))? else { return Ok(false) };
        self.0.ask(Call::Fill(file, content.into()))?;
        self.0.created.set(path.rsplit('/').next().and_then(|name| name.parse().ok()));
        Ok(true)
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, Unanswered> {
        if self.0.fault == Some(Fault::NoLeases) && self.0.has_kernel_locks {
            return Ok(None);
        }
        let Answer::Names(mut names) = self.0.ask(Call::List(folder.into()))? else { panic!("not names") };
        let created = self.0.created.take();
        if self.0.fault == Some(Fault::NoSecondLook)
            && let (Some(names), Some(created)) = (&mut names, created)
        {
            names.retain(|name| name.parse::<u64>().unwrap() <= created);
        }
        Ok(names)
    }

    fn remove(&self, path: &str) -> Result<(), Unanswered> {
        self.0.ask(Call::Remove(path.into())).map(drop)
    }

    fn make_folder(&self, path: &str) -> Result<(), Unanswered> {
        self.0.ask(Call::MakeFolder(path.into())).map(drop)
    }

    fn now(&self) -> Duration {
        match self.0.ask(Call::Now) {
            Ok(Answer::Time(time)) => time,
            // Every wait is over, so the code comes to its end.
            _ => Duration::from_secs(1 << 40),
        }
    }

    fn pause(&self, time: Duration) {
        let _ = self.0.ask(Call::Pause(time));
    }

    fn clean_up(&self, record: &Record<'_>) {
        let Record::Staged { temporary, .. } = record else { panic!("{record:?}") };
        let _ = self.0.ask(Call::Remove((*temporary).into()));
    }
}

#[derive(Debug)]
struct OpenFile<'o> {
    operation: &'o Operation,
    handle: u64,
}

impl Drop for OpenFile<'_> {
    fn drop(&mut self) {
        let _ = self.operation.ask(Call::Close(self.handle));
    }
}

impl<'o> KernelLocks for Files<'o> {
    type File = OpenFile<'o>;

    fn open(&self, path: &str) -> Result<OpenFile<'o>, Unanswered> {
        let handle = self.file(Call::Open(path.into()))?.unwrap();
        Ok(OpenFile { operation: self.0, handle })
    }

    fn try_lock(&self, file: &OpenFile<'o>) -> Result<bool, Unanswered> {
        self.flag(Call::TryLock(file.handle))
    }

    fn is_at(&self, file: &OpenFile<'o>, path: &str) -> Result<bool, Unanswered> {
        self.flag(Call::IsAt(file.handle, path.into()))
    }

    fn read_open(&self, file: &OpenFile<'o>) -> Result<Vec<u8>, Unanswered> {
        Ok(self.content(Call::ReadOpen(file.handle))?.unwrap())
    }

    fn write_open(&self, file: &OpenFile<'o>, offset: u64, bytes: &[u8]) -> Result<(), Unanswered> {
        self.0.ask(Call::WriteOpen(file.handle, offset, bytes.into())).map(drop)
    }
}
