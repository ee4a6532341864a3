//! An open kernel file that is read again and again; lines and fields whose errors name their place.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::SplitAsciiWhitespace;

use crate::{Counter, ReadError};

/// One kernel file: how its text becomes typed counters.
pub trait KernelFile: Default {
    /// Where it is below its root; the first that exists is taken.
    const PATHS: &'static [&'static str];
    /// Replaces the values by those of `text`.
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError>;
}

/// Keeps the file of an interface open and its last values.
#[derive(Debug)]
pub struct KernelFileReader<I> {
    source: OpenKernelFile,
    now: I,
}

impl<I: KernelFile> KernelFileReader<I> {
    /// Opens the file below `root`; `None` if this machine does not have it.
    pub fn open(root: &Path) -> Result<Option<Self>, ReadError> {
        for path in I::PATHS {
            if let Some(source) = OpenKernelFile::open(root.join(path))? {
                return Ok(Some(Self { source, now: I::default() }));
            }
        }
        Ok(None)
    }

    /// Reads the file again.
    pub fn read(&mut self) -> Result<&I, ReadError> {
        self.now.parse(self.source.read()?)?;
        Ok(&self.now)
    }

    /// What was read last.
    pub fn now(&self) -> &I {
        &self.now
    }
}

/// A file that stays open and is read from its start.
#[derive(Debug)]
pub(crate) struct OpenKernelFile {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

impl OpenKernelFile {
    pub(crate) fn open(path: PathBuf) -> Result<Option<OpenKernelFile>, ReadError> {
        match File::open(&path) {
            Ok(file) => Ok(Some(OpenKernelFile { path, file, buffer: vec![0; 4096] })),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(source) => Err(ReadError::Open { path, source }),
        }
    }

    /// Reads the whole file; bytes that are not UTF-8 end the text.
    pub(crate) fn read(&mut self) -> Result<FileText<'_>, ReadError> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(2 * length, 0);
            }
            match self.file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(ReadError::Read { path: self.path.clone(), source }),
            }
        }
        let bytes = &self.buffer[..length];
        let text = std::str::from_utf8(bytes)
            .unwrap_or_else(|e| std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""));
        Ok(FileText { path: &self.path, text })
    }
}

/// A file's text and where it is from.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> FileText<'a> {
    /// The lines, as fields.
    pub fn lines(self) -> impl Iterator<Item = Fields<'a>> {
        let path = self.path;
        self.text.lines().enumerate().map(move |(index, line)| Fields::new(path, index + 1, line))
    }

    /// The first line; empty if there is none.
    pub fn first(self) -> Fields<'a> {
        Fields::new(self.path, 1, self.text.lines().next().unwrap_or(""))
    }

    /// What the outermost brackets hold, and the fields after them.
    pub fn bracketed(self, item: &'static str) -> Result<(&'a str, Fields<'a>), ReadError> {
        let pair = self.text.find('(').zip(self.text.rfind(')')).filter(|(open, close)| open < close);
        let (open, close) = pair.ok_or_else(|| self.first().missing(item))?;
        let after = Fields::new(self.path, 1, &self.text[close + 1..]);
        Ok((&self.text[open + 1..close], after))
    }
}

/// The fields of a line, separated by white space.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    path: &'a Path,
    line: usize,
    rest: SplitAsciiWhitespace<'a>,
}

impl<'a> Fields<'a> {
    pub fn new(path: &'a Path, line: usize, text: &'a str) -> Self {
        Self { path, line, rest: text.split_ascii_whitespace() }
    }

    /// The next field, if there is one.
    pub fn next_text(&mut self) -> Option<&'a str> {
        self.rest.next()
    }

    /// The next field, called `item` in an error.
    pub fn text(&mut self, item: &'static str) -> Result<&'a str, ReadError> {
        self.rest.next().ok_or_else(|| self.missing(item))
    }

    /// The next field as a number.
    pub fn number(&mut self, item: &'static str) -> Result<u64, ReadError> {
        let text = self.text(item)?;
        text.parse().map_err(|_| self.not_a_number(item, text))
    }

    /// The next field as a counter.
    pub fn counter(&mut self, item: &'static str) -> Result<Counter, ReadError> {
        self.number(item).map(Counter)
    }

    /// Passes over `count` fields.
    pub fn skip(&mut self, count: usize, item: &'static str) -> Result<(), ReadError> {
        for _ in 0..count {
            self.text(item)?;
        }
        Ok(())
    }

    pub fn missing(&self, item: &'static str) -> ReadError {
        ReadError::Missing { path: self.path.to_path_buf(), line: self.line, item }
    }

    pub fn not_a_number(&self, item: &'static str, text: &str) -> ReadError {
        ReadError::Number { path: self.path.to_path_buf(), line: self.line, item, text: text.to_string() }
    }
}
