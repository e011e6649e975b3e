//! Export of runs as Parquet.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::ExperimentError;
use crate::journal::Journal;
use crate::run::Run;

/// The columns: the fields of `runs.jsonl`.
const SCHEMA: &str = "message run {
    required int64 place;
    required binary case (STRING);
    required binary arm (STRING);
    required int32 repeat;
    required binary started_at (STRING);
    optional binary model (STRING);
    required int64 seed;
    optional boolean success;
    optional double score;
    required binary missed (STRING);
    required binary end (STRING);
    required int32 calls;
    required int32 refused;
    required int32 repairs;
    required int32 attempts;
    required int32 iterations;
    optional int64 tokens;
    optional double cost;
    required double latency_ms;
    required binary text (STRING);
    required binary messages (JSON);
}";

/// Maximum runs in memory.
const ROWS: usize = 2_000;

impl Journal {
    /// Writes all runs as Parquet, in order of their places.
    ///
    /// # Errors
    ///
    /// If runs cannot be read or the file cannot be written.
    pub fn write_parquet(&self, path: &Path) -> Result<(), ExperimentError> {
        let new = path.with_extension("new");
        let written = self.write_parquet_file(&new, path).and_then(|()| {
            std::fs::rename(&new, path).map_err(|error| ExperimentError::io("write", path, &error))
        });
        if written.is_err() {
            // What a full disk leaves is of no use.
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    /// Writes the runs into a file. Errors name `path`.
    fn write_parquet_file(&self, file: &Path, path: &Path) -> Result<(), ExperimentError> {
        let failed = |error: ParquetError| ExperimentError::io("write", path, &error);
        let file =
            File::create(file).map_err(|error| ExperimentError::io("write", path, &error))?;
        let schema = parse_message_type(SCHEMA).map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(failed)?;
        let mut runs = self.all();
        loop {
            let rows = runs.by_ref().take(ROWS).collect::<Result<Vec<_>, _>>()?;
            if rows.is_empty() {
                break;
            }
            let mut group = writer.next_row_group().map_err(failed)?;
            write_rows(&mut group, &rows).map_err(failed)?;
            group.close().map_err(failed)?;
        }
        writer.close().map(drop).map_err(failed)
    }
}

/// Writes a row group, column by column in the order of the schema.
fn write_rows(
    group: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Run],
) -> Result<(), ParquetError> {
    let text = |of: fn(&Run) -> String| -> Vec<ByteArray> {
        rows.iter().map(|run| of(run).into_bytes().into()).collect()
    };
    // Counts of a run are far below two billion.
    let count = |of: fn(&Run) -> u32| -> Vec<i32> {
        rows.iter().map(|run| i32::try_from(of(run)).unwrap_or(i32::MAX)).collect()
    };
    let long = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let places: Vec<i64> = rows.iter().map(|run| long(run.place as u64)).collect();
    column::<Int64Type>(group, &places, None)?;
    column::<ByteArrayType>(group, &text(|run| run.case.clone()), None)?;
    column::<ByteArrayType>(group, &text(|run| run.arm.clone()), None)?;
    column::<Int32Type>(group, &count(|run| run.repeat), None)?;
    column::<ByteArrayType>(group, &text(|run| run.started_at.clone()), None)?;
    let models = rows.iter().map(|run| run.model.clone().map(|it| it.into_bytes().into()));
    optional::<ByteArrayType>(group, models)?;
    let seeds: Vec<i64> = rows.iter().map(|run| long(run.seed)).collect();
    column::<Int64Type>(group, &seeds, None)?;
    optional::<BoolType>(group, rows.iter().map(|run| run.success))?;
    let scores = rows.iter().map(|run| run.judgement.as_ref().map(|it| it.score));
    optional::<DoubleType>(group, scores)?;
    column::<ByteArrayType>(group, &text(|run| run.missed.join("; ")), None)?;
    column::<ByteArrayType>(group, &text(|run| run.end.clone()), None)?;
    column::<Int32Type>(group, &count(|run| run.calls), None)?;
    column::<Int32Type>(group, &count(|run| run.refused), None)?;
    column::<Int32Type>(group, &count(|run| run.repairs), None)?;
    column::<Int32Type>(group, &count(|run| run.attempts), None)?;
    column::<Int32Type>(group, &count(|run| run.iterations), None)?;
    optional::<Int64Type>(group, rows.iter().map(|run| run.tokens.map(long)))?;
    optional::<DoubleType>(group, rows.iter().map(|run| run.cost))?;
    let latencies: Vec<f64> = rows.iter().map(|run| run.latency_ms).collect();
    column::<DoubleType>(group, &latencies, None)?;
    column::<ByteArrayType>(group, &text(|run| run.text.clone()), None)?;
    let messages =
        text(|run| serde_json::to_string(&run.messages).unwrap_or_else(|_| "[]".to_owned()));
    column::<ByteArrayType>(group, &messages, None)
}

/// Writes a column with optional values.
fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.clone().map(|value| i16::from(value.is_some())).collect();
    let known: Vec<_> = values.flatten().collect();
    column::<T>(group, &known, Some(&levels))
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("the schema has fewer columns".to_owned()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
