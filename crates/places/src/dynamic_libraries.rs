//! The files that a dynamically linked program needs in an image that has nothing else: its
//! interpreter, without which the kernel says that the program itself is missing, and libraries.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, ProgramHeader as _};

/// Returns the files of this host without which a program does not start: its interpreter and its
/// libraries, each by the path at which the interpreter finds it. None for a static program.
///
/// The program must be trusted: its interpreter lists them.
///
/// # Errors
/// The interpreter cannot be run, or a library is missing.
pub(crate) fn libraries(program: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(interpreter) = interpreter(program) else {
        return Ok(Vec::new());
    };
    let output = Command::new(&interpreter)
        .arg("--list")
        .arg(program)
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{interpreter}: {error}")))?;
    let listed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!(
            "{interpreter} --list: {}",
            said.trim()
        )));
    }
    let mut files = vec![PathBuf::from(interpreter)];
    files.extend(parse(&listed)?);
    files.sort();
    files.dedup();
    Ok(files)
}

/// Lines such as `libm.so.6 => /lib/libm.so.6 (0x7f00)`; those of the kernel have no path.
fn parse(listed: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for line in listed.lines() {
        let file = line.rsplit("=> ").next().unwrap_or(line).trim();
        if file.starts_with("not found") {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                line.trim().to_owned(),
            ));
        }
        let path = file.split(" (").next().unwrap_or(file);
        files.extend(path.starts_with('/').then(|| PathBuf::from(path)));
    }
    Ok(files)
}

/// The interpreter that a program wants, such as `/lib64/ld-linux-x86-64.so.2`; `None` for one that
/// is linked statically and for what is not a program of a 64-bit machine.
pub(crate) fn interpreter(program: &Path) -> Option<String> {
    let bytes = fs::read(program).ok()?;
    let header = FileHeader64::<Endianness>::parse(bytes.as_slice()).ok()?;
    let endian = header.endian().ok()?;
    let parts = header.program_headers(endian, bytes.as_slice()).ok()?;
    let path = parts
        .iter()
        .find_map(|part| part.interpreter(endian, bytes.as_slice()).ok().flatten())?;
    Some(String::from_utf8_lossy(path).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{interpreter, libraries, parse};

    #[test]
    fn a_program_of_this_host_needs_files_that_are_there() {
        let program = std::env::current_exe().unwrap();
        let files = libraries(&program).unwrap();
        assert!(files.iter().all(|file| file.is_file()), "{files:?}");
        let names: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        assert!(
            names.iter().any(|name| name.contains("libc.so")),
            "{names:?}"
        );
        assert!(names.contains(&interpreter(&program).unwrap()), "{names:?}");
        assert!(libraries(Path::new(file!())).unwrap().is_empty());
    }

    #[test]
    fn a_missing_library_is_an_error() {
        let listed = "\tlinux-vdso.so.1 (0x7ffc)\n\tlibm.so.6 => /lib/libm.so.6 (0x7f00)\n";
        let files = parse(listed).unwrap();
        assert_eq!(files, [Path::new("/lib/libm.so.6")]);
        let error = parse("\tlibx.so => not found").unwrap_err();
        assert!(error.to_string().contains("libx.so"), "{error}");
    }

    #[test]
    fn programs_of_this_host_have_one_and_texts_have_none() {
        let found = interpreter(Path::new("/bin/sh")).unwrap();
        assert!(Path::new(&found).is_file(), "{found}");
        assert_eq!(interpreter(Path::new(file!())), None);
        assert_eq!(interpreter(Path::new("/bin")), None);
    }
}
