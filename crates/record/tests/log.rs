//! Writing and reading back; the bytes themselves; each error once.

use sojourn_record::{
    new_file, read, BestEffortLog, Column, ColumnType, LogWriter, ReadError, Value, WriteError,
};

const COLUMNS: [Column; 6] = [
    Column { name: "a", kind: ColumnType::F64 },
    Column { name: "b", kind: ColumnType::I64 },
    Column { name: "c", kind: ColumnType::U64 },
    Column { name: "d", kind: ColumnType::U32 },
    Column { name: "e", kind: ColumnType::U16 },
    Column { name: "f", kind: ColumnType::U8 },
];
const ROW: [Value; 6] = [
    Value::F64(1.5),
    Value::I64(-2),
    Value::U64(u64::MAX),
    Value::U32(0x0102_0304),
    Value::U16(0x0506),
    Value::U8(7),
];

fn path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("sojourn-record-{}-{name}", std::process::id()))
}

#[test]
fn reads_back_what_was_written() {
    let path = path("back");
    let mut writer = LogWriter::create(&path, &COLUMNS, &serde_json::json!({"classes": ["x"]})).unwrap();
    writer.row(&ROW).unwrap();
    writer.row(&ROW).unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.rows(), 2);
    let log = read(&path).unwrap();
    assert_eq!(log.rows, vec![ROW.to_vec(), ROW.to_vec()]);
    assert_eq!(log.meta["classes"][0], "x");
    assert_eq!(log.column("b"), Some(vec![-2.0, -2.0]));
    assert_eq!(log.cut_bytes, 0);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn row_bytes_are_packed_little_endian() {
    let path = path("bytes");
    let mut writer = LogWriter::create(&path, &COLUMNS, &serde_json::Value::Null).unwrap();
    writer.row(&ROW).unwrap();
    drop(writer);
    let bytes = std::fs::read(&path).unwrap();
    let body = &bytes[bytes.iter().position(|b| *b == b'\n').unwrap() + 1..];
    // 1.5 is 0x3FF8 << 48 (IEEE 754); -2 is all ones but the lowest bit.
    assert_eq!(body[..8], [0, 0, 0, 0, 0, 0, 0xf8, 0x3f]);
    assert_eq!(body[8..16], [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(body[24..], [4, 3, 2, 1, 6, 5, 7]);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_cut_off_last_row_is_left_out() {
    let path = path("cut");
    let mut writer = LogWriter::create(&path, &COLUMNS, &serde_json::Value::Null).unwrap();
    writer.row(&ROW).unwrap();
    writer.row(&ROW).unwrap();
    drop(writer);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let log = read(&path).unwrap();
    assert_eq!((log.rows.len(), log.cut_bytes), (1, 26));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn errors_name_the_path_and_the_remedy() {
    let missing = std::path::Path::new("/nonexistent/x.rec");
    let error = LogWriter::create(missing, &COLUMNS, &serde_json::Value::Null).unwrap_err();
    assert!(matches!(error, WriteError::Create { .. }));
    assert!(error.to_string().contains("/nonexistent/x.rec") && error.to_string().contains("another path"));
    assert!(matches!(read(missing), Err(ReadError::Open { .. })));

    let path = path("errors");
    let mut writer = LogWriter::create(&path, &COLUMNS, &serde_json::Value::Null).unwrap();
    assert!(matches!(writer.row(&ROW[1..]), Err(WriteError::Shape { .. })));
    assert!(matches!(writer.row(&[Value::U8(0); 6]), Err(WriteError::Shape { .. })));
    std::fs::write(&path, "").unwrap();
    assert!(matches!(read(&path), Err(ReadError::Header { .. })));
    std::fs::write(&path, "{\"format\":\"other\"}\n").unwrap();
    assert!(matches!(read(&path), Err(ReadError::Header { .. })));
    std::fs::write(&path, "{\"format\":\"sojourn-record\",\"version\":2}\n").unwrap();
    assert!(matches!(read(&path), Err(ReadError::Version { .. })));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_full_disk_says_free_space() {
    // /dev/full answers every write with ENOSPC.
    let full = std::path::Path::new("/dev/full");
    if full.exists() {
        let error = LogWriter::create(full, &COLUMNS, &serde_json::Value::Null).unwrap_err();
        assert!(error.to_string().contains("free space or choose another path"), "{error}");
    }
}

#[test]
fn a_log_is_a_new_file() {
    let (log, second) = (path("new"), path("second-name"));
    std::fs::write(&log, "kept").unwrap();
    std::fs::hard_link(&log, &second).unwrap();
    drop(new_file(&log).unwrap());
    assert_eq!(std::fs::read(&second).unwrap(), b"kept");
    assert_eq!(std::fs::read(&log).unwrap(), b"");
    for file in [log, second] {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_link_is_followed_unless_another_user_may_have_planted_it() {
    use std::os::unix::fs::{lchown, symlink, PermissionsExt};
    let (folder, kept) = (path("shared"), path("kept"));
    let link = folder.join("log.rec");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&kept, "kept").unwrap();
    symlink(&kept, &link).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o1777)).unwrap();
    // only root can make one of another user's
    if lchown(&link, Some(1), Some(1)).is_ok() {
        let error = LogWriter::create(&link, &COLUMNS, &serde_json::Value::Null).unwrap_err();
        assert!(error.to_string().contains("it is a link that user 1 made"), "{error}");
        assert_eq!(std::fs::read(&kept).unwrap(), b"kept");
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    drop(new_file(&link).unwrap());
    assert_eq!(std::fs::read(&kept).unwrap(), b"", "its user's own choice");
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_file(kept).unwrap();
}

#[test]
fn a_log_that_is_given_up_keeps_whole_rows_and_counts_the_others() {
    let path = path("lost");
    let mut log = BestEffortLog::create(&path, &COLUMNS, &serde_json::Value::Null).unwrap();
    log.row(&ROW).unwrap();
    log.flush().unwrap();
    log.row(&ROW).unwrap();
    assert!(matches!(log.row(&ROW[1..]), Err(WriteError::Shape { .. })));
    assert_eq!(log.lost_rows(), 2, "one in the buffer, and the one that was refused");
    log.row(&ROW).unwrap();
    log.flush().unwrap();
    assert_eq!(log.lost_rows(), 3);
    let found = read(&path).unwrap();
    assert_eq!((found.rows.len(), found.cut_bytes), (1, 0));
    std::fs::remove_file(path).unwrap();
}
