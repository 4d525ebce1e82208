//! The interpreter of a dynamically linked program: without it in the image the kernel says that
//! the program itself is missing.

use std::fs;
use std::path::Path;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, ProgramHeader as _};

/// The interpreter that a program wants, such as `/lib64/ld-linux-x86-64.so.2`; `None` for one that
/// is linked statically and for whatever is no program of a 64-bit machine.
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

    use super::interpreter;

    #[test]
    fn programs_of_this_host_have_one_and_texts_have_none() {
        let found = interpreter(Path::new("/bin/sh")).unwrap();
        assert!(Path::new(&found).is_file(), "{found}");
        assert_eq!(interpreter(Path::new(file!())), None);
        assert_eq!(interpreter(Path::new("/bin")), None);
    }
}
